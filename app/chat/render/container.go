package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// Blocks beyond those of goldmark: formulas on their own lines, footnotes,
// and details with a summary.

var (
	kindMathBlock = ast.NewNodeKind("MathBlock")
	kindFootnote  = ast.NewNodeKind("Footnote")
	kindFold      = ast.NewNodeKind("Fold")
	kindSummary   = ast.NewNodeKind("Summary")
)

// mathBlock is a formula between lines that hold only $$, or \[ and \], or a LaTeX
// environment, whose beginning and end are part of the formula.
type mathBlock struct {
	ast.BaseBlock
	open, close string
	environment bool
	closed      bool
}

func (n *mathBlock) Kind() ast.NodeKind            { return kindMathBlock }
func (n *mathBlock) IsRaw() bool                   { return true }
func (n *mathBlock) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// mathBlockParser finds them. A blank line ends a formula that is not closed,
// so that a forgotten mark does not swallow the reply.
type mathBlockParser struct{ interrupting }

// Trigger implements parser.BlockParser.
func (mathBlockParser) Trigger() []byte { return []byte{'$', '\\'} }

// Open implements parser.BlockParser.
func (mathBlockParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	rest := bytes.TrimRight(line[max(0, pc.BlockOffset()):], "\n")
	if pc.BlockIndent() > 3 {
		return nil, parser.NoChildren
	}
	if begin, end := environmentAt(rest); begin != "" {
		n := &mathBlock{open: begin, close: end, environment: true}
		n.take(reader, max(0, pc.BlockOffset())+len(begin))
		return n, parser.NoChildren
	}
	closing := mathOpens(rest)
	if closing == "" {
		return nil, parser.NoChildren
	}
	reader.AdvanceToEOL()
	return &mathBlock{open: string(rest[:2]), close: closing}, parser.NoChildren
}

// take adds a line to the formula, from a place on, up to where it ends.
func (n *mathBlock) take(reader text.Reader, from int) {
	line, segment := reader.PeekLine()
	rest := bytes.TrimRight(line, "\n")
	if mathCloses(rest, n.close) {
		n.closed = true
		end := len(bytes.TrimRight(rest, " \t")) - len(n.close)
		segment = segment.WithStop(segment.Start + max(0, max(from, end)-segment.Padding))
	}
	if from > 0 {
		segment = text.NewSegment(segment.Start+from-segment.Padding, segment.Stop)
	}
	reader.AdvanceToEOL()
	n.Lines().Append(segment)
}

// Continue implements parser.BlockParser.
func (mathBlockParser) Continue(node ast.Node, reader text.Reader, _ parser.Context) parser.State {
	n := node.(*mathBlock)
	line, _ := reader.PeekLine()
	if n.closed || util.IsBlank(line) {
		return parser.Close
	}
	if n.take(reader, 0); n.closed {
		return parser.Close
	}
	return parser.Continue | parser.NoChildren
}

// fencedParser is goldmark's parser of fenced code, but for fences within a fence whose
// content is Markdown or text.
type fencedParser struct{ parser.BlockParser }

// openFence is the fence that is open in a context, with its node.
type openFence struct {
	fence
	node ast.Node
}

var fenceKey = parser.NewContextKey()

// Open implements parser.BlockParser.
func (p fencedParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	at := max(0, pc.BlockOffset())
	node, state := p.BlockParser.Open(parent, reader, pc)
	if node != nil {
		f, _ := fenceAt(bytes.TrimRight(line[at:], "\n"))
		f.indent = at
		pc.Set(fenceKey, &openFence{f, node})
	}
	return node, state
}

// Continue implements parser.BlockParser.
func (p fencedParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	f, _ := pc.Get(fenceKey).(*openFence)
	line, segment := reader.PeekLine()
	width, at := util.IndentWidth(line, reader.LineOffset())
	if f == nil || f.node != node || width >= 4 {
		return p.BlockParser.Continue(node, reader, pc)
	}
	rest := bytes.TrimRight(line[at:], "\n")
	if f.line(rest) || !f.closes(rest) {
		return p.BlockParser.Continue(node, reader, pc)
	}
	// It ends a fence within this one, which goldmark takes for the end of this one.
	at, padding := util.IndentPositionPadding(line, reader.LineOffset(), segment.Padding, f.indent)
	if at < 0 {
		at, padding = max(0, util.FirstNonSpacePosition(line))-segment.Padding, 0
	}
	kept := text.NewSegmentPadding(segment.Start+at, segment.Stop, padding)
	kept.ForceNewline = true
	node.Lines().Append(kept)
	reader.AdvanceToEOL()
	return parser.Continue | parser.NoChildren
}

// footnoteNode is the text of a footnote, shown where it stands.
type footnoteNode struct {
	ast.BaseBlock
	label []byte
}

