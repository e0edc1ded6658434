package jsonobject

import "fmt"

// Inert escapes the control characters that JSON allows in strings and a terminal obeys: U+007F to
// U+009F.
func Inert(raw []byte) []byte {
	var out []byte
	from := 0
	for i := 0; i < len(raw); i++ {
		c, size := raw[i], 1
		if c == 0xc2 && i+1 < len(raw) && raw[i+1] < 0xa0 {
			c, size = raw[i+1], 2
		} else if c != 0x7f {
			continue
		}
		out = fmt.Appendf(append(out, raw[from:i]...), "\\u%04x", c)
		i += size - 1
		from = i + 1
	}
	if from == 0 {
		return raw
	}
	return append(out, raw[from:]...)
}
