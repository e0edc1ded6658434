package terminal

import (
	"io"
	"sync"
)

// Plain returns a writer for a terminal that passes text, line ends and tabs and drops other
// control characters. Text of models, tools and plugins is untrusted, and escape sequences can
// repaint a question, set the clipboard or answer for the person. It is safe for concurrent use.
func Plain(w io.Writer) io.Writer { return &plain{w: w} }

type plain struct {
	mu   sync.Mutex // guards the fields below
	w    io.Writer
	lead bool // the last byte was 0xC2, which may begin a control character
	b    []byte
}

// Write implements io.Writer. What it drops counts as written.
func (p *plain) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.b = p.b[:0]
	for _, c := range text {
		if p.lead {
			p.lead = false
			if c >= 0x80 && c < 0xa0 { // U+0080 to U+009F, ISO 6429's C1 set in UTF-8
				continue
			}
			p.b = append(p.b, 0xc2)
		}
		switch {
		case c == 0xc2:
			p.lead = true
		case c >= 0x20 && c != 0x7f, c == '\n', c == '\t':
			p.b = append(p.b, c)
		}
	}
	if len(p.b) > 0 {
		if _, err := p.w.Write(p.b); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}
