package render

import (
	"bytes"
	"strings"
)

// What a line looks like at its beginning, as far as borders of blocks need it
// (CommonMark 0.31.2, sections 4 and 5). A line is without its line feed.

// isBlank reports whether line is empty to the eye.
func isBlank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' {
			return false
		}
	}
	return true
}

// indentOf returns the columns before the first character and its place. A tab
// goes to the next column that four divides.
func indentOf(line []byte) (columns, at int) { return indentFrom(line, 0) }

// indentFrom is indentOf for a part of a line that begins at column from.
func indentFrom(line []byte, from int) (columns, at int) {
	column := from
	for ; at < len(line) && (line[at] == ' ' || line[at] == '\t'); at++ {
		if line[at] == '\t' {
			column += 4 - column%4
		} else {
			column++
		}
	}
	return column - from, at
}

// fence is an opened code fence. The zero value is none.
type fence struct {
	char   byte
	length int
	indent int
	nests  bool // its content is Markdown or text, which may hold fences
	depth  int  // of the fences that are open within it
}

// fenceAt returns the fence that rest, a line without its indentation, opens,
// and what stands after it.
func fenceAt(rest []byte) (fence, []byte) {
	if len(rest) < 3 || len(rest) > maxInfo || rest[0] != '`' && rest[0] != '~' {
		return fence{}, nil
	}
	n := runOf(rest, rest[0])
	info := rest[n:]
	if n < 3 || rest[0] == '`' && bytes.IndexByte(info, '`') >= 0 {
		return fence{}, nil
	}
	return fence{char: rest[0], length: n, nests: nesting(info)}, info
}

// nesting reports whether the words behind a fence call its content Markdown or text.
// Models write files that hold their own fences, and do not make the outer one longer.
func nesting(info []byte) bool {
	language, _, _ := bytes.Cut(bytes.TrimLeft(info, " \t"), []byte(" "))
	language = bytes.TrimRight(language, "\t\r\n")
	for _, name := range []string{"markdown", "md", "mdx", "text", "txt"} {
		if bytes.EqualFold(language, []byte(name)) {
			return true
		}
	}
	return false
}

// line takes in a line of the fence's content, without its indentation, and reports
// whether it ends the fence.
func (f *fence) line(rest []byte) bool {
	if f.closes(rest) {
		if f.depth == 0 {
			return true
		}
		f.depth--
		return false
	}
	if f.nests {
		if inner, info := fenceAt(rest); inner.char == f.char && inner.length >= f.length && !isBlank(info) {
			f.depth++
		}
	}
	return false
}

// maxInfo is the longest line that opens a fence, in bytes, so that it can be
// waited for. A language and a file name need fifty.
const maxInfo = 1000

// closes reports whether rest, a line without its indentation, ends f.
func (f fence) closes(rest []byte) bool {
	n := runOf(rest, f.char)
	return n >= f.length && isBlank(rest[n:])
}

// runOf returns how often c stands at the beginning of b.
func runOf(b []byte, c byte) int {
	n := 0
	for n < len(b) && b[n] == c {
		n++
	}
	return n
}

// bullet is the mark of a list item. The zero value is none.
type bullet struct {
	kind   byte // '-', '*', '+', '.' or ')'
	number int  // of an ordered item
	width  int  // bytes of the mark itself
	empty  bool // nothing follows on the line
	room   int  // columns from the mark's first to the content's first
}

// bulletAt returns the mark at the start of rest, a line without its
// indentation, which was columns wide.
func bulletAt(rest []byte, columns int) bullet {
	var b bullet
	switch {
	case len(rest) == 0:
		return bullet{}
	case rest[0] == '-' || rest[0] == '*' || rest[0] == '+':
		b.kind, b.width = rest[0], 1
	default:
		i := 0
		for i < len(rest) && i < 10 && rest[i] >= '0' && rest[i] <= '9' {
			b.number = b.number*10 + int(rest[i]-'0')
			i++
		}
		if i == 0 || i == 10 || i == len(rest) || rest[i] != '.' && rest[i] != ')' {
			return bullet{}
		}
		b.kind, b.width = rest[i], i+1
	}
	after := rest[b.width:]
	if isBlank(after) {
		b.empty, b.room = true, b.width+1
		return b
	}
	if after[0] != ' ' && after[0] != '\t' {
		return bullet{}
	}
	spaces, _ := indentFrom(after, columns+b.width)
	if spaces > 4 { // the content is indented code
		spaces = 1
	}
	b.room = b.width + spaces
	return b
}

