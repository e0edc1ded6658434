package render

import (
	"bytes"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// dialect is goldmark with the parsers and renderers of this package. It is
// made when it is first needed.
var dialect = sync.OnceValue(func() goldmark.Markdown {
	md := goldmark.New(
		goldmark.WithParser(parser.NewParser(
			// No parser for blocks of HTML: their tags are read one by one.
			parser.WithBlockParsers(
				util.Prioritized(parser.NewSetextHeadingParser(), 100),
				util.Prioritized(parser.NewThematicBreakParser(), 200),
				util.Prioritized(parser.NewListParser(), 300),
				util.Prioritized(parser.NewListItemParser(), 400),
				util.Prioritized(parser.NewCodeBlockParser(), 500),
				util.Prioritized(parser.NewATXHeadingParser(), 600),
				util.Prioritized(fencedParser{parser.NewFencedCodeBlockParser()}, 700),
				util.Prioritized(mathBlockParser{}, 750),
				util.Prioritized(parser.NewBlockquoteParser(), 800),
				util.Prioritized(foldParser{}, 850),
				util.Prioritized(summaryParser{}, 860),
				util.Prioritized(footnoteParser{}, 900),
				util.Prioritized(parser.NewParagraphParser(), 1000),
			),
			parser.WithInlineParsers(
				util.Prioritized(parser.NewCodeSpanParser(), 100),
				util.Prioritized(mathParser{}, 150),
				util.Prioritized(markParser{}, 190),
				util.Prioritized(boundedLinks{parser.NewLinkParser()}, 200),
				util.Prioritized(parser.NewAutoLinkParser(), 300),
				util.Prioritized(parser.NewRawHTMLParser(), 400),
				util.Prioritized(emphasisParser{}, 500),
				util.Prioritized(struckParser{}, 500),
			),
			parser.WithParagraphTransformers(parser.DefaultParagraphTransformers()...),
			parser.WithASTTransformers(util.Prioritized(tagMatcher{}, 100)),
		)),
		goldmark.WithExtensions(
			boundedTable{},
			extension.TaskList,
			extension.DefinitionList,
			extension.NewLinkify(extension.WithLinkifyAllowedProtocols([]string{"http:", "https:"})),
		),
	)
	md.Renderer().AddOptions(renderer.WithNodeRenderers(util.Prioritized(elements{}, 50)))
	return md
})

// buffers holds *bytes.Buffer between renderings.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// markdown renders the chunk c, whose source is src, and returns what it
// defined and which labels it looked for in vain.
func (s *Stream) markdown(c chunk, src []byte) (string, lookups) {
	if c.head.end > 0 {
		src = append(append(bytes.Clone(s.text[c.head.start:c.head.end]), '\n'), src...)
	}
	src = flatten(src)
	context := &lookup{Context: parser.NewContext(), known: &s.known, spent: s.known.spent, upTo: c.end}
	tree := dialect().Parser().Parse(text.NewReader(src), parser.WithContext(context))
	if c.continued {
		goOn(tree.FirstChild(), c.first)
	}
	out := buffers.Get().(*bytes.Buffer)
	defer buffers.Put(out)
	out.Reset()
	if err := dialect().Renderer().Render(out, src, tree); err != nil {
		// Writing to a buffer does not fail, and our renderers return no errors.
		panic("render: " + err.Error())
	}
	return sanitize(bounded(out, src)), context.lookups()
}

// goOn marks the block that continues the one before.
func goOn(n ast.Node, first int) {
	if n == nil {
		return
	}
	n.SetAttributeString("class", []byte("continued"))
	if list, ok := n.(*ast.List); ok && list.IsOrdered() && first > 0 {
		list.Start = first
	}
}
