package search

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/words"
	"golang.org/x/text/unicode/norm"
)

// A word is what Unicode's segmentation takes for one (UAX 29), in lower case and
// without accents, so that "Ofen" finds "Öfen". No word is left out and none is
// cut to a stem: people search for names, code and numbers in many languages.

// word is a word of a text: where it stands, in bytes, and how it is compared.
type word struct {
	start, end int
	folded     string
}

// wordsOf yields the words of a text.
func wordsOf(text string) iter.Seq[word] {
	return func(yield func(word) bool) {
		for tokens := words.FromString(text); tokens.Next(); {
			value := tokens.Value()
			if isWord(value) && !yield(word{tokens.Start(), tokens.End(), fold(value)}) {
				return
			}
		}
	}
}

// isWord reports whether a segment is a word, and not space or punctuation.
func isWord(segment string) bool {
	for _, r := range segment {
		if unicode.IsLetter(r) || unicode.IsNumber(r) {
			return true
		}
	}
	return false
}

// fold returns a word in lower case and without the marks that Unicode can take
// apart from their letters.
func fold(word string) string {
	plain, lower := true, true
	for i := range len(word) {
		plain = plain && word[i] < utf8.RuneSelf
		lower = lower && (word[i] < 'A' || word[i] > 'Z')
	}
	if plain {
		if lower {
			return word
		}
		return strings.ToLower(word)
	}
	var folded strings.Builder
	for _, r := range norm.NFKD.String(word) {
		if !unicode.Is(unicode.Mn, r) && r != ' ' { // some letters come apart into a space and a mark
			folded.WriteRune(unicode.ToLower(r))
		}
	}
	if folded.Len() == 0 {
		return word
	}
	return folded.String()
}

// foldText appends the words of a text, folded and each between two spaces, and returns how many
// there are.
func foldText(to []byte, text string) ([]byte, int) {
	n := 0
	to = append(to, ' ')
	for w := range wordsOf(text) {
		to = append(append(to, w.folded...), ' ')
		n++
	}
	return to, n
}
