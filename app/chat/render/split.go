package render

import "bytes"

// Sizes at which a block that goes on is cut, in bytes. They bound what one
// rendering of the open block costs, and what hostile text can make goldmark
// do, some of whose steps grow with the square of a paragraph.
const (
	maxLine  = 16 << 10 // one line; then its next part counts as a line
	maxText  = 16 << 10 // a paragraph or quote; longer than any that is meant to be read
	maxOther = 32 << 10 // whatever else may hold blank lines
	maxTable = 64 << 10 // a table, which then repeats its head
	maxItems = 2 << 10  // a list, at the next of its items
)

// chunk is a run of lines that is rendered as one block.
type chunk struct {
	start, end int // in the text
	kind       Kind
	fence      fence // KindCode: how it began; none if by indentation
	closed     bool  // KindCode: the last line is the closing fence
	continued  bool  // the block goes on from the one before
	first      int   // KindList: the number of its first item when continued
	head       span  // KindTable: the head of these rows, if they continue a table
}

// span is a part of the text.
type span struct{ start, end int }

// splitter finds the borders of top-level blocks, a line at a time. It is a
// plain value: a copy of it can be asked "what if this line came next".
//
// It follows CommonMark but for what only matters for the look. Where it and
// goldmark differ, a block is cut at another place; no text is lost and nothing
// becomes unsafe, since each block is rendered and sanitized by itself.
type splitter struct {
	open  bool  // whether cur has begun
	cur   chunk // end is that of its last line that is not blank
	blank bool  // a blank line came last
	lines int   // lines of cur that are not blank
	last  span  // the last of them

	inner   fence  // a fence inside cur, which is a list or fold
	bullet  byte   // KindList: the kind of its marks
	content int    // KindList: the column at which the content of the item begins
	number  int    // KindList: the number of the item to come
	depth   int    // KindFold: how many are open
	math    string // what closes the formula that is open in cur
	head    span   // KindTable: its head; the end is 0 until that line is in
	full    bool   // cut before the next line
}

// line takes the next line, text[at.start:at.end] without its line feed, and
// adds what it finished to done. mid says that the line is the further part of
// a line that was too long.
func (s *splitter) line(done []chunk, text []byte, at span, mid bool) []chunk {
	line := text[at.start:at.end]
	if s.open && s.cur.kind == KindCode && s.cur.fence.length > 0 {
		s.cur.end = at.end
		columns, i := indentOf(line)
		if !mid && columns < 4 && s.cur.fence.line(line[i:]) {
			s.cur.closed = true
			return s.close(done)
		}
		return done
	}
	if mid {
		if s.open && s.room() {
			s.extend(at)
			return done
		}
		done = s.close(done)
		s.begin(at, KindText)
		s.cur.continued = true
		return done
	}
	if isBlank(line) {
		s.blank = true
		s.math = ""
		return done
	}
	columns, i := indentOf(line)
	rest := line[i:]
	goes := s.open && s.continues(columns, rest)
	if goes && s.room() {
		s.extend(at)
		if s.cur.kind == KindFold && s.depth == 0 {
			return s.close(done)
		}
		return done
	}
	before := *s
	done = s.close(done)
	s.classify(at, columns, rest)
	if goes { // it had no room
		s.cur.continued = true
		switch {
		case before.cur.kind == KindTable && before.head.end > 0:
			s.cur.kind, s.cur.head, s.head = KindTable, before.head, before.head
		case before.cur.kind == KindList && s.cur.kind == KindList && s.bullet == before.bullet:
			s.cur.first, s.number = before.number, before.number+1
		}
	}
	if s.cur.kind == KindHeading || s.cur.kind == KindRule || s.cur.kind == KindFold && s.depth == 0 {
		return s.close(done)
	}
	return done
}

// close ends the open chunk, if there is one.
func (s *splitter) close(done []chunk) []chunk {
	if s.open {
		done = append(done, s.cur)
	}
	*s = splitter{}
	return done
}

// begin opens a chunk of one line.
func (s *splitter) begin(at span, kind Kind) {
	*s = splitter{open: true, cur: chunk{start: at.start, end: at.end, kind: kind}, lines: 1, last: at}
}

// extend adds a line to the open chunk.
func (s *splitter) extend(at span) {
	s.cur.end = at.end
	s.blank = false
	s.last = at
	s.lines++
	if s.cur.kind == KindTable && s.head.end == 0 {
		s.head.end = at.end
	}
}

// room reports whether the open chunk may take another line.
func (s *splitter) room() bool {
	if s.full {
		return false
	}
	size := s.last.end - s.cur.start
	switch s.cur.kind {
	case KindText, KindQuote:
		return size < maxText
	case KindTable:
		return size < maxTable
	}
	return size < maxOther
}

