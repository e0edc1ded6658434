package render

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/base/limit"
)

// pieceSize is about how long a piece of a paragraph is, in bytes: emphasis rarely
// goes on for longer, and rendering one or two takes some 100 µs.
const pieceSize = 1 << 10

// growing is an open table or paragraph that is long: its beginning as it was
// rendered, piece by piece, and will be shown until the block is complete. Only
// what comes behind it is rendered again. What one piece says of another, such as
// emphasis over a thousand characters, is found when the block is complete and
// rendered as one. The zero value is none.
type growing struct {
	start int // of the chunk that it belongs to
	kind  Kind
	pos   int    // what lies before, in the text, is in html
	html  []byte // begins with the block's opening tags; empty before the first piece
	units int    // how long html is in UTF-16 units
	cells int    // of a table, in html
	whole bool   // the block is not made of pieces, and is rendered as one
}

// seam stands between what stays of growing HTML and the rest, and end behind
// that. The page finds them (grow.ts).
type seam struct{ seam, end string }

var seams = map[Kind]seam{
	KindTable: {"</tbody><tbody>", "</tbody></table></div>\n"},
	KindText:  {"<span>", "</span></p>\n"},
}

// grow returns the HTML of the open chunk c, and how much of it stays. Only its
// last piece is rendered. ok is false when the chunk is short, or is
// to be rendered as one.
func (s *Stream) grow(c chunk) (html string, fixed extent, ok bool) {
	g := &s.growing
	if g.start != c.start || g.kind != c.kind || g.pos > c.end {
		*g = growing{start: c.start, kind: c.kind, pos: c.start}
	}
	for !g.whole && c.end-g.pos > 2*pieceSize {
		n := cutOf(s.text[g.pos:c.end], c.kind)
		if n == 0 && c.kind == KindTable {
			break // a long row
		}
		piece, ok := s.piece(c, s.text[g.pos:g.pos+n])
		if g.whole = !ok || n == 0; g.whole {
			break
		}
		g.pos += n
		g.cells += strings.Count(piece, "<td")
		g.html = append(g.html, piece...)
		if c.kind == KindText && s.text[g.pos-1] == ' ' {
			g.html = append(g.html, ' ') // goldmark takes it off the end
			g.units++
		}
		g.units += utf16Len([]byte(piece))
		g.whole = g.cells > limit.TableCells
	}
	if g.whole || len(g.html) == 0 {
		return "", extent{}, false
	}
	last, ok := s.piece(c, mended(s.text[g.pos:c.end], c.kind))
	if g.whole = !ok; g.whole {
		return "", extent{}, false
	}
	at := seams[c.kind]
	return string(g.html) + at.seam + last + at.end, extent{len(g.html), g.units}, true
}

// piece renders src, a part of the chunk c behind what has been. The first piece
// comes with the block's opening tags, none with the closing ones. ok is false
// when it is something else than rows, or than text.
func (s *Stream) piece(c chunk, src []byte) (html string, ok bool) {
	first := s.growing.pos == c.start
	if c.kind == KindTable && !first {
		c.head = s.split.head
	}
	c.continued = c.continued && first
	html, _ = s.markdown(c, src)
	if c.kind == KindText {
		text, closed := strings.CutSuffix(html, "</p>\n")
		open := strings.IndexByte(text, '>') + 1
		if !closed || !strings.HasPrefix(text, "<p") || strings.Contains(text[open:], "<p") ||
			strings.Contains(text, "</p>") {
			return "", false
		}
		if first {
			open = 0
		}
		return text[open:], true
	}
	head, rows, body := strings.Cut(html, "<tbody>\n")
	rows, closed := strings.CutSuffix(rows, seams[KindTable].end)
	if !body || !closed || strings.Contains(rows, "<tbody>") || c.head.end == 0 && !first {
		return "", false
	}
	if !first {
		return rows, true
	}
	// How many rows it has is said when they are all there.
	if label := strings.LastIndex(head, `"><table>`); label > 0 {
		head = head[:strings.LastIndex(head[:label], ", ")] + head[label:]
	}
	return head + "<tbody>\n" + rows, true
}

// cutOf returns how much of text, which is more to come of, is a piece: of a table
// its complete lines; of a paragraph what ends between words where no mark is open,
// or, when one is open all the time, between words. 0 means that there is none.
func cutOf(text []byte, kind Kind) int {
	if kind == KindTable {
		return bytes.LastIndexByte(text, '\n') + 1
	}
	text = text[:pieceSize]
	good, any := 0, 0
	var open marksOpen
	for i := 0; i < len(text); {
		if i > 0 && betweenWords(text, i) {
			any = i
			if open.none() {
				good = i
			}
		}
		i += open.read(text, i)
	}
	if good > 0 {
		return good
	}
	return any
}

// betweenWords reports whether a paragraph can be cut before text[i]: behind a
// single space and before a letter, which can begin no list or heading, or between
// two characters of a script without spaces.
func betweenWords(text []byte, i int) bool {
	r, _ := utf8.DecodeRune(text[i:])
	if !unicode.IsLetter(r) {
		return false
	}
	if text[i-1] == ' ' {
		return i > 1 && text[i-2] > ' '
	}
	before, _ := utf8.DecodeLastRune(text[:i])
	return r >= 0x2E80 && before >= 0x2E80 && unicode.IsLetter(before)
}

// marksOpen holds what is open at a place of a paragraph, by a first look: it decides
// where to cut, not what is shown.
type marksOpen struct {
	brackets int
	until    string // what closes code or a formula
	pairs    []string
}

func (o *marksOpen) none() bool { return o.brackets == 0 && o.until == "" && len(o.pairs) == 0 }

// read takes in what stands at text[i] and returns how long it is.
func (o *marksOpen) read(text []byte, i int) int {
	c := text[i]
	if o.until != "" {
		if bytes.HasPrefix(text[i:], []byte(o.until)) && (c != '`' || runOf(text[i:], c) == len(o.until)) {
			n := len(o.until)
			o.until = ""
			return n
		}
		if c == '`' {
			return runOf(text[i:], c)
		}
		return 1
	}
	n := runOf(text[i:], c)
	switch c {
	case '\\':
		if i+1 < len(text) && (text[i+1] == '(' || text[i+1] == '[') {
			o.until = map[byte]string{'(': `\)`, '[': `\]`}[text[i+1]]
		}
		return 2
	case '`':
		o.until = string(text[i : i+n])
		return n
	case '$':
		if n == 2 {
			o.until = "$$"
		}
		return n
	case '[':
		o.brackets++
	case ']':
		o.brackets = max(0, o.brackets-1)
	case '(':
		if o.brackets > 0 || i > 0 && text[i-1] == ']' {
			o.brackets++
		}
	case ')':
		o.brackets = max(0, o.brackets-1)
	case '*', '_', '~':
		o.pair(text, i, n)
		return n
	}
	return 1
}

// pair opens or closes emphasis with the n marks at text[i].
func (o *marksOpen) pair(text []byte, i, n int) {
	mark := string(text[i : i+n])
	closes := i > 0 && text[i-1] > ' '
	if k := len(o.pairs) - 1; closes && k >= 0 && o.pairs[k] == mark {
		o.pairs = o.pairs[:k]
	} else if i+n < len(text) && text[i+n] > ' ' && !(closes && text[i] == '_') {
		o.pairs = append(o.pairs, mark)
	}
}
