package terminal

import (
	"encoding/json"
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

func TestJSONHoldsItsDataAndNothingThatATerminalObeys(t *testing.T) {
	for _, text := range []string{
		"\x1b[31mred\u009b0m\x7f\u0080\u009f", "£ \u00a0 é 漢字 <b>", "\u0085", "",
		"end\u0090",
	} {
		var out strings.Builder
		must(t, writeJSON(&out, map[string]string{"text": text}))
		if strings.ContainsAny(out.String(), "\x1b\x7f\u0080\u0085\u0090\u009b\u009f") {
			t.Errorf("%q is written as %q", text, out.String())
		}
		var back map[string]string
		if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back["text"] != text {
			t.Errorf("%q comes back as %q, %v", text, back["text"], err)
		}
	}
	var out strings.Builder
	_ = writeJSON(&out, "£ é <b>")
	if out.String() != "\"£ é <b>\"\n" {
		t.Errorf("ordinary text is written as %q", out.String())
	}
}