// classify opens a chunk with the line at at.
func (s *splitter) classify(at span, columns int, rest []byte) {
	if columns >= 4 {
		s.begin(at, KindCode)
		return
	}
	if f, _ := fenceAt(rest); f.length > 0 {
		s.begin(at, KindCode)
		f.indent = columns
		s.cur.fence = f
		return
	}
	switch {
	case isHeading(rest):
		s.begin(at, KindHeading)
		return
	case isRule(rest):
		s.begin(at, KindRule)
		return
	case rest[0] == '>':
		s.begin(at, KindQuote)
		return
	case opensFold(rest):
		s.begin(at, KindFold)
		s.fold(rest)
		return
	}
	if b := bulletAt(rest, columns); b.kind != 0 {
		s.begin(at, KindList)
		s.bullet, s.number = b.kind, b.number
		s.item(columns, rest, b)
		return
	}
	if label, _ := footnoteLabel(rest); label != nil {
		s.begin(at, KindFootnote)
		return
	}
	s.begin(at, KindText)
	s.math = mathOpens(rest)
}

// continues reports whether the line belongs to the open chunk, and notes what
// the line opens or closes inside it. The line is not blank.
func (s *splitter) continues(columns int, rest []byte) bool {
	switch s.cur.kind {
	case KindFold:
		s.fold(rest)
		return true
	case KindList:
		return s.listContinues(columns, rest)
	case KindCode: // by indentation
		return columns >= 4
	case KindFootnote:
		if columns >= 4 || s.blank {
			return columns >= 4
		}
		label, _ := footnoteLabel(rest)
		return label == nil && !s.interrupts(columns, rest)
	}
	if s.math != "" {
		if mathCloses(rest, s.math) {
			s.math = ""
		}
		return true
	}
	if s.blank {
		switch {
		case s.cur.kind == KindText && columns < 4 && isDefinition(rest):
			s.cur.kind = KindDefinitions
			return true
		case s.cur.kind == KindDefinitions:
			return columns >= 4 || isDefinition(rest)
		}
		return false
	}
	if s.cur.kind == KindQuote && columns < 4 && rest[0] == '>' {
		return true
	}
	if s.interrupts(columns, rest) {
		return false
	}
	if s.cur.kind == KindText {
		switch {
		case columns < 4 && isDelimiterRow(rest):
			s.cur.kind = KindTable
			s.head = span{start: s.last.start}
		case columns < 4 && isDefinition(rest):
			s.cur.kind = KindDefinitions
		default:
			s.math = mathOpens(rest)
		}
	}
	return true
}

// interrupts reports whether the line begins a block although none has ended.
func (s *splitter) interrupts(columns int, rest []byte) bool {
	if columns >= 4 {
		return false
	}
	if f, _ := fenceAt(rest); f.length > 0 {
		return true
	}
	if isHeading(rest) || rest[0] == '>' || opensFold(rest) {
		return true
	}
	if isRule(rest) && (rest[0] != '-' || s.cur.kind != KindText) {
		return true // under a paragraph, a line of dashes makes it a heading
	}
	b := bulletAt(rest, columns)
	return b.kind != 0 && !b.empty && (b.kind != '.' && b.kind != ')' || b.number == 1)
}

// listContinues is continues for a list.
func (s *splitter) listContinues(columns int, rest []byte) bool {
	lazy := !s.blank
	if s.inner.length > 0 {
		if columns >= s.content {
			if s.inner.line(rest) {
				s.inner = fence{}
			}
			return true
		}
		s.inner, lazy = fence{}, false // the item ended, and with it the fence
	}
	if columns >= s.content {
		s.inside(rest)
		return true
	}
	if columns < 4 {
		if isRule(rest) {
			return false
		}
		if b := bulletAt(rest, columns); b.kind == s.bullet {
			if s.last.end-s.cur.start >= maxItems {
				s.full = true
				return true
			}
			s.item(columns, rest, b)
			return true
		}
	}
	return lazy && !s.interrupts(columns, rest)
}

// item notes the beginning of a top-level item.
func (s *splitter) item(columns int, rest []byte, b bullet) {
	s.content = columns + b.room
	s.number++
	s.inside(bytes.TrimLeft(rest[b.width:], " \t"))
}

// inside notes a fence that begins in the content of an item, also behind the
// marks of further items.
func (s *splitter) inside(rest []byte) {
	for range maxDepth {
		if f, _ := fenceAt(rest); f.length > 0 {
			s.inner = f
			return
		}
		b := bulletAt(rest, 0)
		if b.kind == 0 || b.empty {
			return
		}
		rest = bytes.TrimLeft(rest[b.width:], " \t")
	}
}

// fold notes what a line inside a details element opens and closes.
func (s *splitter) fold(rest []byte) {
	switch {
	case s.inner.length > 0:
		if s.inner.line(rest) {
			s.inner = fence{}
		}
	case opensFold(rest):
		s.depth++
		if bytes.Contains(bytes.ToLower(rest), []byte("</details>")) {
			s.depth--
		}
	case closesFold(rest):
		s.depth--
	default:
		s.inner, _ = fenceAt(rest)
	}
}
