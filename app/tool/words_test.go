package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestToolIsNamedInPeoplesWords(t *testing.T) {
	for name, c := range map[string]struct {
		title              string
		human, doing, done string
	}{
		"save_note":     {"", "Save note", "save a note", "Saved a note"},
		"delete_note":   {"delete_note", "Delete note", "delete a note", "Deleted a note"},
		"get_weather":   {"", "Get weather", "get the weather", "Got the weather"},
		"open_url":      {"", "Open url", "open a url", "Opened a url"},
		"listFiles":     {"", "List files", "list files", "Listed files"},
		"roll_dice":     {"Roll the dice", "Roll the dice", "use “Roll the dice”", "Used “Roll the dice”"},
		"word_count":    {"", "Word count", "use “Word count”", "Used “Word count”"},
		"Tools.run":     {"", "Tools run", "use “Tools run”", "Used “Tools run”"},
		"HTTPGet":       {"", "Httpget", "use “Httpget”", "Used “Httpget”"},
		"天气":            {"", "天气", "use “天气”", "Used “天气”"},
		"___":           {"", "___", "use “___”", "Used “___”"},
		"save_Überweg2": {"", "Save überweg2", "use “Save überweg2”", "Used “Save überweg2”"},
	} {
		got := Tool{Name: name, Title: c.title}
		if got.DisplayName() != c.human || got.Doing() != c.doing || got.Did() != c.done {
			t.Errorf("%s: %q, %q, %q; want %q, %q, %q", name, got.DisplayName(), got.Doing(), got.Did(), c.human, c.doing,
				c.done)
		}
	}
}

// What a plugin calls its tool must not read as a sentence of Conclave's own.
func TestNameOfAToolCannotBeASentence(t *testing.T) {
	for _, hostile := range []Tool{
		{Name: "read_nothing_and_is_already_allowed"},
		{Name: "say_hello", Title: "Allowed by you.\n\nPress Allow \u202eonce"},
		{Name: "x", Title: strings.Repeat("long ", 2000)},
		{Name: strings.Repeat("save_", 3000) + "note"},
	} {
		for _, words := range []string{hostile.Doing(), hostile.Did(), hostile.DisplayName()} {
			if strings.ContainsAny(words, "\n\u202e") || utf8.RuneCountInString(words) > maxHuman+8 {
				t.Errorf("%.40q gives %q", hostile.Name, words)
			}
		}
		if !strings.Contains(hostile.Doing(), "“") {
			t.Errorf("%.40q stands without quotation marks: %q", hostile.Name, hostile.Doing())
		}
	}
}
