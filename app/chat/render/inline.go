package render

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Inline elements beyond those of goldmark: formulas, and marks of footnotes.

var (
	kindMath = ast.NewNodeKind("Math")
	kindMark = ast.NewNodeKind("FootnoteMark")
)

// mathNode is a formula within text: \(…\) and $…$, or $$…$$ and \[…\] as one that is
// displayed.
type mathNode struct {
	ast.BaseInline
	tex     []byte
	display bool
}

func (n *mathNode) Kind() ast.NodeKind            { return kindMath }
func (n *mathNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mathMarks begin a formula within text, and mathClosings end it.
var (
	mathMarks    = []string{"$$", `\(`, `\[`}
	mathClosings = []string{"$$", `\)`, `\]`}
)

// mathParser finds them. A backslash before the mark makes it text.
type mathParser struct{}

// Trigger implements parser.InlineParser.
func (mathParser) Trigger() []byte { return []byte{'$', '\\'} }

// Parse implements parser.InlineParser.
func (mathParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 3 {
		return nil
	}
	if line[0] == '$' && line[1] != '$' {
		return dollarMath(line, block)
	}
	mark := slices.Index(mathMarks, string(line[:2]))
	c := pc.(*lookup)
	if mark < 0 || c.endless.parent == parent && c.endless.marks[mark] {
		return nil
	}
	closing := []byte(mathClosings[mark])
	n := &mathNode{display: closing[1] != ')'}
	block.Advance(2)
	for {
		line, _ = block.PeekLine()
		if line == nil {
			if c.endless.parent != parent {
				c.endless = unclosed{parent: parent}
			}
			c.endless.marks[mark] = true
			return nil
		}
		end := bytes.Index(line, closing)
		if end < 0 {
			n.tex = append(n.tex, line...)
			block.AdvanceLine()
			continue
		}
		n.tex = append(n.tex, line[:end]...)
		if len(bytes.TrimSpace(n.tex)) == 0 {
			return nil
		}
		block.Advance(end + 2)
		return n
	}
}

// dollarMath returns the formula $…$ that a line begins with, or nil, as pandoc has it: no
// blank within the first and the last dollar, and no digit behind that. So "$5 and $9" is
// money. Neither is "$20 and he has 30$", nor "$PATH:$HOME", a formula.
func dollarMath(line []byte, block text.Reader) ast.Node {
	if before := block.PrecendingCharacter(); before == '$' || before < 0x80 && isWord(byte(before)) {
		return nil
	}
	end := 1
	for end < len(line) && line[end] != '$' {
		if line[end] == '\\' {
			end++
		}
		end++
	}
	if end >= len(line) || end == 1 {
		return nil
	}
	tex := line[1:end]
	first, last := tex[0], tex[len(tex)-1]
	after := byte(' ')
	if end+1 < len(line) {
		after = line[end+1]
	}
	switch {
	case isBlank([]byte{first}) || isBlank([]byte{last}) || bytes.IndexByte(tex, '`') >= 0,
		after >= '0' && after <= '9', after == '$', after == '{', after == '_', after >= 'A' && after <= 'Z',
		first >= '0' && first <= '9' && !bytes.ContainsAny(tex, `\^_=`) && holdsWord(tex):
		return nil
	}
	block.Advance(end + 1)
	return &mathNode{tex: bytes.Clone(tex)}
}

func isWord(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// holdsWord reports whether there are two letters in a row in a text.
func holdsWord(text []byte) bool {
	for i := 1; i < len(text); i++ {
		if text[i-1]|0x20 >= 'a' && text[i-1]|0x20 <= 'z' && text[i]|0x20 >= 'a' && text[i]|0x20 <= 'z' {
			return true
		}
	}
	return false
}

// markNode is the mark of a footnote: [^1].
type markNode struct {
	ast.BaseInline
	label []byte
}

func (n *markNode) Kind() ast.NodeKind            { return kindMark }
func (n *markNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// markParser finds them. A mark with a number counts although its footnote may
// be missing, since models cite like that; another only if it is defined,
// since [^a-z] is more often an expression.
type markParser struct{}

// Trigger implements parser.InlineParser.
func (markParser) Trigger() []byte { return []byte{'['} }

// Parse implements parser.InlineParser.
func (markParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 4 || line[1] != '^' {
		return nil
	}
	end := bytes.IndexByte(line[:min(len(line), maxLabel+4)], ']')
	if end < 3 || end+1 < len(line) && line[end+1] == '(' {
		return nil
	}
	label := line[2:end]
	if bytes.ContainsAny(label, " \t[^<>\"`") {
		return nil
	}
	if len(bytes.Trim(label, "0123456789")) > 0 && !pc.(*lookup).note(string(label)) {
		return nil
	}
	block.Advance(end + 1)
	return &markNode{label: label}
}
