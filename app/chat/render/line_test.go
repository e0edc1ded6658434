package render

import (
	"strings"
	"testing"
)

func TestIntakeMakesAnyBytesValid(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"line ends":        {"a\r\nb\rc\r\r\nd\n\r", "a\nb\nc\n\nd\n\n"},
		"NUL":              {"a\x00b", "a\uFFFDb"},
		"cut rune":         {"a\xe2\x82", "a\uFFFD\uFFFD"},
		"overlong":         {"\xc0\x80", "\uFFFD\uFFFD"},
		"surrogate":        {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
		"runes":            {"é語😀", "é語😀"},
		"return then rune": {"\ré\n", "\né\n"},
		"broken then good": {"\xf0\x9fa\xe2é", "\uFFFD\uFFFDa\uFFFDé"},
	} {
		t.Run(name, func(t *testing.T) {
			for step := 1; step <= len(c.in); step++ {
				var in intake
				var out []byte
				for rest := c.in; rest != ""; {
					n := min(step, len(rest))
					out = in.append(out, rest[:n])
					rest = rest[n:]
				}
				if got := string(in.finish(out)); got != c.want {
					t.Errorf("in steps of %d: got %q, want %q", step, got, c.want)
				}
			}
		})
	}
}

func TestFlattenTakesMarksThatAreTooDeep(t *testing.T) {
	for name, c := range map[string]struct{ in, want string }{
		"shallow": {"> - 1. a\n", "> - 1. a\n"},
		"quotes":  {strings.Repeat(">", 40) + "a\nb\n", strings.Repeat(">", maxDepth) + "a\nb\n"},
		"mixed":   {strings.Repeat("> - ", 40) + "a\n", strings.Repeat("> - ", maxDepth/2-1) + "> - a\n"},
		"far":     {strings.Repeat(" ", 200) + "- a\n", strings.Repeat(" ", maxIndent) + "- a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := string(flatten([]byte(c.in)))
			if strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(c.want, " ", "") {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got, want := string(flatten([]byte(strings.Repeat(" ", 200)+"- a\n"))),
		strings.Repeat(" ", maxIndent)+"- a\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLongLineIsCutAtASpaceOrACharacter(t *testing.T) {
	for name, c := range map[string]struct {
		line string
		want int
	}{
		"space":  {strings.Repeat("a", 900) + " " + strings.Repeat("b", 99), 901},
		"none":   {strings.Repeat("a", 1000), 1000},
		"rune":   {strings.Repeat("a", 998) + "語"[:2], 998},
		"whole":  {strings.Repeat("a", 997) + "語", 1000},
		"lone":   {strings.Repeat("a", 999) + "é"[:1], 999},
		"far":    {" " + strings.Repeat("a", 999), 1000},
		"4 of 4": {strings.Repeat("a", 996) + "😀", 1000},
		"3 of 4": {strings.Repeat("a", 997) + "😀"[:3], 997},
	} {
		t.Run(name, func(t *testing.T) {
			if got := cutAt([]byte(c.line)); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
