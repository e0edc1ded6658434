package chat

import (
	"strings"
	"unicode/utf8"

	"conclave/app/base/pattern"
)

// around counts the characters that an excerpt shows on each side of a find.
const around = 60

// Excerpt is a find with its surroundings as plain text, each side at most 60
// characters.
type Excerpt struct {
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}

// ExcerptOf finds words in a text, in any case, and returns them with their
// surroundings.
func ExcerptOf(text, words string) (Excerpt, bool) {
	at := indexFold(text, words)
	if at < 0 {
		return Excerpt{}, false
	}
	end := at + len(words)
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	before, after := []rune(text[:at]), []rune(text[end:])
	if len(before) > around {
		before = append([]rune("…"), before[len(before)-around+1:]...)
	}
	if len(after) > around {
		after = append(after[:around-1:around-1], '…')
	}
	return NewExcerpt(string(before), text[at:end], string(after)), true
}

// NewExcerpt returns a find and its surroundings on one line, without the marks of Markdown on either side.
func NewExcerpt(before, match, after string) Excerpt {
	return Excerpt{unmarked(before), flat(match), unmarked(after)}
}

func flat(s string) string { return strings.NewReplacer("\n", " ", "\r", " ", "\t", " ").Replace(s) }

// Compiled when needed: every start of a program would pay for it otherwise.
var (
	// Headings, and fences of code.
	lineBegins = pattern.Lazy("(^|\\s)(?:#{1,6}\\s+|(?:`{3}|~{3})\\w*)")
	// A link or picture. Its words stay.
	linked = pattern.Lazy(`!?\[([^\]\n]+)\]\([^()\s]*\)`)
	// Bold, slanted and struck words, and code.
	wordBegins = pattern.Lazy("(^|[\\s(“\"])(?:[*]{1,3}|_{1,3}|~~|`)($|[^\\s*_~`])")
	wordEnds   = pattern.Lazy("(^|[^\\s*_~`])(?:[*]{1,3}|_{1,3}|~~|`)($|[\\s.,;:!?)”\"])")
)

// unmarked takes the marks of Markdown off one side of an excerpt, and makes it one line. Stars and underlines between
// words or digits are no marks.
func unmarked(side string) string {
	side = linked().ReplaceAllString(lineBegins().ReplaceAllString(side, "$1"), "$1")
	return flat(wordEnds().ReplaceAllString(wordBegins().ReplaceAllString(side, "$1$2"), "$1$2"))
}

// indexFold is strings.Index in any case, for text whose lower case has the same
// length; where it has not, only the exact case is found.
func indexFold(text, words string) int {
	lower := strings.ToLower(text)
	if len(lower) != len(text) {
		return strings.Index(text, words)
	}
	return strings.Index(lower, strings.ToLower(words))
}
