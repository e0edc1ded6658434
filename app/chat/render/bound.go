package render

import (
	"bytes"

	"conclave/app/base/limit"
	"conclave/app/chat/render/syntax"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// What a text costs, in time and in HTML, grows with its length alone. Here are
// the places where Markdown would have it otherwise: a row of a table stands for
// all of its columns, a label for its definition, and an open bracket has
// goldmark look for what closes it up to the end of the paragraph. Whatever goes
// over a bound is shown as text.

// allowance is granted to one piece of text in addition to what grows with its
// length: that much costs nothing worth counting.
const allowance = 64 << 10

// boundedTable is goldmark's table for paragraphs that keep to the bounds.
type boundedTable struct{}

// Extend implements goldmark.Extender.
func (boundedTable) Extend(m goldmark.Markdown) {
	m.Parser().AddOptions(
		parser.WithParagraphTransformers(util.Prioritized(tableTransformer{extension.NewTableParagraphTransformer()}, 200)),
		parser.WithASTTransformers(util.Prioritized(extension.NewTableASTTransformer(), 0)),
	)
	m.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(extension.NewTableHTMLRenderer(), 500)))
}

// tableTransformer asks goldmark's for a table where one may be made.
type tableTransformer struct{ parser.ParagraphTransformer }

// Transform implements parser.ParagraphTransformer.
func (t tableTransformer) Transform(node *ast.Paragraph, reader text.Reader, pc parser.Context) {
	over := overTable(node.Lines(), reader.Source())
	if over == "" {
		t.ParagraphTransformer.Transform(node, reader, pc)
		return
	}
	node.Parent().InsertBefore(node.Parent(), node, &note{text: over})
}

// overTable returns the bound that the lines of a table go over; nil when they
// keep to all, or are no table.
func overTable(lines *text.Segments, source []byte) string {
	columns, size, escaped, ticks := 0, 0, 0, false
	for i := range lines.Len() {
		segment := lines.At(i)
		line := segment.Value(source)
		size += len(line)
		if row := bytes.TrimSpace(line); i > 0 && isDelimiterRow(row) {
			row = bytes.TrimSuffix(bytes.TrimPrefix(row, []byte{'|'}), []byte{'|'})
			columns = max(columns, bytes.Count(row, []byte{'|'})+1)
		}
		escaped += bytes.Count(line, []byte(`\|`))
		ticks = ticks || bytes.IndexByte(line, '`') >= 0
	}
	switch {
	case columns > limit.TableColumns:
		return "Shown as text: a table with more than 100 columns."
	case columns*lines.Len() > limit.TableCells && columns*lines.Len() > 2*size:
		return "Shown as text: a table with too many empty cells."
	case columns > 0 && ticks && escaped > limit.TableEscapes:
		return "Shown as text: a table with more than 500 escaped bars."
	}
	return ""
}

// kindNote is the kind of a note.
var kindNote = ast.NewNodeKind("Note")

// note says, before a text, which bound it goes over.
type note struct {
	ast.BaseBlock
	text string
}

func (n *note) Kind() ast.NodeKind            { return kindNote }
func (n *note) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

func writeNote(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, "<p><small>", node.(*note).text, "</small></p>\n")
	}
	return ast.WalkContinue, nil
}

// boundedLinks is goldmark's parser of links, which looks for the end of a target
// up to the end of the paragraph, as often as the paragraph's length allows.
type boundedLinks struct{ parser.InlineParser }

// Parse implements parser.InlineParser.
func (b boundedLinks) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	c := pc.(*lookup)
	if line[0] == ']' && len(line) > 1 && line[1] == '(' {
		c.scanned += targetLength(line[2:])
	}
	if c.scanned > allowance+8*len(block.Source()) {
		return nil // from here on, brackets are text
	}
	return b.InlineParser.Parse(parent, block, pc)
}

// CloseBlock implements parser.CloseBlocker.
func (b boundedLinks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if closer, ok := b.InlineParser.(parser.CloseBlocker); ok {
		closer.CloseBlock(parent, block, pc)
	}
}

// targetLength returns how far goldmark reads for the target of a link.
func targetLength(line []byte) int {
	inAngles := len(line) > 0 && line[0] == '<'
	open := 0
	for i, c := range line {
		switch {
		case inAngles && c == '>', !inAngles && util.IsSpace(c):
			return i
		case c == '(':
			open++
		case c == ')':
			if open--; open < 0 && !inAngles {
				return i
			}
		}
	}
	return len(line)
}

// affords reports whether a text may name the definition ref once more: what
// definitions add to it grows with its length.
func (c *lookup) affords(ref parser.Reference) bool {
	cost := len(ref.Destination()) + len(ref.Title())
	if c.spent+cost > limit.References+16*c.upTo {
		return false
	}
	c.spent += cost
	return true
}

// bounded returns the HTML of a block, or its text as it is when there is more
// HTML than any text needs.
func bounded(out *bytes.Buffer, src []byte) *bytes.Buffer {
	if out.Len() <= allowance+limit.HTML*len(src) {
		return out
	}
	out.Reset()
	out.WriteString("<p><small>" + "Shown as text: formatted it would be too large." + "</small></p>\n<p>")
	out.Write(syntax.AppendEscaped(nil, string(src)))
	out.WriteString("</p>\n")
	return out
}
