package render

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Stream renders a text that is still being written. The zero value is ready
// to use. It is not safe for concurrent use.
//
//	s.Append(delta)           // for every delta, cheap
//	for _, p := range s.Patches() { … }  // at most once a frame
//	s.Finish()                // and Patches once more
//
// After Finish, Blocks returns what Render returns for the whole text, however
// it was cut into deltas.
type Stream struct {
	in       intake
	text     []byte
	next     int  // where the first line begins that split has not had
	mid      bool // that line is the rest of one that was too long
	split    splitter
	chunks   []chunk // finished, in order
	blocks   []block // one for each of them, and behind them what is open
	rendered int     // how many of chunks have been
	known    definitions
	open     painted // the code block that is open
	growing  growing // the table or paragraph that is open
	changed  []int   // the blocks that Patches has to report
	reported int     // how many blocks it has returned
	finished bool
}

// block is a block as it was last rendered.
type block struct {
	html     string
	fixed    extent   // the beginning of html that stays while the block is open
	reported extent   // what of it Patches has reported
	size     int      // how long its source was
	done     bool     // rendered for good, but for definitions that come later
	changed  bool     // Patches has not reported it
	missed   []string // the labels that it looked up and nothing had defined
}

// extent is the length of a beginning of some HTML, in two measures.
type extent struct{ bytes, units int }

// Append adds what the model has said next. It renders nothing. It must not be
// called after Finish.
func (s *Stream) Append(delta string) {
	if s.finished {
		panic("render: Append after Finish")
	}
	s.text = s.in.append(s.text, delta)
	s.advance()
}

// advance gives split the lines that are complete.
func (s *Stream) advance() {
	from := s.next
	for {
		// The search begins again at the start of the line with every delta, and scans
		// at most maxLine bytes.
		n := bytes.IndexByte(s.text[from:min(len(s.text), from+maxLine+1)], '\n')
		if n >= 0 {
			s.chunks = s.split.line(s.chunks, s.text, span{from, from + n}, s.mid)
			from += n + 1
			s.mid = false
		} else if len(s.text)-from > maxLine {
			end := cutAt(s.text[from : from+maxLine])
			s.chunks = s.split.line(s.chunks, s.text, span{from, from + end}, s.mid)
			from += end
			s.mid = true
		} else {
			break
		}
	}
	s.next = from
}

// cutAt returns where a line that is too long is cut: behind a space near the
// end, or else at the border of a character.
func cutAt(line []byte) int {
	if k := bytes.LastIndexByte(line[len(line)-256:], ' '); k >= 0 {
		return len(line) - 256 + k + 1
	}
	end := len(line)
	for end > len(line)-utf8.UTFMax && !utf8.RuneStart(line[end-1]) {
		end--
	}
	if end > 0 && utf8.FullRune(line[end-1:]) {
		return len(line)
	}
	return end - 1
}

// Finish says that the text is complete. Calling it again does nothing.
func (s *Stream) Finish() {
	if s.finished {
		return
	}
	s.text = s.in.finish(s.text)
	s.advance()
	if s.next < len(s.text) {
		s.chunks = s.split.line(s.chunks, s.text, span{s.next, len(s.text)}, s.mid)
		s.next = len(s.text)
	}
	s.chunks = s.split.close(s.chunks)
	s.finished = true
}

// Patches returns the blocks that have changed since the last call, in order.
// Applied one after the other they make what Blocks returns. An open block that
// is long is left out until it has grown enough (see the package comment); no
// text is left out for good.
func (s *Stream) Patches() []Patch {
	s.update()
	slices.Sort(s.changed)
	patches := make([]Patch, 0, len(s.changed))
	for _, i := range s.changed {
		for ; s.reported < i; s.reported++ { // blocks that show nothing yet
			if !s.blocks[s.reported].changed {
				patches = append(patches, Patch{Block: s.reported})
			}
		}
		s.reported = max(s.reported, i+1)
		b := &s.blocks[i]
		b.changed = false
		patches = append(patches, Patch{
			Block: i, HTML: b.html, Same: b.reported.bytes, SameUTF16: b.reported.units, Done: b.done,
		})
		b.reported = b.fixed
	}
	s.changed = s.changed[:0]
	return patches
}

