package hidden_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/hidden"
	"conclave/app/test/testkit"
)

func TestHiddenCharactersAreRemovedAndCounted(t *testing.T) {
	for name, c := range map[string]struct {
		in, want string
		changed  int
	}{
		"plain":                      {"a b\tc\nd", "a b\tc\nd", 0},
		"colours":                    {"\x1b[31mred\x1b[0m", "red", 9},
		"long colour":                {"\x1b[38;2;1;2;3mx", "x", 13},
		"title":                      {"\x1b]0;evil title\x07x", "x", 15},
		"link":                       {"\x1b]8;;http://a\x1b\\t\x1b]8;;\x1b\\", "t", 22},
		"unclosed title":             {"\x1b]0;evil\nnext", "\nnext", 8},
		"charset":                    {"\x1b(Bx\x1bcx", "xx", 5},
		"charset before a line end":  {"\x1b(\nx", "\nx", 2},
		"escape at the end":          {"x\x1b", "x", 1},
		"one-byte sequence":          {"\u009b1mx", "x", 3},
		"one-byte strings":           {"a\u0090q payload\u009cb\u009d0;t\x07c\u009fx\x1b\\d", "abcd", 20},
		"one-byte string, open":      {"â€\u009d he said\nand left", "â€ he said\nand left", 1},
		"one-byte string, broken":    {"a\u009db\x01c\u009cd", "abcd", 3},
		"cut sequence":               {"\x1b[3é", "é", 3},
		"tags":                       {"a\U000E0041\U000E0042b", "ab", 2},
		"override":                   {"a\u202egpj.exe\u202c", "agpj.exe", 2},
		"isolates":                   {"\u2066a\u2069", "a", 2},
		"zero width":                 {"a\u200bb\u2060c\ufeffd\u00ade", "abcde", 4},
		"fillers":                    {"a\u3164b\u115f", "ab", 2},
		"joiner in ASCII":            {"pass\u200dword", "password", 1},
		"joiner in Latin":            {"é\u200dé", "éé", 1},
		"joiner in emoji":            {"👩\u200d💻 👨\u200d👩\u200d👧", "👩\u200d💻 👨\u200d👩\u200d👧", 0},
		"heart on fire":              {"❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥", 0},
		"Persian":                    {"می\u200cخواهم", "می\u200cخواهم", 0},
		"Hindi":                      {"क्\u200dष", "क्\u200dष", 0},
		"Khmer":                      {"ប៊\u200cី", "ប៊\u200cី", 0},
		"joiner at the end":          {"क\u200d", "क", 1},
		"two joiners":                {"क\u200d\u200dष", "क\u200dष", 1},
		"joiner before a mark":       {"ا\u200d\u061cا", "اا", 2},
		"keycap":                     {"1\ufe0f\u20e3", "1\ufe0f\u20e3", 0},
		"selector behind a digit":    {"1\ufe0f2", "12", 1},
		"selector behind a letter":   {"a\ufe0f\U000e0110b", "ab", 2},
		"selectors as data":          {"😀\ufe0f\ufe0f\U000E0101\U000E0102", "😀\ufe0f", 3},
		"selectors behind ideograph": {"葛\U000E0100\U000E0141", "葛", 2},
		"NUL and bell":               {"a\x00b\x07\x7f", "ab", 3},
		"line ends of two":           {"a\r\nb\r\n", "a\nb\n", 0},
		"line ends that hide":        {"rm x\rfile\vc\fd\u0085e\u2028f\u2029g", "rm x\nfile\nc\nd\ne\nf\ng", 6},
		"return before a line end":   {"a\r\r\nb", "a\n\nb", 1},
		"invalid UTF-8":              {"a\xff\xfeb", "a\ufffd\ufffdb", 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed := hidden.Strip(c.in)
			if got != c.want || changed != c.changed {
				t.Errorf("got %q and %d, want %q and %d", got, changed, c.want, c.changed)
			}
		})
	}
}

func TestVisibleTextOfEveryScriptSurvives(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		var letters strings.Builder
		each(unicode.Scripts[name], func(r rune) {
			if unicode.IsGraphic(r) && !hidden.Is(r) {
				letters.WriteRune(r)
			}
		})
		if got, changed := hidden.Strip(letters.String()); got != letters.String() || changed != 0 {
			t.Errorf("%s: %d characters of %q are gone", name, changed, letters.String())
		}
	}
}

// each calls visit with every character of a table.
func each(table *unicode.RangeTable, visit func(rune)) {
	for _, of := range table.R16 {
		for r := rune(of.Lo); r <= rune(of.Hi); r += rune(of.Stride) {
			visit(r)
		}
	}
	for _, of := range table.R32 {
		for r := rune(of.Lo); r <= rune(of.Hi); r += rune(of.Stride) {
			visit(r)
		}
	}
}

func TestHostileTextTakesLinearTime(t *testing.T) {
	for _, unit := range []string{
		"\x1b", "\x1b]", "\x1b[", "\u009d", "\u009dab", "\u009b", "\u200d", "\r", "\xff", "\x1b ", "\U000E0041",
	} {
		s := strings.Repeat(unit, 1<<20/len(unit))
		start := testkit.ProcessorTime()
		hidden.Strip(s)
		if d := testkit.ProcessorTime() - start; d > 3*time.Second { // some 10 ms when linear
			t.Errorf("1 MB of %q took %v", unit, d)
		}
	}
}

func FuzzStrippedTextIsStableAndKeepsWhatIsSeen(f *testing.F) {
	for _, seed := range []string{
		"a\x1b[1mb", "\x1b\x1b]x\x07", "क\u200d\u202eष", "1\ufe0f\u200b\u20e3", "\u009b", "\x1b\r\n", "\xc2\x1b[",
		"\u009dx\u009c", "👨‍👩‍👧\ufe0f\ufe0f", "rm x\rfile", "می\u200c\u061cخ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, in string) {
		once, _ := hidden.Strip(in)
		if !utf8.ValidString(once) {
			t.Fatalf("invalid UTF-8 from %q: %q", in, once)
		}
		if strings.ContainsAny(once, "\x1b\x00\r\v\f\u0085\u009b\u2028\u202e\u2066\u200b\U000E0041") {
			t.Fatalf("%q leaves hidden characters: %q", in, once)
		}
		if twice, changed := hidden.Strip(once); twice != once || changed != 0 {
			t.Fatalf("%q becomes %q, and then %q", in, once, twice)
		}
		var pieces strings.Builder
		for at, piece := range hidden.Pieces(in) {
			if at != pieces.Len() {
				t.Fatalf("%q: a piece at %d, after %d bytes", in, at, pieces.Len())
			}
			pieces.WriteString(piece.Text)
		}
		if pieces.String() != in {
			t.Fatalf("the pieces of %q are %q", in, pieces.String())
		}
		if strings.ContainsFunc(in, func(r rune) bool { return r == 0x1b || r >= 0x90 && r < 0xa0 }) {
			return // terminal sequences hold letters that nobody sees
		}
		if got, want := strings.Map(seen, once), strings.Map(seen, in); got != want {
			t.Fatalf("%q loses what is seen: %q, want %q", in, got, want)
		}
	})
}

// seen returns r, or -1 for a hidden character or a line end.
func seen(r rune) rune {
	if r == '\n' || hidden.Is(r) {
		return -1
	}
	return r
}
