package render

import "bytes"

// mended returns src, an open block, as it will probably look: with the
// emphasis and code closed that are open at its end, a link whose target has not
// arrived yet as its text, and without a comment that has not ended. So the marks do not flicker. It looks at
// the last paragraph only and need not be right, since the finished block is
// rendered without it.
func mended(src []byte, kind Kind) []byte {
	if kind == KindRule || kind == KindFold {
		return src
	}
	from := bytes.LastIndex(src, []byte("\n\n")) + 1
	if kind == KindTable || kind == KindList {
		from = bytes.LastIndexByte(src, '\n') + 1
	}
	last := src[from:]
	if len(last) > eager { // emphasis over pages is a lone asterisk
		return src
	}
	var open []string // the marks that are open, innermost last
	link := -1        // where the text of a link ends whose target has not
	for i := 0; i < len(last); {
		c := last[i]
		n := runOf(last[i:], c)
		switch {
		case c == '\\':
			i += 2
			continue
		case c == '`':
			mark := string(last[i : i+n])
			end := bytes.Index(last[i+n:], []byte(mark))
			if end < 0 {
				if i+n == len(last) {
					return src // nothing in it yet
				}
				return join(src, mark, open)
			}
			i += end + 2*n
			continue
		case bytes.HasPrefix(last[i:], []byte("<!--")):
			end := bytes.Index(last[i:], []byte("-->"))
			if end < 0 { // a comment is not shown
				return join(src[:from+i], "", open)
			}
			i += end + 3
			continue
		case c == ']' && i+1 < len(last) && last[i+1] == '(':
			if bytes.IndexByte(last[i:], ')') < 0 {
				link = i
			}
		case (c == '*' || c == '~') && n == 2:
			mark := string(last[i : i+2])
			if k := len(open) - 1; k >= 0 && open[k] == mark {
				open = open[:k]
			} else if i+2 < len(last) && last[i+2] != ' ' && last[i+2] != '\n' {
				open = append(open, mark)
			}
			i += n
			continue
		}
		i++
	}
	if link >= 0 {
		if k := bytes.LastIndexByte(last[:link], '['); k >= 0 {
			text := bytes.Clone(src[:from+k])
			return join(append(bytes.TrimSuffix(text, []byte("!")), last[k+1:link]...), "", open)
		}
	}
	if n, k := len(last), len(open)-1; n > 1 && k >= 0 {
		switch {
		case last[n-1] == ' ':
			return src // no mark may close here
		case last[n-1] == open[k][0] && last[n-2] != open[k][0]:
			return join(src, open[k][1:], open[:k]) // half of it is there
		}
	}
	return join(src, "", open)
}

// join returns a copy of src with mark and the open marks, from the innermost
// out, behind it.
func join(src []byte, mark string, open []string) []byte {
	out := append(bytes.Clone(src), mark...)
	for i := len(open) - 1; i >= 0; i-- {
		out = append(out, open[i]...)
	}
	return out
}
