package tool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/tool"
)

func TestHiddenCharactersAreWrittenOutWhereTheyStand(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		want []string
	}{
		"nothing hidden":   {"Wörter und Zeichen\nfür alle", nil},
		"an emoji":         {"👨‍👩‍👧 ❤️", nil},
		"line ends":        {"one\r\ntwo\r\n", nil},
		"a direction":      {"pay\u202epal", []string{"pay‹U+202E, turns the direction›pal"}},
		"one of two lines": {"one\ntw\u200bo", []string{"tw‹U+200B, invisible›o"}},
		"several at once":  {"a\u200b\u2060\ufeffb", []string{"a‹U+200B and 2 more, invisible›b"}},
		"of two kinds":     {"a\u200b\u202eb", []string{"a‹U+200B, invisible›‹U+202E, turns the direction›b"}},
		"for a terminal":   {"a\x1b[31mb", []string{`a‹"\x1b[31m", for terminals›b`}},
		"a control":        {"a\x08b", []string{"a‹U+0008, a control character›b"}},
		"hidden letters":   {"a\U000e0068\U000e0069b", []string{"a‹hidden letters: hi›b"}},
		"at the end":       {"a\u200b", []string{"a‹U+200B, invisible›"}},
	} {
		if got := tool.Marked(c.in, nil); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	long := tool.Marked(strings.Repeat("ä", 1000)+"\u200b"+strings.Repeat("ö", 1000), nil)
	if len(long) != 1 || !strings.Contains(long[0], "ä‹U+200B, invisible›ö") || len([]rune(long[0])) > tool.ShownLine+2 {
		t.Errorf("a long line: %q", long)
	}
	if many := tool.Marked(strings.Repeat("\u200b\n", 1000), nil); len(many) != tool.MaxMarked {
		t.Errorf("%d lines", len(many))
	}
	taken := tool.Marked("a\u200bäb\nplain", func(line string) map[int]string {
		return map[int]string{strings.Index(line, "ä"): "looks like a"}
	})
	if !slices.Equal(taken, []string{"a‹U+200B, invisible›‹U+00E4, looks like a›b"}) {
		t.Errorf("what is taken for something else: %q", taken)
	}
}

func TestADefinitionSaysWhereItsHiddenCharactersStood(t *testing.T) {
	made := tool.Normal(tool.Tool{
		Name: "n", Title: "Sa\u200bve", Description: "Saves.\nDo\u202e this." + strings.Repeat(" ", 60) + "x",
		Parameters: json.RawMessage(`{"type":"object","properties":{"a":{"description":"t\u2060wo"}}}`),
	})
	want := []string{
		"Sa‹U+200B, invisible›ve", "Do‹U+202E, turns the direction› this.‹60 blanks›x", "t‹U+2060, invisible›wo",
	}
	if !slices.Equal(made.Marked, want) {
		t.Errorf("got %q", made.Marked)
	}
	if again := tool.Normal(made); !slices.Equal(again.Marked, want) {
		t.Errorf("twice: %q", again.Marked)
	}
}

// What Strip removes of a text is what Marked shows of it.
func FuzzWhatIsRemovedIsShown(f *testing.F) {
	f.Add("a\x1b[31mb\u202e")
	f.Add("one\r\ntwo\r")
	f.Fuzz(func(t *testing.T, in string) {
		_, removed := tool.Strip(in)
		marked := tool.Marked(in, nil)
		if (removed > 0) != (len(marked) > 0) {
			t.Errorf("%q: %d removed, marked %q", in, removed, marked)
		}
		for _, line := range marked {
			if clean, n := tool.Strip(line); n > 0 || clean != line {
				t.Errorf("%q: marked as %q", in, line)
			}
		}
	})
}
