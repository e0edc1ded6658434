package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/app/base/language"
	"conclave/app/gate"
)

func TestATableShowsEachColumnAtTheTerminalsWidthAndAllOfItInAPipe(t *testing.T) {
	const id = "01890a5d-ac96-774b-bcce-b302099a8057"
	model, tools := strings.Repeat("m", 40), strings.Repeat("tool:name, ", 6)+"end"
	for name, c := range map[string]struct {
		width int
		want  []string // what its row holds
	}{
		"a pipe":              {0, []string{id, model, tools}},
		"a wide terminal":     {200, []string{id, model, tools}},
		"80 columns":          {80, []string{id, "  mmmm", "…  tool", "…"}},
		"narrower than an id": {30, []string{id[:29] + "…"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			table := newTable("ID", "MODEL", "TOOLS")
			table.add(id, model, tools)
			if err := table.print(newTerminal(&Session{Out: &out, Width: c.width}, nil), ""); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(out.String(), "\n")
			for _, line := range lines {
				if c.width > 0 && utf8.RuneCountInString(line) > c.width {
					t.Errorf("%d columns: %s", utf8.RuneCountInString(line), line)
				}
			}
			for _, want := range c.want {
				if !strings.Contains(lines[1], want) {
					t.Errorf("no %q in %s", want, lines[1])
				}
			}
		})
	}
}

func TestHelpTablesAndQuestionsAreInTheLanguageOfTheEnvironment(t *testing.T) {
	var out, failed bytes.Buffer
	s := &Session{Out: &out, Err: &failed, Env: func(name string) string {
		return map[string]string{"LANG": "zh_CN.UTF-8"}[name]
	}}
	s.Args = []string{"models", "--help"}
	if status := Run(t.Context(), s, nil); status != ExitDone {
		t.Fatalf("--help ends with %d", status)
	}
	rows := newTable("MODEL", "IN")
	rows.add("中文", "1")
	if err := rows.print(newTerminal(s, nil), ""); err != nil {
		t.Fatal(err)
	}
	question := questionIn(language.Chinese,
		gate.Request{Title: "Notes is new", Reason: "Asked because: nothing isolates it."})
	out.WriteString(question)
	for _, want := range []string{
		"列出、添加和测试模型\n", "用法：\n", "  prices      列出模型的价格\n", "输出 JSON", "模型  输入\n中文  1\n",
		"新插件：Notes", "  原因     询问原因：它没有被隔离。\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is missing in\n%s", want, out.String())
		}
	}
}
