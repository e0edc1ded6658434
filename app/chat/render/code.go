package render

import (
	"bytes"
	"strconv"
	"strings"

	"conclave/app/chat/render/syntax"
)

// Code of more than foldOver lines shows foldHead of them and folds the rest.
const (
	foldOver = 400
	foldHead = 40
)

// maxColoured is the longest line of code that is coloured, in bytes. Longer
// ones are data or minified, and would be thousands of spans.
const maxColoured = 4 << 10

// painted is the code of one block, coloured as far as its lines are complete.
// The zero value is none.
type painted struct {
	begun bool
	start int    // of the chunk that it belongs to
	pos   int    // what lies before, in the text, is in html
	name  string // the language as the text names it, fit for an attribute
	lang  *syntax.Language
	state syntax.State
	strip int // columns to take off each line
	html  []byte
	units int // how long html is in UTF-16 units
	count int // lines in html
	fold  int // where the first foldHead of them end in html
}

// newPainted begins with the code chunk c of text.
func newPainted(text []byte, c chunk) painted {
	p := painted{begun: true, start: c.start, pos: c.start, strip: 4}
	if c.fence.length == 0 {
		return p
	}
	first, _, _ := bytes.Cut(text[c.start:c.end], []byte("\n"))
	if p.pos += len(first); p.pos < len(text) {
		p.pos++
	}
	p.strip = c.fence.indent
	p.called(strings.TrimLeft(string(bytes.TrimSpace(first)), "`~"))
	return p
}

// called notes what stands after the fence: "go", "{.python}", "js title=x".
func (p *painted) called(info string) {
	word, _, _ := strings.Cut(strings.TrimSpace(info), " ")
	word = strings.Trim(word, "{}.")
	word, _, _ = strings.Cut(word, ",")
	word = strings.ToLower(word)
	for i := 0; i < len(word); i++ {
		c := word[i]
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || strings.IndexByte("+#._-", c) >= 0) || i == 32 {
			return
		}
	}
	p.name = word
	p.lang = syntax.Find(word)
}

// lines adds those lines of text that are complete.
func (p *painted) lines(text []byte) {
	for p.pos < len(text) {
		n := bytes.IndexByte(text[p.pos:], '\n')
		if n < 0 {
			return
		}
		before := len(p.html)
		p.html, p.state = p.line(p.html, p.state, text[p.pos:p.pos+n])
		p.html = append(p.html, '\n')
		p.units += utf16Len(p.html[before:])
		p.pos += n + 1
		if p.count++; p.count == foldHead {
			p.fold = len(p.html)
		}
	}
}

// line appends one line to dst.
func (p *painted) line(dst []byte, st syntax.State, line []byte) ([]byte, syntax.State) {
	src := string(unindent(line, p.strip))
	if p.lang == nil || len(src) > maxColoured {
		return syntax.AppendEscaped(dst, src), st
	}
	return p.lang.Line(dst, st, src)
}

// unindent takes up to columns of white space off the line.
func unindent(line []byte, columns int) []byte {
	for columns > 0 && len(line) > 0 && (line[0] == ' ' || line[0] == '\t') {
		if line[0] == '\t' {
			columns -= 4
		} else {
			columns--
		}
		line = line[1:]
	}
	return line
}

// grows reports whether open code is shown line by line. Diagrams and formulas
// are not: the window draws them once they are complete.
func (p *painted) grows() bool { return p.name != "mermaid" && p.name != "math" }

// label returns what the head of the figure calls the language.
func (p *painted) label() string {
	switch {
	case p.lang != nil:
		return p.lang.Name()
	case p.name == "":
		return "Text"
	}
	return p.name
}

// growing returns the HTML of code that is still being written; p.lines has taken
// all of it. Its complete lines are in a first code element, which only
// grows; what there is of the next line is in a second. It has no number of
// lines and is not folded: code does not vanish from under who reads it. same is
// how much of the HTML, in bytes and in UTF-16 units, stays as more is added.
func (p *painted) growing(text []byte) (html string, same, units int) {
	head := `<figure class="code" data-lang="` + p.name + `"><figcaption><span class="code-lang">` + p.label() +
		`</span></figcaption><pre tabindex="0"><code>`
	tail, _ := p.line(nil, p.state, text[min(p.pos, len(text)):])
	const seam, end = `</code><code>`, "</code></pre></figure>\n"
	var b strings.Builder
	b.Grow(len(head) + len(p.html) + len(seam) + len(tail) + len(end))
	b.WriteString(head)
	b.Write(p.html)
	b.WriteString(seam)
	b.Write(tail)
	b.WriteString(end)
	return b.String(), len(head) + len(p.html), len(head) + p.units
}

// utf16Len returns how many UTF-16 units the UTF-8 text b has.
func utf16Len(b []byte) int {
	n := 0
	for _, c := range b {
		if c < 0x80 || c >= 0xC0 { // the first byte of a character
			n++
		}
		if c >= 0xF0 { // one that takes two
			n++
		}
	}
	return n
}

// figure returns the HTML of the complete code in text; p.lines has taken all of
// it. A last line without an end counts.
//
// The window finds the language in data-lang, the number of lines in
// data-lines, and the code, for copying, as the text of all code elements in
// the figure, one after the other.
func (p *painted) figure(text []byte) string {
	body, count := p.html, p.count
	if p.pos < len(text) {
		body, _ = p.line(body[:len(body):len(body)], p.state, text[p.pos:])
		count++
	}
	switch p.name {
	case "mermaid":
		return `<pre class="mermaid" data-source="` + string(body) + `">` + string(body) + "</pre>\n"
	case "math":
		return `<div class="math" data-tex="` + string(body) + `">` + string(body) + "</div>\n"
	}
	lines := grouped(count) + " lines"
	if count == 1 {
		lines = "1 line"
	}
	var b strings.Builder
	b.Grow(len(body) + 400)
	b.WriteString(`<figure class="code" data-lang="` + p.name + `" data-lines="` + strconv.Itoa(count) + `">`)
	b.WriteString(`<figcaption><span class="code-lang">` + p.label() + `</span> <span class="code-lines">` + lines +
		`</span></figcaption>`)
	b.WriteString(`<pre tabindex="0"><code>`)
	if count <= foldOver {
		b.Write(body)
		b.WriteString("</code></pre></figure>\n")
		return b.String()
	}
	b.Write(body[:p.fold])
	b.WriteString(`</code></pre><details class="code-rest"><summary>Show all ` + lines +
		`</summary><pre tabindex="0"><code>`)
	b.Write(body[p.fold:])
	b.WriteString("</code></pre></details></figure>\n")
	return b.String()
}

// figureOf returns the HTML of code that stands inside another block.
func figureOf(info, code string) string {
	p := painted{begun: true}
	p.called(info)
	text := []byte(code)
	p.lines(text)
	return p.figure(text)
}

// grouped writes n with a comma between thousands: 1,240.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
