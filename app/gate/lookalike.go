package gate

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// lookAlike is the letter of ASCII that a letter looks like.
type lookAlike struct {
	latin rune
	// near reports that it is not drawn the same: it is a small capital, as “к” is, or is only read so.
	near bool
}

// alphabets have letters that are mistaken for one another. The Latin one is first.
var alphabets = [...]struct {
	name    string
	letters *unicode.RangeTable
}{{"Latin", unicode.Latin}, {"Cyrillic", unicode.Cyrillic}, {"Greek", unicode.Greek}, {"Armenian", unicode.Armenian}}

const latin, cyrillic = 0, 1 // places in alphabets

// alphabetOf returns the number of a letter's alphabet, and what it looks like in a text: Latin ones
// look like themselves, others may look like none. Greek letters stand in units and formulae, so
// that those which nearly look like a Latin one do not count.
func alphabetOf(r rune) (alphabet int, looks lookAlike, ok bool) {
	for i, a := range alphabets {
		if !unicode.Is(a.letters, r) || !unicode.IsLetter(r) {
			continue
		}
		looks = lookAlikeTable[r]
		if i == latin {
			looks = lookAlike{latin: r}
		} else if looks.near && i != cyrillic {
			looks = lookAlike{}
		}
		return i, looks, true
	}
	return 0, lookAlike{}, false
}

// imitated returns the Latin letters that letters of each alphabet look like.
var imitated = sync.OnceValue(func() (letters [len(alphabets)]map[rune]bool) {
	for i := range letters {
		letters[i] = map[rune]bool{}
	}
	for r := range lookAlikeTable {
		if a, looks, ok := alphabetOf(r); ok && a != latin && looks.latin != 0 {
			letters[a][looks.latin] = true
		}
	}
	return letters
})

// lookAlikes returns what letters of a line are taken for, by where they begin, and how many
// words hold such letters.
func lookAlikes(line string) (found map[int]string, words int) {
	from := -1
	others := sync.OnceValue(func() [len(alphabets)]bool { return written(line) })
	spaced := sync.OnceValue(func() bool { return strings.ContainsFunc(line, unicode.IsSpace) })
	end := func(to int) {
		if from < 0 {
			return
		}
		word, start := line[from:to], from
		from = -1
		letters := mixed(word)
		if len(letters) == 0 || others()[endsIn(word)] &&
			(abbreviated(word) || inflected(word) && spaced() && inText(line, start, to)) {
			return
		}
		words++
		if found == nil {
			found = map[int]string{}
		}
		for i, what := range letters {
			found[start+i] = what
		}
	}
	for i, r := range line {
		switch _, _, letter := alphabetOf(r); {
		case !letter && !unicode.In(r, unicode.M, unicode.Nd):
			end(i)
		case from < 0:
			from = i
		}
	}
	end(len(line))
	return found, words
}

// mixed returns the letters of a word that make it a word of several alphabets and yet read as
// one of a single alphabet, by where they begin, with what they look like.
func mixed(word string) map[int]string {
	var has [len(alphabets)]bool
	n := 0
	for _, r := range word {
		if a, _, ok := alphabetOf(r); ok && !has[a] {
			has[a] = true
			n++
		}
	}
	if n < 2 {
		return nil
	}
	for as := range alphabets {
		if !has[as] {
			continue
		}
		if letters, ok := readAs(word, as); ok {
			return letters
		}
	}
	return nil
}

// readAs returns the letters of a word that are not of an alphabet, with what they look like; ok
// reports that all of them look like letters of it. A word is read as Latin whatever most of it is, as
// names and addresses are, but as another where most of it is of that: “ΔT” is not Greek. So it is
// for letters that nearly look like Latin ones: “toкen” is Latin, and “pорт” is not.
func readAs(word string, as int) (letters map[int]string, ok bool) {
	letters = map[int]string{}
	own, near := 0, false
	for i, r := range word {
		a, looks, letter := alphabetOf(r)
		switch {
		case !letter:
		case a == as:
			own++
		case looks.latin == 0:
			return nil, false
		case as == latin:
			letters[i] = "looks like " + string(looks.latin)
			near = near || looks.near
		case !imitated()[as][looks.latin]:
			return nil, false
		default:
			letters[i] = "a " + alphabets[a].name + " letter"
		}
	}
	return letters, as == latin && !near || own > len(letters)
}

// written returns in which alphabets a line has letters that are not drawn as Latin ones: of
// these it has words, and endings of them are no surprise.
func written(line string) (in [len(alphabets)]bool) {
	for _, r := range line {
		if a, looks, ok := alphabetOf(r); ok && (looks.latin == 0 || looks.near) {
			in[a] = true
		}
	}
	return in
}

// endsIn returns the number of the alphabet of a word's last letter.
func endsIn(word string) int {
	for word != "" {
		r, size := utf8.DecodeLastRuneInString(word)
		if a, _, ok := alphabetOf(r); ok {
			return a
		}
		word = word[:len(word)-size]
	}
	return 0
}

// parts splits a word behind the Latin letters with which it begins.
func parts(word string) (latin, ending string) {
	for i, r := range word {
		if a, _, ok := alphabetOf(r); ok && a != 0 {
			return word[:i], word[i:]
		}
	}
	return word, ""
}

// abbreviated reports whether a word is Latin capitals with an ending of another alphabet: “PDFа”.
func abbreviated(word string) bool {
	latin, ending := parts(word)
	for _, r := range ending {
		if a, _, ok := alphabetOf(r); ok && (a == 0 || !unicode.IsLower(r)) {
			return false
		}
	}
	return utf8.RuneCountInString(latin) > 1 && latin == strings.ToUpper(latin)
}

// inflected reports whether a word is Latin but for an ending that languages with Cyrillic letters
// put behind foreign words: “в gitе”.
func inflected(word string) bool {
	latin, ending := parts(word)
	return utf8.RuneCountInString(latin) > 1 && strings.Trim(ending, "аеоух") == ""
}

// inText reports whether a word of a line that has spaces stands among others, and not in a name or
// an address.
func inText(line string, from, to int) bool {
	const joins = `./\@_-:=~`
	before, _ := utf8.DecodeLastRuneInString(line[:from])
	after := strings.TrimLeft(line[to:], joins)
	next, _ := utf8.DecodeRuneInString(after)
	goesOn := len(after) < len(line)-to && len(after) > 0 && !unicode.IsSpace(next)
	return !strings.ContainsRune(joins, before) && !goesOn
}
