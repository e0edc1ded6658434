package council

import (
	"strings"

	"conclave/app/base/limit"
)

// Trailer removes the JSON blocks called council from a member's words as they stream. Words outside
// of such blocks are shown; the last block counts. The zero value is ready.
type Trailer struct {
	pending string // written, and neither shown nor in a block yet
	mid     bool   // pending begins within a line
	fence   string // of the block that is read, or ""
	block   strings.Builder
	last    string // the newest block
}

// maxHeld bounds, in bytes, the text that is held back because a block may begin there.
const maxHeld = 1 << 10

// blockName is the info string of the block at the end of an answer.
const blockName = "council"

// space is the white space that is dropped before a block.
const space = " \t\r\n"

// Write takes the next piece of text and returns the part to show. It holds back what may belong to a
// block.
func (t *Trailer) Write(piece string) (shown string) {
	t.pending += piece
	var out strings.Builder
	for {
		line, rest, whole := strings.Cut(t.pending, "\n")
		switch {
		case t.fence != "" && whole:
			t.pending = rest
			t.inside(line)
		case t.fence != "":
			if len(line) > maxHeld { // it closes nothing, and the block is read no further in it
				t.keep(line)
				t.pending, t.mid = "", true
			}
			return out.String()
		default:
			before, fence, after, found := t.opens()
			if !found {
				out.WriteString(t.release())
				return out.String()
			}
			out.WriteString(strings.TrimRight(before, space))
			t.pending, t.mid, t.fence = after, false, fence
			t.block.Reset()
		}
	}
}

// opens finds the first whole pending line that opens a block.
func (t *Trailer) opens() (before, fence, after string, found bool) {
	mid := t.mid
	for at := 0; ; mid = false {
		line, rest, whole := strings.Cut(t.pending[at:], "\n")
		if !whole {
			return "", "", "", false
		}
		if fence, is, _ := opening(line); is && !mid {
			return t.pending[:at], fence, rest, true
		}
		at += len(line) + 1
	}
}

// release returns the pending text to show: all but a last line that may open a block, with the white
// space before it.
func (t *Trailer) release() string {
	start := strings.LastIndexByte(t.pending, '\n') + 1
	if _, _, may := opening(t.pending[start:]); !may || start == 0 && t.mid {
		start = len(t.pending)
	}
	shown := strings.TrimRight(t.pending[:start], space)
	if len(t.pending)-len(shown) > maxHeld {
		shown = t.pending
	}
	if t.pending = t.pending[len(shown):]; shown != "" {
		t.mid = !strings.HasSuffix(shown, "\n")
	}
	return shown
}

// inside takes a line of a block, or the rest of one.
func (t *Trailer) inside(line string) {
	if bare := strings.TrimSpace(line); !t.mid && len(bare) >= len(t.fence) && strings.Trim(bare, t.fence[:1]) == "" {
		t.last, t.fence = t.block.String(), ""
		return
	}
	t.keep(line + "\n")
	t.mid = false
}

// keep adds to the block, up to a length at which it is refused.
func (t *Trailer) keep(text string) {
	room := max(limit.CouncilBlock+1-t.block.Len(), 0)
	t.block.WriteString(text[:min(len(text), room)])
}

// End ends the text. It returns held text to show, and the last block, which may be cut off, or "".
func (t *Trailer) End() (shown, block string) {
	if t.fence != "" {
		if t.inside(t.pending); t.fence != "" {
			t.last, t.fence = t.block.String(), ""
		}
	} else if start := strings.LastIndexByte(t.pending, '\n') + 1; start > 0 || !t.mid {
		if _, is, _ := opening(t.pending[start:]); !is {
			shown = strings.TrimRight(t.pending, space)
		}
	} else {
		shown = strings.TrimRight(t.pending, space)
	}
	t.pending, t.mid = "", false
	return shown, t.last
}

// opening reports whether a line opens a block called council, and with which fence; may reports that
// it could once it goes on.
func opening(line string) (fence string, is, may bool) {
	rest := strings.TrimLeft(line, " \t")
	if rest == "" {
		return "", false, true
	}
	if rest[0] != '`' && rest[0] != '~' {
		return "", false, false
	}
	name := strings.TrimLeft(rest, rest[:1])
	if fence = rest[:len(rest)-len(name)]; len(fence) > 20 {
		return "", false, false
	}
	said := strings.ToLower(strings.TrimSpace(name))
	return fence, len(fence) >= 3 && said == blockName, said == "" || len(fence) >= 3 && strings.HasPrefix(blockName, said)
}

// Split divides a whole text into the part to show and the last block, or "".
func Split(said string) (shown, block string) {
	var t Trailer
	shown = t.Write(said)
	rest, block := t.End()
	return strings.TrimRight(shown+rest, space), block
}
