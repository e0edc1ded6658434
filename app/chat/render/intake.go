package render

import "unicode/utf8"

// intake makes what comes in valid: UTF-8 with U+FFFD for what is not, line
// feeds for every kind of line end, no NUL (CommonMark 0.31.2, section 2.3). A
// character or line end that is cut by the border of two deltas waits.
type intake struct {
	cut [utf8.UTFMax]byte // the beginning of a character
	n   int               // how much of cut is used
	cr  bool              // a carriage return came last; its line feed is written
}

// append adds s to dst.
func (in *intake) append(dst []byte, s string) []byte {
	for in.n > 0 && s != "" {
		in.cut[in.n] = s[0]
		in.n++
		s = s[1:]
		if utf8.FullRune(in.cut[:in.n]) {
			held := in.cut
			n := in.n
			in.n = 0
			dst = in.append(dst, string(held[:n]))
		}
	}
	from := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf && c != '\r' && c != 0 && !(c == '\n' && in.cr) {
			in.cr = false
			i++
			continue
		}
		if c >= utf8.RuneSelf {
			in.cr = false
			if !utf8.FullRuneInString(s[i:]) {
				dst = append(dst, s[from:i]...)
				in.n = copy(in.cut[:], s[i:])
				return dst
			}
			if r, size := utf8.DecodeRuneInString(s[i:]); r != utf8.RuneError || size > 1 {
				i += size
				continue
			}
		}
		dst = append(dst, s[from:i]...)
		switch c {
		case '\r':
			dst = append(dst, '\n')
			in.cr = true
		case '\n': // of a pair, already written
			in.cr = false
		default:
			dst = append(dst, "\uFFFD"...)
			in.cr = false
		}
		i++
		from = i
	}
	return append(dst, s[from:]...)
}

// finish adds what was still waiting.
func (in *intake) finish(dst []byte) []byte {
	for range in.n {
		dst = append(dst, "\uFFFD"...)
	}
	in.n = 0
	return dst
}
