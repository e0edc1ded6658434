// Package hidden finds and removes the characters of a text that a person does not see,
// and that a model, a terminal or a program would read: escape sequences, control
// characters, Unicode tags, direction overrides and characters without a width.
//
// Every text of a tool, a plugin, a model's server or a file passes [Strip] before it is
// shown to a person or sent to a model, so that both read the same. [Pieces] is for those
// who show what would be removed.
package hidden

import (
	"iter"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Strip returns text without hidden characters, and how many characters it changed.
//
// Terminal sequences (ECMA-48) go with all that belongs to them. Whatever ends a line for
// a terminal or in Unicode becomes a line feed, so that words of two lines are not joined
// and no line covers another; a line end of two characters becomes one and does not count.
// Bytes that are not UTF-8 become U+FFFD and do not count either.
//
// A joiner stays where writing needs it, inside an emoji and between letters of scripts
// that join, and the selector of an emoji's form stays after its symbol. Other variation
// selectors are removed, since one after each letter can spell a text that nobody sees.
//
// Strip is a pure function that takes linear time; its result does not change when it is
// stripped again.
func Strip(text string) (string, int) {
	if Plain(text) {
		return text, 0
	}
	var b strings.Builder
	b.Grow(len(text))
	changed := 0
	for _, piece := range Pieces(text) {
		b.WriteString(piece.Shown)
		if piece.Hidden {
			changed += utf8.RuneCountInString(piece.Text)
		}
	}
	return b.String(), changed
}

// Plain reports whether text is printable ASCII with tabs and line feeds only, as most
// texts are.
func Plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// Piece is a character of a text, or a terminal sequence, or a line end of two characters.
type Piece struct {
	Text   string // as it stands in the text
	Shown  string // what Strip returns in its place
	Hidden bool   // whether a person would not see Text; Shown is then empty or a line feed
}

// Pieces returns the pieces of a text in their order, by the byte at which each begins.
func Pieces(text string) iter.Seq2[int, Piece] {
	return func(yield func(int, Piece) bool) {
		var before rune // the last character that is shown
		for i := 0; i < len(text); {
			r, size := utf8.DecodeRuneInString(text[i:])
			if n := sequence(text[i:]); n > size {
				size = n
			}
			piece := Piece{Text: text[i : i+size], Hidden: true}
			switch rest := text[i+size:]; {
			case r == '\r' && strings.HasPrefix(rest, "\n"):
				size++
				piece = Piece{Text: text[i : i+size], Shown: "\n"}
			case endsLine(r):
				piece.Shown = "\n"
			case r == utf8.RuneError:
				piece = Piece{Text: piece.Text, Shown: "\ufffd"}
			case !Is(r) || needed(r, before, rest):
				piece.Shown, piece.Hidden = piece.Text, false
			}
			if !yield(i, piece) {
				return
			}
			if piece.Shown != "" {
				before = r
			}
			i += size
		}
	}
}

// endsLine reports whether r ends a line and is no line feed: the vertical tab, the form
// feed, the carriage return, NEL, and Unicode's separators of lines and paragraphs.
func endsLine(r rune) bool {
	return r >= 0x0b && r <= 0x0d || r == 0x85 || r == 0x2028 || r == 0x2029
}

// Is reports whether r has no visible form: it takes no room on the screen, turns the
// text, or is a control. Line feed and tab are not hidden. Unicode's properties decide, so
// that characters of a later version are known with it.
func Is(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r < 0x20, r >= 0x7f && r < 0xa0:
		return true
	case r < 0xad:
		return false
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // formats that are drawn, as the Arabic sign of a year
		return false
	case r == 0x1d159: // the only symbol that is drawn as nothing, a musical note without a head
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// needed reports whether the hidden character r belongs to the writing, between the
// character before it and the text that follows.
func needed(r, before rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case 0x200c, 0x200d: // non-joiner, joiner
		return joining(before) && joining(next) || r == 0x200d && (pictured(before) || before == 0xfe0f) && pictured(next)
	case 0xfe0e, 0xfe0f: // as text, as picture
		if before == '#' || before == '*' || before >= '0' && before <= '9' {
			return next == 0x20e3 // the frame of a key
		}
		return pictured(before)
	}
	return false
}

// joiningScripts are those whose letters change their form with a joiner: the cursive ones,
// and the Indic ones with a sign that joins consonants.
var joiningScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Mandaic, unicode.Mongolian, unicode.Nko, unicode.Phags_Pa, unicode.Adlam,
	unicode.Hanifi_Rohingya, unicode.Manichaean,
	unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu,
	unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Javanese, unicode.Balinese,
}

// joining reports whether r is a letter or a mark of a script whose letters join.
func joining(r rune) bool { return r >= 0x600 && !Is(r) && unicode.In(r, joiningScripts...) }

// pictured reports whether r can be drawn as an emoji.
func pictured(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0x203c || r == 0x2049 || r == 0x2122 ||
		r == 0x2139 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 || r == 0xa9 || r == 0xae
}
