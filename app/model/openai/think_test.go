package openai

import (
	"slices"
	"testing"

	"conclave/app/model"
	"conclave/app/test/testkit"
)

var must = testkit.Must

func TestThinkingIsTakenOutOfContentHoweverItIsCut(t *testing.T) {
	for whole, want := range map[string][2]string{
		"<think>\nWhy not?\n</think>\n\nYes.": {"Why not?\n", "Yes."},
		"  <think>a < b </thin> c</think>d":   {"a < b </thin> c", "d"},
		"<think>never closed":                 {"never closed", ""},
		"<think></think>":                     {"", ""},
		"Use <think> as a tag":                {"", "Use <think> as a tag"},
		"<thi":                                {"", "<thi"},
		" \n ":                                {"", " \n "},
		"":                                    {"", ""},
		"<think>ü👋</think>é":                  {"ü👋", "é"},
	} {
		for _, size := range []int{1, 2, 3, 5, 100} {
			var s splitter
			var thought, text string
			emit := func(kind model.EventKind, said string) error {
				switch {
				case kind == model.Reasoning:
					thought += said
				case kind == model.Text:
					text += said
				case said == string(model.Reasoning):
					thought, text = thought+text, ""
				default:
					thought, text = "", thought+text
				}
				return nil
			}
			for piece := range slices.Chunk([]byte(whole), size) {
				must(t, s.take(string(piece), emit))
			}
			must(t, s.rest(emit))
			if thought != want[0] || text != want[1] {
				t.Errorf("%q by %d: got %q and %q", whole, size, thought, text)
			}
		}
	}
}
