package render

import "bytes"

// Nesting that goldmark is allowed to see. Deeper than this no text is meant,
// and its cost grows with the square of the depth.
const (
	maxDepth  = 16 // quotes, lists and footnotes opened on one line
	maxIndent = 80 // columns before a list mark
)

// flatten returns src without the marks of quotes, lists and footnotes deeper
// than maxDepth on one line, and without indentation over maxIndent columns
// if a list goes that deep. It returns src itself when there is nothing to do.
func flatten(src []byte) []byte {
	deep, far := false, false
	for line := range bytes.Lines(src) {
		kept, cut, columns := marks(line)
		deep = deep || cut > kept
		far = far || columns > maxIndent
	}
	if !deep && !far {
		return src
	}
	out := make([]byte, 0, len(src))
	for line := range bytes.Lines(src) {
		if columns, at := indentOf(line); far && columns > maxIndent {
			out = append(out, bytes.Repeat([]byte{' '}, maxIndent)...)
			line = line[at:]
		}
		kept, cut, _ := marks(line)
		out = append(out, line[:kept]...)
		out = append(out, line[cut:]...)
	}
	return out
}

// marks reads the marks of quotes, lists and footnotes at the beginning of line. What lies
// between kept and cut is too deep. columns is the widest white space before a
// list mark.
func marks(line []byte) (kept, cut, columns int) {
	at := 0
	for depth := 1; ; depth++ {
		gap, n := indentOf(line[at:])
		rest := line[at+n:]
		if len(rest) == 0 {
			break
		}
		step := 0
		if rest[0] == '>' {
			step = 1
		} else if b := bulletAt(bytes.TrimRight(rest, "\n"), 0); b.kind != 0 {
			step = b.width
			columns = max(columns, gap)
		} else if label, after := footnoteLabel(bytes.TrimRight(rest, "\n")); label != nil {
			step = after
		} else {
			break
		}
		at += n + step
		if depth <= maxDepth {
			kept = at
		}
	}
	return kept, max(kept, at), columns
}
