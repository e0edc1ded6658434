package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/shorten"
	"conclave/app/chat/render/clean"
)

// maxRun is how many columns of blanks a description keeps. More is padding that
// pushes text out of sight; honest tables and code stay below it.
const maxRun = 40

// blank returns how many columns a character takes of which nothing is seen, or 0: those
// of Unicode's White_Space, but for the line end, and the empty cell of Braille.
func blank(r rune) int {
	switch {
	case r == '\t':
		return 4
	case r == ' ' || r == 0x2800 || r != '\n' && r >= 0x80 && unicode.Is(unicode.White_Space, r):
		return 1
	}
	return 0
}

// Strip removes characters that a person does not see and a model reads: ANSI
// escape sequences, control characters other than tab and line end, Unicode
// tags, bidirectional marks and overrides, zero-width and filler characters,
// and the supplementary variation selectors. Bytes that are not UTF-8 become
// U+FFFD. It returns the text and how many characters it removed.
//
// A zero-width joiner stays where writing needs it (inside an emoji, between
// letters of Arabic and Indic scripts), and so does a variation selector after
// a symbol.
func Strip(text string) (string, int) {
	if plain(text) {
		return text, 0
	}
	var b strings.Builder
	b.Grow(len(text))
	removed := 0
	var before rune // the last rune written
	for i := 0; i < len(text); {
		r, size, becomes := next(text[i:], before)
		switch becomes {
		case isUnseen:
			removed += utf8.RuneCountInString(text[i : i+size])
		case isSeen:
			b.WriteRune(r)
			before = r
		}
		i += size
	}
	return b.String(), removed
}

// fate says what Strip makes of a piece of text.
type fate int

const (
	isSeen    fate = iota // it stays
	isUnseen              // it is removed
	isLineEnd             // it is the first of two characters of a line end, which become one
)

// next returns the rune with which a text begins, how long the piece is that it begins, and
// what Strip makes of that behind the rune before.
func next(text string, before rune) (r rune, size int, becomes fate) {
	r, size = utf8.DecodeRuneInString(text)
	switch {
	case r == 0x1b || r == 0x9b:
		return r, escape(text), isUnseen
	case r == '\r' && strings.HasPrefix(text[1:], "\n"):
		return r, size, isLineEnd
	case clean.Hidden(r) && !joins(r, before, text[size:]):
		return r, size, isUnseen
	}
	return r, size, isSeen
}

// Clean is Strip for a definition's texts: it also folds runs of blanks that are wider than
// 40 columns into one, and more than three line ends with nothing but blanks between them
// into two, and counts what it took.
func Clean(text string) (string, int) {
	text, removed := Strip(text)
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); {
		run := emptyRun(text[i:])
		if run == 0 {
			_, size := utf8.DecodeRuneInString(text[i:])
			i += size
			continue
		}
		kept := folded(text[i : i+run])
		if n := utf8.RuneCountInString(text[i:i+run]) - utf8.RuneCountInString(kept); n > 0 {
			b.WriteString(text[done:i])
			b.WriteString(kept)
			removed, done = removed+n, i+run
		}
		i += run
	}
	if done == 0 {
		return text, removed
	}
	b.WriteString(text[done:])
	return b.String(), removed
}

// emptyRun returns how many bytes of blanks and line ends a text begins with.
func emptyRun(text string) int {
	for i, r := range text {
		if r != '\n' && blank(r) == 0 {
			return i
		}
	}
	return len(text)
}

// folded returns what is kept of a run of blanks and line ends.
func folded(run string) string {
	lines := strings.Split(run, "\n")
	if len(lines) > 4 {
		lines = []string{lines[0], "", lines[len(lines)-1]}
	}
	for i, line := range lines {
		columns := 0
		for _, r := range line {
			columns += blank(r)
		}
		if columns > maxRun {
			lines[i] = " "
		}
	}
	return strings.Join(lines, "\n")
}

