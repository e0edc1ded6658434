package openai

import (
	"slices"
	"testing"
)

func TestThinkingIsTakenOutOfContentHoweverItIsCut(t *testing.T) {
	for whole, want := range map[string][2]string{
		"<think>\nWhy not?\n</think>\n\nYes.": {"Why not?\n", "Yes."},
		"  <think>a < b </thin> c</think>d":   {"a < b </thin> c", "d"},
		"<think>never closed":                 {"never closed", ""},
		"<think></think>":                     {"", ""},
		"Use <think> as a tag":                {"", "Use <think> as a tag"},
		"<thinking>is no tag of ours":         {"", "<thinking>is no tag of ours"},
		"<thi":                                {"", "<thi"},
		" \n ":                                {"", " \n "},
		"":                                    {"", ""},
		"<think>ü👋</think>é":                  {"ü👋", "é"},
	} {
		for _, size := range []int{1, 2, 3, 5, 100} {
			var s splitter
			var thought, text string
			for piece := range slices.Chunk([]byte(whole), size) {
				a, b := s.split(string(piece))
				thought, text = thought+a, text+b
			}
			a, b := s.rest()
			thought, text = thought+a, text+b
			if thought != want[0] || text != want[1] {
				t.Errorf("%q by %d: got %q and %q", whole, size, thought, text)
			}
		}
	}
}