func (n *footnoteNode) Kind() ast.NodeKind            { return kindFootnote }
func (n *footnoteNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

type footnoteParser struct{ interrupting }

// Trigger implements parser.BlockParser.
func (footnoteParser) Trigger() []byte { return []byte{'['} }

// Open implements parser.BlockParser.
func (footnoteParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	at := max(0, pc.BlockOffset())
	label, after := footnoteLabel(bytes.TrimRight(line[at:], "\n"))
	if label == nil || pc.BlockIndent() > 3 {
		return nil, parser.NoChildren
	}
	c := pc.(*lookup)
	c.notes = append(c.notes, "^"+string(label))
	reader.Advance(at + after)
	return &footnoteNode{label: bytes.Clone(label)}, parser.HasChildren
}

// Continue implements parser.BlockParser.
func (footnoteParser) Continue(_ ast.Node, reader text.Reader, _ parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if util.IsBlank(line) {
		return parser.Continue | parser.HasChildren
	}
	at, padding := util.IndentPosition(line, reader.LineOffset(), 4)
	if at < 0 {
		return parser.Close
	}
	reader.AdvanceAndSetPadding(at, padding)
	return parser.Continue | parser.HasChildren
}

// foldNode is a details element. Markdown is read inside it.
type foldNode struct{ ast.BaseBlock }

func (n *foldNode) Kind() ast.NodeKind            { return kindFold }
func (n *foldNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

type foldParser struct{ interrupting }

// Trigger implements parser.BlockParser.
func (foldParser) Trigger() []byte { return []byte{'<'} }

// Open implements parser.BlockParser.
func (foldParser) Open(_ ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, _ := reader.PeekLine()
	at := max(0, pc.BlockOffset())
	if !opensFold(line[at:]) || pc.BlockIndent() > 3 || len(folds(pc)) >= maxDepth {
		return nil, parser.NoChildren
	}
	reader.Advance(at + bytes.IndexByte(line[at:], '>') + 1)
	return &foldNode{}, parser.HasChildren
}

// folds returns the details elements that are open.
func folds(pc parser.Context) []*foldNode {
	var list []*foldNode
	for _, b := range pc.OpenedBlocks() {
		if n, ok := b.Node.(*foldNode); ok {
			list = append(list, n)
		}
	}
	return list
}

// Continue implements parser.BlockParser.
func (foldParser) Continue(node ast.Node, reader text.Reader, pc parser.Context) parser.State {
	line, _ := reader.PeekLine()
	if closesFold(line) {
		open := folds(pc)
		_, code := pc.LastOpenedBlock().Node.(*ast.FencedCodeBlock)
		if !code && open[len(open)-1] == node {
			reader.AdvanceToEOL()
			return parser.Close
		}
	}
	return parser.Continue | parser.HasChildren
}

// summaryNode is the line of a details element that always shows.
type summaryNode struct{ ast.BaseBlock }

func (n *summaryNode) Kind() ast.NodeKind            { return kindSummary }
func (n *summaryNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// summaryParser reads it where it stands first in its element and on one line.
type summaryParser struct{ interrupting }

// Trigger implements parser.BlockParser.
func (summaryParser) Trigger() []byte { return []byte{'<'} }

// Open implements parser.BlockParser.
func (summaryParser) Open(parent ast.Node, reader text.Reader, pc parser.Context) (ast.Node, parser.State) {
	line, segment := reader.PeekLine()
	at := max(0, pc.BlockOffset())
	const open, closing = "<summary>", "</summary>"
	if _, ok := parent.(*foldNode); !ok || parent.HasChildren() || len(line) < at+len(open) ||
		!bytes.EqualFold(line[at:at+len(open)], []byte(open)) {
		return nil, parser.NoChildren
	}
	end := bytes.Index(bytes.ToLower(line), []byte(closing))
	if end < at {
		return nil, parser.NoChildren
	}
	n := &summaryNode{}
	n.Lines().Append(text.NewSegment(segment.Start-segment.Padding+at+len(open), segment.Start-segment.Padding+end))
	reader.Advance(end + len(closing))
	return n, parser.NoChildren
}

// Continue implements parser.BlockParser.
func (summaryParser) Continue(ast.Node, text.Reader, parser.Context) parser.State {
	return parser.Close
}

// interrupting holds what the block parsers of this file have in common.
type interrupting struct{}

// Close implements parser.BlockParser.
func (interrupting) Close(ast.Node, text.Reader, parser.Context) {}

// CanInterruptParagraph implements parser.BlockParser.
func (interrupting) CanInterruptParagraph() bool { return true }

// CanAcceptIndentedLine implements parser.BlockParser.
func (interrupting) CanAcceptIndentedLine() bool { return false }
