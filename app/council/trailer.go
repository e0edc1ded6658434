package council

import (
	"strings"

	"conclave/app/base/limit"
)

// Trailer removes the JSON blocks called council from a member's words as they stream. Words outside
// of such blocks are shown; the last block counts. The zero value is ready.
type Trailer struct {
	held  string // white space that is dropped before a block
	line  string // the present line, as far as it was neither shown nor added to a block
	mid   bool   // its beginning was shown, or added to a block
	fence string // of the block that is read, or ""
	block strings.Builder
	last  string // the newest block
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
	var out strings.Builder
	for part := range strings.Lines(piece) {
		t.line += part
		whole := strings.HasSuffix(part, "\n")
		fence, is, may := opening(t.line)
		switch {
		case t.fence != "":
			if whole || len(t.line) > maxHeld {
				t.inside(whole)
			}
		case is && whole && !t.mid:
			t.held, t.line, t.fence = "", "", fence
			t.block.Reset()
		case may && !whole && !t.mid && len(t.held)+len(t.line) <= maxHeld: // the rest of the line decides
		default:
			out.WriteString(t.show(whole))
		}
	}
	return out.String()
}

// show returns what is held back. It goes on to hold back white space at the end.
func (t *Trailer) show(whole bool) string {
	text := t.held + t.line
	shown := strings.TrimRight(text, space)
	if len(text)-len(shown) > maxHeld {
		shown = text
	}
	t.held, t.line, t.mid = text[len(shown):], "", !whole
	return shown
}

// inside takes a line of a block, or a part of one, which closes nothing. The block is kept up to a
// length at which it is refused.
func (t *Trailer) inside(whole bool) {
	bare := strings.TrimSpace(t.line)
	if whole && !t.mid && len(bare) >= len(t.fence) && strings.Trim(bare, t.fence[:1]) == "" {
		t.last, t.fence, t.line = t.block.String(), "", ""
		return
	}
	room := max(limit.CouncilBlock+1-t.block.Len(), 0)
	t.block.WriteString(t.line[:min(len(t.line), room)])
	t.line, t.mid = "", !whole
}

// End ends the text. It returns held text to show, and the last block, which may be cut off, or "".
func (t *Trailer) End() (shown, block string) {
	if t.fence != "" {
		t.line += "\n"
		if t.inside(true); t.fence != "" {
			t.last, t.fence = t.block.String(), ""
		}
	} else if _, is, _ := opening(t.line); !is {
		shown = strings.TrimRight(t.held+t.line, space)
	}
	t.held, t.line, t.mid = "", "", false
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
