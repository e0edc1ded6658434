package terminal

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
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
