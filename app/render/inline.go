package render

import (
	"bytes"
	"slices"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Inline elements beyond those of goldmark: formulas, marks of footnotes, and
// strikethrough.

var (
	kindMath = ast.NewNodeKind("Math")
	kindMark = ast.NewNodeKind("FootnoteMark")
)

// mathNode is a formula within text: \(…\), or $$…$$ and \[…\] as one that is
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

// struckParser finds ~~text~~. Unlike goldmark's own it leaves single tildes
// alone: "~5 ms to ~10 ms" is not struck out.
type struckParser struct{}

// Trigger implements parser.InlineParser.
func (struckParser) Trigger() []byte { return []byte{'~'} }

// Parse implements parser.InlineParser.
func (struckParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	before := block.PrecendingCharacter()
	line, segment := block.PeekLine()
	node := parser.ScanDelimiter(line, before, 2, struckDelimiter{})
	if node == nil || node.OriginalLength != 2 || before == '~' {
		return nil
	}
	node.Segment = segment.WithStop(segment.Start + 2)
	block.Advance(2)
	pc.PushDelimiter(node)
	return node
}

type struckDelimiter struct{}

// IsDelimiter implements parser.DelimiterProcessor.
func (struckDelimiter) IsDelimiter(b byte) bool { return b == '~' }

// CanOpenCloser implements parser.DelimiterProcessor.
func (struckDelimiter) CanOpenCloser(opener, closer *parser.Delimiter) bool {
	return opener.Char == closer.Char
}

// OnMatch implements parser.DelimiterProcessor.
func (struckDelimiter) OnMatch(int) ast.Node { return extast.NewStrikethrough() }
