package permit

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// alphabets are those of which letters are taken for one another.
var alphabets = []struct {
	name    string
	letters *unicode.RangeTable
	// drawn pairs letters with the Latin ones that look like them in the same case, as far as the
	// confusables of Unicode (UTS 39) have them: “μ” and “к” do not look like “m” and “k”.
	drawn map[rune]rune
}{
	{"Latin", unicode.Latin, nil},
	{"Cyrillic", unicode.Cyrillic, paired(
		"асԁеһіјӏорԛѕѵԝхуүАВСЕНІЈКМОРԚЅТѴԜХУҮԌ",
		"acdehijlopqsvwxyyABCEHIJKMOPQSTVWXYYG",
	)},
	{"Greek", unicode.Greek, paired("αγινορυϲϳΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ayivopucjABEZHIKMNOPTYX")},
	{"Armenian", unicode.Armenian, paired("օոսհցզյ", "onuhgqj")},
}

// paired maps each rune of one text to that of the other at the same place.
func paired(from, to string) map[rune]rune {
	all, latin := map[rune]rune{}, []rune(to)
	for i, r := range []rune(from) {
		all[r] = latin[i]
	}
	return all
}

// alphabetOf returns the number of a letter's alphabet, and the Latin letter that it looks like;
// Latin ones look like themselves, and 0 is that it looks like none.
func alphabetOf(r rune) (alphabet int, latin rune, ok bool) {
	for i, a := range alphabets {
		if unicode.Is(a.letters, r) && unicode.IsLetter(r) {
			if i == 0 {
				return i, r, true
			}
			return i, a.drawn[r], true
		}
	}
	return 0, 0, false
}

// lookAlikes returns what letters of a line are taken for, by where they begin, and how many
// words hold such letters.
func lookAlikes(line string) (found map[int]string, words int) {
	from := -1
	others := sync.OnceValue(func() [4]bool { return written(line) })
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
	var has [4]bool
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
// says that all of them look like letters of it. A word is read as Latin whatever most of it is, as
// names and addresses are, but as another where most of it is of that: “ΔT” is not Greek.
func readAs(word string, as int) (letters map[int]string, ok bool) {
	letters = map[int]string{}
	own := 0
	for i, r := range word {
		a, latin, letter := alphabetOf(r)
		switch {
		case !letter:
		case a == as:
			own++
		case latin == 0:
			return nil, false
		case as == 0:
			letters[i] = "looks like " + string(latin)
		default:
			there := false
			for _, l := range alphabets[as].drawn {
				there = there || l == latin
			}
			if !there {
				return nil, false
			}
			letters[i] = "a " + alphabets[a].name + " letter"
		}
	}
	return letters, as == 0 || own > len(letters)
}

// written returns in which alphabets a line has letters that cannot be taken for Latin ones: of
// these it has words, and endings of them are no surprise.
func written(line string) (in [4]bool) {
	for _, r := range line {
		if a, latin, ok := alphabetOf(r); ok && latin == 0 {
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