// Blocks returns the blocks as they are now. Before Finish, the last one or two
// may yet change. It takes nothing away from what Patches returns.
func (s *Stream) Blocks() []Block {
	s.update()
	list := make([]Block, 0, len(s.blocks))
	for i, b := range s.blocks {
		kind := s.split.cur.kind
		if i < len(s.chunks) {
			kind = s.chunks[i].kind
		}
		list = append(list, Block{HTML: b.html, Kind: kind})
	}
	return list
}

// update renders what is new.
func (s *Stream) update() {
	for ; s.rendered < len(s.chunks); s.rendered++ {
		s.renderFinished(s.rendered)
	}
	if s.finished {
		s.revise()
	} else {
		s.preview()
	}
}

// renderFinished renders a finished chunk.
func (s *Stream) renderFinished(i int) {
	c, b := s.chunks[i], s.block(i)
	b.fixed, b.reported = extent{}, extent{}
	if c.kind == KindCode {
		s.paint(c)
		b.html = s.open.figure(s.text[:s.codeEnd(c)])
		s.open = painted{}
	} else {
		var seen lookups
		b.html, seen = s.markdown(c, s.text[c.start:c.end])
		s.known.add(seen)
		b.missed = seen.missed
	}
	b.size, b.done = c.end-c.start, true
	s.change(i)
}

// revise renders those blocks again that named what was defined after them.
func (s *Stream) revise() {
	for i := range s.blocks {
		b := &s.blocks[i]
		if len(b.missed) == 0 || !s.known.any(b.missed) {
			continue
		}
		b.missed = nil
		c := s.chunks[i]
		if html, _ := s.markdown(c, s.text[c.start:c.end]); html != b.html {
			b.html = html
			s.change(i)
		}
	}
}

// preview renders what is open: the block that the next line may still join,
// and the one that the unfinished line may have begun behind it.
func (s *Stream) preview() {
	tail := span{s.next, len(s.text)}
	line := s.text[tail.start:tail.end]
	at := len(s.chunks)
	split := s.split
	switch {
	case s.unclear(line) || isBlank(line):
		tail.end = tail.start
	case split.open && s.joins(split):
		split.cur.end = tail.end
	default:
		closed := split.line(nil, s.text, tail, s.mid)
		if s.split.open && len(closed) > 0 {
			s.show(at, s.split.cur, true)
			at++
		}
		if !split.open { // a heading or rule, which closed itself
			split = splitter{open: true, cur: chunk{start: tail.start, kind: KindText}}
		}
		split.cur.end = tail.end
	}
	if split.open && !s.holds(split, tail) {
		s.show(at, split.cur, false)
	}
}

// joins reports whether the unfinished line is shown as part of the open block
// whatever it begins with. It is unless a blank line came before: goldmark finds
// a block that interrupts another by itself, and the border is drawn when the
// line is complete.
func (s *Stream) joins(split splitter) bool {
	if split.cur.kind == KindCode {
		return s.mid || split.cur.fence.length > 0
	}
	return s.mid || !split.blank
}

// show renders the open chunk c as block i if it is due, or now.
func (s *Stream) show(i int, c chunk, now bool) {
	b := s.block(i)
	size := c.end - c.start
	if size == b.size || !now && !s.due(c, b.size) {
		return
	}
	b.size = size
	var html string
	var fixed extent
	if c.kind != KindCode {
		var pieces bool
		if s.grows(c) {
			html, fixed, pieces = s.grow(c)
		}
		if !pieces {
			html, _ = s.markdown(c, mended(s.text[c.start:c.end], c.kind))
		}
	} else if s.paint(c); s.open.grows() {
		html, fixed.bytes, fixed.units = s.open.growing(s.text[:s.codeEnd(c)])
	} else {
		html = s.open.figure(s.text[:s.codeEnd(c)])
	}
	if b.reported.bytes > len(html) || html[:b.reported.bytes] != b.html[:b.reported.bytes] {
		b.reported = extent{} // another block stands here now
	}
	b.fixed = fixed
	if html != b.html {
		b.html = html
		s.change(i)
	}
}