// plain reports whether text is printable ASCII with tabs and line ends only,
// which is most text.
func plain(text string) bool {
	for i := range len(text) {
		if c := text[i]; c >= 0x7f || c < 0x20 && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}

// escape returns the length of the terminal sequence that text begins with
// (ECMA-48, section 5.4; OSC, DCS, SOS, PM and APC strings run to their end
// mark).
func escape(text string) int {
	r, i := utf8.DecodeRuneInString(text)
	if r == 0x1b {
		if i == len(text) {
			return i
		}
		switch text[i] {
		case '[':
			i++
		case ']', 'P', 'X', '^', '_':
			for i++; i < len(text); i++ {
				if text[i] == 0x07 {
					return i + 1
				}
				if strings.HasPrefix(text[i:], "\x1b\\") {
					return i + 2
				}
				if text[i] == '\n' {
					return i // an unended string must not swallow the rest
				}
			}
			return i
		default:
			if text[i] < 0x20 || text[i] >= 0x7f {
				return i
			}
			for i < len(text) && text[i] >= 0x20 && text[i] <= 0x2f {
				i++
			}
			if i < len(text) && text[i] < 0x7f {
				i++
			}
			return i
		}
	}
	for i < len(text) && text[i] >= 0x20 && text[i] <= 0x3f {
		i++
	}
	if i < len(text) && text[i] >= 0x40 && text[i] <= 0x7e {
		i++
	}
	return i
}

// Unseen reports whether a person does not see r in a line of text, or sees a gap for it.
func Unseen(r rune) bool { return clean.Hidden(r) || !unicode.IsPrint(r) }

// joins reports whether a hidden r is part of the writing between before and
// rest.
func joins(r, before rune, rest string) bool {
	next, _ := utf8.DecodeRuneInString(rest)
	switch r {
	case 0x200c, 0x200d: // non-joiner, joiner
		return joining(before) && joining(next) || r == 0x200d && (pictured(before) || before == 0xfe0f) && pictured(next)
	case 0xfe0e, 0xfe0f: // as text, as picture
		return pictured(before) || before == '#' || before == '*' || before >= '0' && before <= '9'
	}
	return false
}

func joining(r rune) bool {
	return unicode.In(r, unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi,
		unicode.Gujarati,
		unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Mongolian)
}

func pictured(r rune) bool {
	return r >= 0x1f000 && r <= 0x1faff || r >= 0x2190 && r <= 0x2bff || r == 0x203c || r == 0x2049 || r == 0x2122 ||
		r == 0x2139 || r == 0x3030 || r == 0x303d || r == 0x3297 || r == 0x3299 || r == 0xa9 || r == 0xae
}

// cleanSchema cleans the texts a schema says to a model (description, title,
// $comment) and leaves every other byte, and so the order of its properties, as
// it is. It returns how many characters it removed, and the lines of which, as Tool.Marked.
func cleanSchema(raw json.RawMessage) (json.RawMessage, int, []string) {
	if plain(string(raw)) && !bytes.ContainsRune(raw, '\\') && !bytes.Contains(raw, []byte("          ")) &&
		!bytes.ContainsRune(raw, '\t') {
		return raw, 0, nil
	}
	var out []byte
	var marked []string
	removed, done := 0, 0
	key := ""
	for i := 0; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			end := i + 1
			for end < len(raw) && raw[end] != '"' {
				if raw[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(raw) {
				return raw, 0, nil // no JSON; whoever compiles it says so
			}
			literal := raw[i : end+1]
			rest := bytes.TrimLeft(raw[end+1:], " \t\r\n")
			if len(rest) > 0 && rest[0] == ':' {
				key = string(literal)
			} else {
				if key == `"description"` || key == `"title"` || key == `"$comment"` {
					var text string
					if json.Unmarshal(literal, &text) != nil {
						return raw, 0, nil
					}
					if clean, n := Clean(text); n > 0 {
						removed += n
						marked = append(marked, markedLines(text, true, nil)...)
						out = append(out, raw[done:i]...)
						out = appendString(out, clean)
						done = end + 1
					}
				}
				key = ""
			}
			i = end
		case '{', '[', ',':
			key = ""
		}
	}
	if removed == 0 {
		return raw, 0, nil
	}
	return append(out, raw[done:]...), removed, marked
}

// ShownLine is how many characters of a line ShowLine keeps: a minified file is one line.
const ShownLine = 400

// ShowLine returns a line of foreign text as a person is shown it where they compare
// texts: bounded, and with a hidden character written out, since it may be all that
// differs.
func ShowLine(line string) string {
	if _, hidden := Strip(line); hidden > 0 {
		var b strings.Builder
		for _, r := range line {
			if _, hidden := Strip(string(r)); hidden > 0 && r != '\t' {
				fmt.Fprintf(&b, "\\u{%04x}", r)
			} else {
				b.WriteRune(r)
			}
		}
		line = b.String()
	}
	return shorten.After(line, ShownLine)
}
