package language

import "testing"

func TestWhatAPersonReadsOfRulesAndDecisionsIsInChinese(t *testing.T) {
	for english, want := range map[string]string{
		"Notes may run write_note, when I ask, in one chat.":               "Notes 可以运行 write_note（我请求时、在一个对话中）。",
		"My notes may never run any of its tools.":                         "My notes 始终不能运行其任何工具。",
		"Notes may connect to example.org, until Conclave quits.":          "Notes 可以连接 example.org、直到 Conclave 退出。",
		"Notes may run save, always, until January 2, 2026 15:04.":         "Notes 可以运行 save（始终、到 2026年1月2日 15:04 为止）。",
		"in this chat, only to a.org, even though it contains text from b": "在此对话中、仅限 a.org、尽管含有来自 b 的文字",
		"Allowed 4 times, last on Tuesday.":                                "允许过 4 次，最近：星期二。",
		"You allowed it once":                                              "你允许了一次",
		"delete (by its name)":                                             "删除（根据名称）",
		"save: Its tool “a” speaks of “b”, a tool of C.":                   "save：其工具“a”提到 C 的工具“b”。",
		"Step 2, your refusals: none of your rules refuses it.":            "第 2 步，你的拒绝：没有规则拒绝它。",
		"rule: Notes may run save, always":                                 "规则：Notes 可以运行 save（始终）",
		// What the language lacks leaves the sentence whole.
		"Notes may run save, on full moons.": "Notes may run save, on full moons.",
	} {
		if got := Text(Chinese, english); got != want {
			t.Errorf("%s\n is %s\nwant %s", english, got, want)
		}
	}
}

type shownRow struct {
	Words string   `say:"true"`
	Name  string   // as it is
	Lines []string `say:"true"`
}

func TestAViewIsShownInTheLanguageAndItsSourceStays(t *testing.T) {
	Use(Chinese)
	t.Cleanup(func() { Use(English) })
	lines := []string{"Try again.", "Odd."}
	row := &shownRow{"The disk is full.", "The disk is full.", lines}
	got := Shown(struct{ Rows []*shownRow }{[]*shownRow{row, nil}})
	if r := got.Rows[0]; r.Words != "磁盘已满。" || r.Name != row.Name || r.Lines[0] != "请重试。" || r.Lines[1] != "Odd." {
		t.Errorf("it is shown as %+v", r)
	}
	if row.Words != row.Name || lines[0] != "Try again." {
		t.Errorf("what it was made of is now %+v", row)
	}
}
