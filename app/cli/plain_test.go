package cli

import (
	"strings"
	"testing"
)

func TestATerminalGetsTextAndNothingItObeys(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":               "plain\ttext\n",
		"\x1b[31mred\x1b[0m":          "[31mred[0m",
		"\x1b]52;c;c2VjcmV0\x07":      "]52;c;c2VjcmV0",
		"over\rwritten\b\b":           "overwritten",
		"\u009b2Jcleared\u0085":       "2Jcleared",
		"£ ¢ é “quotes” 漢字 🙂 \u00a0.": "£ ¢ é “quotes” 漢字 🙂 \u00a0.",
		"nul\x00 del\x7f":             "nul del",
	} {
		var whole, pieces strings.Builder
		if _, err := Plain(&whole).Write([]byte(in)); err != nil {
			t.Fatal(err)
		}
		if got := whole.String(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
		p := Plain(&pieces)
		for i := range len(in) {
			if n, err := p.Write([]byte{in[i]}); n != 1 || err != nil {
				t.Fatalf("got %d, %v", n, err)
			}
		}
		if got := pieces.String(); got != want {
			t.Errorf("%q byte by byte: got %q, want %q", in, got, want)
		}
	}
}