// block returns block i, which may be new.
func (s *Stream) block(i int) *block {
	for len(s.blocks) <= i {
		s.blocks = append(s.blocks, block{})
	}
	return &s.blocks[i]
}

// change notes that Patches has to report block i.
func (s *Stream) change(i int) {
	if b := &s.blocks[i]; !b.changed {
		b.changed = true
		s.changed = append(s.changed, i)
	}
}

// Up to eager bytes an open block is rendered whenever it has changed, beyond
// that, unless it is code or rendered by pieces of that size, when it has grown by
// its lag-th part. Rendering 2 KiB takes some 100 µs,
// which nobody notices; and a text of n bytes in one block is then rendered
// lag × n bytes' worth in all, instead of n²/2 over the length of a delta.
const (
	eager = 2 << 10
	lag   = 32
)

// due reports whether the open chunk c is to be rendered, having been so when it
// was before bytes long. Of code only the line that is not complete counts: those
// before it are rendered already.
func (s *Stream) due(c chunk, before int) bool {
	size := c.end - c.start
	if c.kind == KindCode && s.open.begun && s.open.start == c.start && s.open.grows() {
		lines := s.open.pos - c.start
		size, before = size-lines, before-lines
	}
	return size <= eager || s.grows(c) || size < before || size-before >= (size-eager)/lag
}

// grows reports whether the open chunk c is long and rendered piece by piece, as
// far as is known.
func (s *Stream) grows(c chunk) bool {
	g := &s.growing
	return (c.kind == KindText || c.kind == KindTable) && c.end-c.start > eager &&
		!(g.whole && g.start == c.start && g.kind == c.kind)
}

// unclear reports whether the last line may yet turn out to be something else
// altogether, so that showing it now would make the text jump: the beginning of
// a list mark, a fence, a rule, the underline of a heading. It never holds
// back more than a few characters, the first line of a fence, a definition, or a comment.
func (s *Stream) unclear(line []byte) bool {
	if len(line) > maxInfo || s.mid {
		return false
	}
	_, i := indentOf(line)
	rest := bytes.TrimRight(line[i:], " \t")
	if s.split.open && s.split.cur.fence.length > 0 {
		return len(rest) > 0 && runOf(rest, s.split.cur.fence.char) == len(rest)
	}
	if len(rest) >= 3 && (rest[0] == '`' || rest[0] == '~') && runOf(rest, rest[0]) >= 3 {
		return true
	}
	if len(rest) > 1 && rest[0] == '[' && rest[1] != '^' {
		end := bytes.IndexByte(rest, ']')
		return end < 0 && len(rest) < 100 || end == len(rest)-1 || end >= 0 && rest[end+1] == ':'
	}
	if maybeLeftOut(rest) {
		return true
	}
	digits := 0
	for digits < len(rest) && rest[digits] >= '0' && rest[digits] <= '9' {
		digits++
	}
	if digits > 0 && digits < 10 {
		return digits == len(rest) || digits+1 == len(rest) && (rest[digits] == '.' || rest[digits] == ')')
	}
	return len(rest) > 0 && len(bytes.Trim(rest, "-=*+_`~:#>|\\$[]^")) == 0
}

// holds reports whether the open block is only the first row of what looks like
// a table, so that its second line may come next.
func (s *Stream) holds(split splitter, tail span) bool {
	c := split.cur
	if c.kind != KindText || s.mid || s.text[c.start] != '|' {
		return false
	}
	if c.start == tail.start {
		return tail.end-tail.start < 500
	}
	return split.lines == 1 && !split.blank && len(bytes.Trim(s.text[tail.start:tail.end], "|:- \t")) == 0
}

// paint colours the lines of the code chunk c that are complete. Those of an open
// one are coloured once and kept.
func (s *Stream) paint(c chunk) {
	end := s.codeEnd(c)
	if !s.open.begun || s.open.start != c.start || s.open.pos > end {
		s.open = newPainted(s.text, c)
	}
	s.open.lines(s.text[:end])
}

// codeEnd returns where the code of the chunk c ends: before the closing fence.
func (s *Stream) codeEnd(c chunk) int {
	if !c.closed {
		return c.end
	}
	return c.start + bytes.LastIndexByte(s.text[c.start:c.end], '\n') + 1
}
