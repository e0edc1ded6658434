package gate

import (
	"bytes"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

var update = flag.Bool("update", false, "rewrite the table of look-alikes")

// smallCapitals are the letters of ASCII that letters look like which Unicode pairs with a small
// capital or a variant of one: it holds “к” to be “ĸ”, and a person reads “k”.
var smallCapitals = map[rune]rune{
	'ʙ': 'b', 'ĸ': 'k', 'ʍ': 'm', 'ʜ': 'h', 'ᴛ': 't', 'ƅ': 'b', 'ꞓ': 'e', 'ß': 'b', 'ȷ': 'j',
}

// added are look-alikes that Unicode does not list. The first is the capital of one that it lists;
// a name in the others is read as one with the Latin letters by somebody who skims it.
var added = map[rune]lookAlike{
	'Ԛ': {'Q', false}, 'η': {'n', true}, 'μ': {'m', true}, 'χ': {'x', true}, 'ω': {'w', true}, 'ζ': {'z', true},
}

// tableOfLookAlikes writes the table from the excerpt of Unicode's and from added.
func tableOfLookAlikes(t *testing.T) []byte {
	t.Helper()
	source, err := os.ReadFile("testdata/confusables.txt")
	if err != nil {
		t.Fatal(err)
	}
	letter := func(field string) rune {
		code, err := strconv.ParseUint(strings.TrimSpace(field), 16, 32)
		if err != nil {
			t.Fatal(err)
		}
		return rune(code)
	}
	all := maps.Clone(added)
	for line := range strings.Lines(string(source)) {
		line, _, _ = strings.Cut(line, "#")
		fields := strings.Split(line, ";")
		if len(fields) < 2 {
			continue
		}
		from, to := letter(fields[0]), letter(fields[1])
		looks := lookAlike{latin: to}
		if small, ok := smallCapitals[to]; ok {
			looks = lookAlike{small, to != 'ȷ'}
		}
		if looks.latin == 'l' && unicode.IsUpper(from) {
			looks.latin = 'I' // of which Unicode holds that it is “l”
		}
		all[from] = looks
	}
	var b bytes.Buffer
	b.WriteString("// Code generated from testdata/confusables.txt by: " +
		"go test ./app/gate -run TableOfLookAlikes -update. DO NOT EDIT.\n\n" +
		"package gate\n\n// lookAlikeTable has the letters that look like one of ASCII.\n" +
		"var lookAlikeTable = map[rune]lookAlike{\n")
	for _, from := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "%q: {%q, %v}, // %U\n", from, all[from].latin, all[from].near, from)
	}
	b.WriteString("}\n")
	text, err := format.Source(b.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestTheTableOfLookAlikesIsTheOneOfUnicodeAndWhatIsAdded(t *testing.T) {
	want := tableOfLookAlikes(t)
	if *update {
		if err := os.WriteFile("confusables.go", want, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("confusables.go")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("confusables.go is stale (%v): run go test ./app/gate -run TableOfLookAlikes -update", err)
	}
}

// Two tables disagreed about these letters, so each is a decision now: whether a name in it is taken
// for one with the Latin letter, and whether it is marked in a text.
func TestALetterLooksTheSameInNamesAndInTexts(t *testing.T) {
	const both, names, neither = "names and texts", "names", "neither"
	for letter, want := range map[rune]string{
		// Small Cyrillic letters that are drawn as small capitals: “toкen”.
		'к': both, 'в': both, 'м': both, 'н': both, 'т': both, 'ь': both,
		// Their Greek counterparts and other Greek letters stand in units and formulae: “5μm”, “NFκB”.
		'κ': names, 'τ': names, 'β': names, 'ε': names, 'η': names, 'μ': names, 'χ': names, 'ω': names, 'ζ': names,
		// Letters that one table had alone, and that look the same.
		'ϲ': both, 'ϳ': both, 'յ': both, 'Ԍ': both, 'ү': both, 'Ү': both, 'Ԛ': both,
		// Letters that neither had.
		'г': both, 'ш': both, 'σ': both, 'ռ': both, 'ք': both,
		// Letters that Unicode pairs with none of ASCII.
		'ж': neither, 'и': neither, 'λ': neither, 'Ω': neither, 'ղ': neither,
	} {
		latin := lookAlikeTable[letter].latin
		word := "xqz" + string(letter) + "xqz"
		is := neither
		if latin != 0 && skeleton(word) == skeleton("xqz"+string(latin)+"xqz") {
			is = names
		}
		if found, _ := lookAlikes(word); len(found) > 0 {
			is = map[string]string{names: both, neither: "texts"}[is]
		}
		if is != want {
			t.Errorf("%c looks like %c in %s, not in %s", letter, latin, is, want)
		}
	}
}

// A letter that only nearly looks like a Latin one is marked where most of its word is Latin.
func TestANearLookAlikeIsMarkedInAWordThatIsMostlyLatin(t *testing.T) {
	for text, want := range map[string]string{
		"to\u043aen": "looks like k", "\u043aey": "looks like k", "p\u043e\u0440\u0442": "a Latin letter",
		"USB\u0448\u043a\u0430": "", "\u0442\u0435\u043c\u0430": "", "\u043a\u043e\u0442": "",
	} {
		found, _ := lookAlikes(text)
		said := ""
		for i, what := range found {
			if _, size := utf8.DecodeRuneInString(text[i:]); size > 0 && said != what {
				said += what
			}
		}
		if said != want {
			t.Errorf("%s: %q", text, said)
		}
	}
}