// isRule reports whether rest is a thematic break.
func isRule(rest []byte) bool {
	if len(rest) == 0 || rest[0] != '-' && rest[0] != '*' && rest[0] != '_' {
		return false
	}
	n := 0
	for _, c := range rest {
		if c == rest[0] {
			n++
		} else if c != ' ' && c != '\t' {
			return false
		}
	}
	return n >= 3
}

// isHeading reports whether rest is a heading with number signs.
func isHeading(rest []byte) bool {
	n := runOf(rest, '#')
	return n >= 1 && n <= 6 && (n == len(rest) || rest[n] == ' ' || rest[n] == '\t')
}

// isDelimiterRow reports whether rest is the second line of a table.
func isDelimiterRow(rest []byte) bool {
	dashes, bars := 0, 0
	for _, c := range rest {
		switch c {
		case '-':
			dashes++
		case '|':
			bars++
		case ':', ' ', '\t':
		default:
			return false
		}
	}
	return dashes > 0 && bars > 0
}

// footnoteLabel returns the label of the footnote definition that rest begins
// with, and where its text starts.
func footnoteLabel(rest []byte) (label []byte, after int) {
	if len(rest) < 5 || rest[0] != '[' || rest[1] != '^' {
		return nil, 0
	}
	end := bytes.IndexByte(rest[:min(len(rest), maxLabel+4)], ']')
	if end < 3 || end+1 >= len(rest) || rest[end+1] != ':' || bytes.ContainsAny(rest[2:end], " \t[^") {
		return nil, 0
	}
	return rest[2:end], end + 2
}

// maxLabel is the longest label of a footnote, in bytes. People write one to
// twenty; what is longer is prose in brackets.
const maxLabel = 64

// opensFold and closesFold know the lines of a details element.
func opensFold(rest []byte) bool {
	for _, tag := range []string{"<details>", "<details open>"} {
		if len(rest) >= len(tag) && bytes.EqualFold(rest[:len(tag)], []byte(tag)) {
			return true
		}
	}
	return false
}

func closesFold(rest []byte) bool {
	return bytes.EqualFold(bytes.TrimSpace(rest), []byte("</details>"))
}

// isDefinition reports whether rest is the second part of a definition list.
func isDefinition(rest []byte) bool {
	return len(rest) > 2 && rest[0] == ':' && (rest[1] == ' ' || rest[1] == '\t')
}

// mathOpens returns what closes the formula that begins with the line rest and
// goes on below it, or "".
func mathOpens(rest []byte) string {
	if environment, closing := environmentAt(rest); environment != "" && !mathCloses(rest, closing) {
		return closing
	}
	for _, m := range mathFences {
		if bytes.HasPrefix(rest, []byte(m.open)) && isBlank(rest[len(m.open):]) {
			return m.close
		}
	}
	return ""
}

// environmentAt returns the beginning and the end of the LaTeX environment of formulas that
// rest begins with: \begin{equation}. Both are empty where there is none.
func environmentAt(rest []byte) (begin, end string) {
	after, ok := bytes.CutPrefix(rest, []byte(`\begin{`))
	if !ok {
		return "", ""
	}
	name, _, ok := bytes.Cut(after[:min(len(after), 20)], []byte("}"))
	switch strings.TrimSuffix(string(name), "*") {
	case "equation", "align", "gather", "alignat", "multline", "eqnarray":
		if ok {
			return `\begin{` + string(name) + "}", `\end{` + string(name) + "}"
		}
	}
	return "", ""
}

// mathCloses reports whether the line rest ends the formula.
func mathCloses(rest []byte, closing string) bool {
	return bytes.HasSuffix(bytes.TrimRight(rest, " \t"), []byte(closing))
}

// mathFences are the marks of a formula that has its own lines.
var mathFences = [...]struct{ open, close string }{{"$$", "$$"}, {`\[`, `\]`}}
