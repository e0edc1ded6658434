// Package clean removes from text what a person cannot see but a model, a
// terminal or a program would read: escape sequences, control characters,
// Unicode tags, direction overrides and characters without a width.
//
// It serves what comes from tools and plugins, before it is shown or handed to
// a model. It knows nothing of Markdown or HTML and imports only the standard
// library, so that the command line can use it without app/chat/render. There is
// one function to read: [Text].
package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Text returns s without what cannot be seen, and how many hidden characters
// it took away. A terminal escape sequence counts as one, whatever its length.
//
// Removed are: terminal escape sequences (ECMA-48), control characters other
// than tab and line feed, Unicode tags (U+E0000 to U+E007F), marks, embeddings,
// overrides and isolates of direction, and characters without a width. Kept is
// what writing needs: a joiner or non-joiner between two characters beyond
// ASCII (Persian, Devanagari, emoji), and one variation selector behind a
// character that has variants. A lone carriage return becomes a line feed, so
// that no line can hide under another; neither that nor the U+FFFD that
// replaces invalid UTF-8 is counted. Text is a pure function, and a second
// pass over its result removes nothing.
func Text(s string) (string, int) {
	if visible(s) {
		return s, 0
	}
	var out strings.Builder
	out.Grow(len(s))
	removed := 0
	last := rune(-1) // what was written last
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '\r':
			if strings.HasPrefix(s[i+1:], "\n") {
				i++
				continue
			}
			r = '\n'
		case r == 0x1b || r == 0x9b || r == 0x90 || r == 0x9d || r == 0x98 || r == 0x9e || r == 0x9f:
			i += sequence(s[i:])
			removed++
			continue
		case Hidden(r) && !needed(last, r, s[i+size:]):
			i += size
			removed++
			continue
		}
		out.WriteRune(r)
		last = r
		i += size
	}
	return out.String(), removed
}

// visible reports whether s is plain ASCII without controls, as most text is.
func visible(s string) bool {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// sequence returns the length of the escape sequence at the start of s.
// ECMA-48, sections 5.4 and 5.6: a control sequence ends with a byte of 0x40 to
// 0x7e; a control string ends with BEL or the string terminator.
func sequence(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	kind := byte(r)
	if r == 0x1b {
		if len(s) == 1 {
			return 1
		}
		kind, n = s[1]+0x40, 2
		if s[1] < 0x40 || s[1] > 0x5f {
			kind = 0
		}
	}
	switch kind {
	case 0x9b: // control sequence
		for i := n; i < len(s); i++ {
			if c := s[i]; c >= 0x40 && c <= 0x7e {
				return i + 1
			} else if c < 0x20 || c > 0x7e {
				return i
			}
		}
		return len(s)
	case 0x90, 0x9d, 0x98, 0x9e, 0x9f: // control strings: title, link, picture …
		for i := n; i < len(s); i++ {
			switch {
			case s[i] == 0x07:
				return i + 1
			case strings.HasPrefix(s[i:], "\x1b\\"), strings.HasPrefix(s[i:], "\u009c"):
				return i + 2
			case s[i] == '\n': // never closed: keep the lines that follow
				return i
			}
		}
		return len(s)
	}
	if r == 0x1b && s[1] >= 0x20 && s[1] < 0x30 { // intermediate bytes, then a final one
		i := 2
		for i < len(s) && s[i] >= 0x20 && s[i] < 0x30 {
			i++
		}
		if i < len(s) && s[i] >= 0x30 && s[i] <= 0x7e {
			i++
		}
		return i
	}
	if r == 0x1b && (s[1] < 0x20 || s[1] > 0x7e) {
		return 1
	}
	return n
}

// Hidden reports whether r has no visible form: it takes no room on the screen, turns the
// text, or is a control. Line feed and tab are not hidden. Unicode's properties decide, so
// that what a later version adds is known with it.
func Hidden(r rune) bool {
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

// needed reports whether the hidden character r belongs to the writing, between
// the character before it and the text that follows.
func needed(before, r rune, after string) bool {
	next, _ := utf8.DecodeRuneInString(after)
	switch {
	case r == 0x200c || r == 0x200d: // non-joiner and joiner
		emojiDone := before == 0xfe0f // a heart and its selector, then the joiner
		return before > 0x7f && (emojiDone || !Hidden(before)) && after != "" && next > 0x7f && !Hidden(next) &&
			next != utf8.RuneError
	case r == 0xfe0e || r == 0xfe0f: // as text, as picture
		if before == '#' || before == '*' || before >= '0' && before <= '9' {
			return next == 0x20e3 // a keycap
		}
		return before > 0x7f && !Hidden(before) && !unicode.IsLetter(before)
	case r >= 0xfe00 && r <= 0xfe0d || r >= 0xe0100 && r <= 0xe01ef: // forms of one ideograph
		return unicode.Is(unicode.Han, before)
	}
	return false
}
