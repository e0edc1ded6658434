package clean

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"conclave/app/test/testkit"
)

func TestHiddenCharactersAreRemovedAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		removed  int
	}{
		"plain":             {"a b\tc\nd", "a b\tc\nd", 0},
		"colours":           {"\x1b[31mred\x1b[0m", "red", 2},
		"long colour":       {"\x1b[38;2;1;2;3mx", "x", 1},
		"title":             {"\x1b]0;evil title\x07x", "x", 1},
		"link":              {"\x1b]8;;http://a\x1b\\t\x1b]8;;\x1b\\", "t", 2},
		"unclosed title":    {"\x1b]0;evil\nnext", "\nnext", 1},
		"charset":           {"\x1b(Bx\x1bcx", "xx", 2},
		"escape at the end": {"x\x1b", "x", 1},
		"one-byte forms":    {"\u009b1mx\u009d0;t\u009cy", "xy", 2},
		"cut sequence":      {"\x1b[3é", "é", 1},
		"tags":              {"a\U000E0041\U000E0042b", "ab", 2},
		"override":          {"a\u202egpj.exe\u202c", "agpj.exe", 2},
		"isolates":          {"\u2066a\u2069", "a", 2},
		"zero width":        {"a\u200bb\u2060c\ufeffd", "abcd", 3},
		"joiner in ASCII":   {"a\u200db", "ab", 1},
		"joiner in emoji":   {"👩\u200d💻", "👩\u200d💻", 0},
		"heart on fire":     {"❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥", 0},
		"Persian":           {"می\u200cخواهم", "می\u200cخواهم", 0},
		"two joiners":       {"é\u200d\u200dé", "é\u200dé", 1},
		"keycap":            {"1\ufe0f\u20e3", "1\ufe0f\u20e3", 0},
		"selectors as data": {"😀\ufe0f\ufe0f\U000E0101\U000E0102", "😀\ufe0f", 3},
		"ideograph":         {"葛\U000E0100", "葛\U000E0100", 0},
		"NUL and bell":      {"a\x00b\x07\x7f", "ab", 3},
		"line ends":         {"a\r\nb\rc", "a\nb\nc", 0},
		"invalid UTF-8":     {"a\xff\xfeb", "a\ufffd\ufffdb", 0},
		"line separator":    {"a\u2028b", "ab", 1},
	} {
		t.Run(name, func(t *testing.T) {
			got, removed := Text(c.in)
			if got != c.want || removed != c.removed {
				t.Errorf("got %q and %d, want %q and %d", got, removed, c.want, c.removed)
			}
		})
	}
}

func TestHostileTextTakesLinearTime(t *testing.T) {
	for _, unit := range []string{"\x1b", "\x1b]", "\x1b[", "\u009d", "\u200d", "\r", "\xff", "\x1b ", "\U000E0041"} {
		s := strings.Repeat(unit, 1<<20/len(unit))
		start := testkit.ProcessorTime()
		Text(s)
		if d := testkit.ProcessorTime() - start; d > 3*time.Second { // some 10 ms when linear
			t.Errorf("1 MB of %q took %v", unit, d)
		}
	}
}

func FuzzCleanTextIsCleanForGood(f *testing.F) {
	for _, seed := range []string{
		"a\x1b[1mb", "\x1b\x1b]x\x07", "é\u200d\u202eé", "1\ufe0f\u20e3", "\u009b", "\x1b\r\n", "\xc2\x1b[",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once, _ := Text(s)
		if !utf8.ValidString(once) {
			t.Fatalf("invalid UTF-8 from %q: %q", s, once)
		}
		if strings.ContainsAny(once, "\x1b\x00\r\u202e\u2066\u200b") {
			t.Fatalf("%q keeps hidden characters: %q", s, once)
		}
		if twice, removed := Text(once); twice != once || removed != 0 {
			t.Fatalf("second pass over %q takes %d more: %q", s, removed, twice)
		}
	})
}
