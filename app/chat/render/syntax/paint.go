package syntax

// class describes what a piece of text is. Its CSS class is in classNames.
type class uint8

const (
	plain class = iota
	keyword
	value
	typ
	builtin
	function
	variable
	attribute
	tag
	str
	number
	comment
	marker
	heading
	inserted
	deleted
	strong
)

// classNames are the short names of Pygments, for the few kinds that are distinguished.
var classNames = [...]string{
	plain: "", keyword: "k", value: "kc", typ: "kt", builtin: "nb", function: "nf",
	variable: "nv", attribute: "na", tag: "nt", str: "s", number: "m", comment: "c",
	marker: "nd", heading: "gh", inserted: "gi", deleted: "gd", strong: "gs",
}

// painter writes one line. What lies between done and the next span is plain.
type painter struct {
	dst  []byte
	src  string
	done int
	lang *Language
}

// flush writes what is plain up to end.
func (p *painter) flush(end int) {
	if end > p.done {
		p.dst = AppendEscaped(p.dst, p.src[p.done:end])
		p.done = end
	}
}

// span writes src[from:to] in the given class.
func (p *painter) span(from, to int, c class) {
	if c == plain || from >= to {
		return
	}
	p.flush(from)
	p.dst = append(p.dst, `<span class="`...)
	p.dst = append(p.dst, classNames[c]...)
	p.dst = append(p.dst, `">`...)
	p.dst = AppendEscaped(p.dst, p.src[from:to])
	p.dst = append(p.dst, `</span>`...)
	p.done = to
}

// AppendEscaped appends s to dst with the characters escaped that mean
// something in HTML text or in a quoted attribute.
func AppendEscaped(dst []byte, s string) []byte {
	from := 0
	for i := 0; i < len(s); i++ {
		var esc string
		switch s[i] {
		case '<':
			esc = "&lt;"
		case '>':
			esc = "&gt;"
		case '&':
			esc = "&amp;"
		case '"':
			esc = "&#34;"
		case '\'':
			esc = "&#39;"
		default:
			continue
		}
		dst = append(dst, s[from:i]...)
		dst = append(dst, esc...)
		from = i + 1
	}
	return append(dst, s[from:]...)
}
