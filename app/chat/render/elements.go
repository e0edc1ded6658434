package render

import (
	"bytes"
	"strconv"

	"conclave/app/chat/render/syntax"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

// elements writes what goldmark's own renderer would write in another way.
type elements struct{}

// RegisterFuncs implements renderer.NodeRenderer.
func (elements) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	for kind, write := range map[ast.NodeKind]renderer.NodeRendererFunc{
		ast.KindHeading:          heading,
		ast.KindFencedCodeBlock:  fencedCode,
		ast.KindCodeBlock:        indentedCode,
		ast.KindHTMLBlock:        nothing,
		ast.KindRawHTML:          rawHTML,
		ast.KindLink:             link,
		ast.KindAutoLink:         autoLink,
		ast.KindImage:            image,
		extast.KindTable:         table,
		extast.KindTableHeader:   tableHeader,
		extast.KindTableRow:      tableRow,
		extast.KindTableCell:     tableCell,
		extast.KindTaskCheckBox:  checkBox,
		extast.KindStrikethrough: around("<del>", "</del>"),
		kindMath:                 mathInline,
		kindMathBlock:            mathLines,
		kindMark:                 mark,
		kindFootnote:             footnote,
		kindFold:                 around("<details>\n", "</details>\n"),
		kindSummary:              around("<summary>", "</summary>\n"),
		kindTag:                  tagOf,
		kindNote:                 writeNote,
	} {
		reg.Register(kind, write)
	}
}

// around writes fixed tags around what the node holds.
func around(before, after string) renderer.NodeRendererFunc {
	return func(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
		write(w, pick(entering, before, after))
		return ast.WalkContinue, nil
	}
}

func nothing(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus, error) {
	return ast.WalkSkipChildren, nil
}

// write and escape go to a buffer, whose errors are kept for its end.
func write(w util.BufWriter, parts ...string) {
	for _, s := range parts {
		_, _ = w.WriteString(s)
	}
}

func escape(w util.BufWriter, s []byte) {
	_, _ = w.Write(syntax.AppendEscaped(nil, string(s)))
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// continuedClass returns what goOn said of the node.
func continuedClass(n ast.Node) string {
	if _, ok := n.AttributeString("class"); ok {
		return " continued"
	}
	return ""
}

// heading is two levels lower, below the headings of the window and the message.
func heading(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	level := strconv.Itoa(min(node.(*ast.Heading).Level+2, 6))
	write(w, pick(entering, "<h", "</h"), level, pick(entering, ">", ">\n"))
	return ast.WalkContinue, nil
}

func fencedCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		n := node.(*ast.FencedCodeBlock)
		info := ""
		if n.Info != nil {
			info = string(n.Info.Segment.Value(source))
		}
		write(w, figureOf(info, linesOf(n, source)))
	}
	return ast.WalkSkipChildren, nil
}

func indentedCode(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, figureOf("", linesOf(node, source)))
	}
	return ast.WalkSkipChildren, nil
}

func linesOf(n ast.Node, source []byte) string {
	var b bytes.Buffer
	for i := range n.Lines().Len() {
		line := n.Lines().At(i)
		b.Write(line.Value(source))
	}
	return b.String()
}

func rawHTML(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		escape(w, node.(*ast.RawHTML).Segments.Value(source))
	}
	return ast.WalkSkipChildren, nil
}

func tagOf(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, node.(*tagNode).tag)
	}
	return ast.WalkContinue, nil
}

func link(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*ast.Link)
	t, ok := targetOf(n.Destination)
	switch {
	case !ok: // its words remain
	case entering:
		openLink(w, t, wordsOf(n, source), n.Title)
	default:
		write(w, "</a>")
	}
	return ast.WalkContinue, nil
}

func openLink(w util.BufWriter, t target, words string, title []byte) {
	write(w, `<a href="`)
	escape(w, []byte(t.url))
	write(w, `" rel="noopener noreferrer nofollow" target="_blank"`)
	if t.host != "" {
		write(w, ` data-host="`)
		escape(w, []byte(t.host))
		write(w, `"`)
	}
	if other := t.mismatch(words); other != "" {
		write(w, ` data-mismatch="`)
		escape(w, []byte(other))
		write(w, `"`)
	}
	if len(title) > 0 {
		write(w, ` title="`)
		escape(w, resolved(title))
		write(w, `"`)
	}
	write(w, ">")
}

// resolved returns b with escapes and entities replaced by what they mean.
func resolved(b []byte) []byte {
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(b)))
}

func autoLink(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.AutoLink)
	destination, label := n.URL(source), n.Label(source)
	if n.AutoLinkType == ast.AutoLinkEmail && !bytes.HasPrefix(bytes.ToLower(destination), []byte("mailto:")) {
		destination = append([]byte("mailto:"), destination...)
	}
	t, ok := targetOf(destination)
	if !ok {
		escape(w, label)
		return ast.WalkContinue, nil
	}
	openLink(w, t, string(label), nil)
	escape(w, label)
	write(w, "</a>")
	return ast.WalkContinue, nil
}

// image shows a picture that the conversation holds. Any other is a button that
// says which host would learn of the reader; the window asks it on a click.
func image(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	n := node.(*ast.Image)
	alt := []byte(wordsOf(n, source))
	if id, ok := mediaID(n.Destination); ok {
		write(w, `<img src="/media/`, id, `" alt="`)
		escape(w, alt)
		write(w, `" loading="lazy">`)
		return ast.WalkSkipChildren, nil
	}
	t, ok := targetOf(n.Destination)
	if !ok || t.host == "" {
		write(w, `<span class="lost-image">`)
		escape(w, alt)
		write(w, `</span>`)
		return ast.WalkSkipChildren, nil
	}
	write(w, `<span class="blocked-image" role="button" tabindex="0" data-src="`)
	escape(w, []byte(t.url))
	write(w, `" data-host="`)
	escape(w, []byte(t.host))
	write(w, `" data-alt="`)
	escape(w, alt)
	write(w, `">Load image from `)
	escape(w, []byte(t.host))
	write(w, `</span>`)
	return ast.WalkSkipChildren, nil
}

func table(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		write(w, "</tbody></table></div>\n")
		return ast.WalkContinue, nil
	}
	columns, rows := 0, node.ChildCount()-1
	if head := node.FirstChild(); head != nil {
		columns = head.ChildCount()
	}
	write(w, `<div class="table`, continuedClass(node), `" role="region" tabindex="0" aria-label="Table, `,
		grouped(columns), pick(columns == 1, " column, ", " columns, "), grouped(rows), pick(rows == 1, " row", " rows"),
		`"><table>`)
	return ast.WalkContinue, nil
}

func tableHeader(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	write(w, pick(entering, "<thead><tr>", "</tr></thead><tbody>\n"))
	return ast.WalkContinue, nil
}

func tableRow(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	write(w, pick(entering, "<tr>", "</tr>\n"))
	return ast.WalkContinue, nil
}

func tableCell(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	n := node.(*extast.TableCell)
	_, head := n.Parent().(*extast.TableHeader)
	if !entering {
		write(w, pick(head, "</th>", "</td>"))
		return ast.WalkContinue, nil
	}
	write(w, pick(head, `<th scope="col"`, "<td"))
	if n.Alignment == extast.AlignRight || n.Alignment == extast.AlignCenter {
		write(w, ` class="`, n.Alignment.String(), `"`)
	}
	write(w, ">")
	return ast.WalkContinue, nil
}

func checkBox(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		write(w, `<input type="checkbox" disabled`, pick(node.(*extast.TaskCheckBox).IsChecked, " checked", ""), "> ")
	}
	return ast.WalkContinue, nil
}

func mathInline(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		n := node.(*mathNode)
		tex := bytes.TrimSpace(n.tex)
		write(w, pick(n.display, `<span class="math display" data-tex="`, `<span class="math" data-tex="`))
		escape(w, tex)
		write(w, `">`)
		escape(w, tex)
		write(w, "</span>")
	}
	return ast.WalkContinue, nil
}

func mathLines(w util.BufWriter, source []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	n := node.(*mathBlock)
	tex := []byte(linesOf(n, source))
	if !n.closed {
		write(w, "<p>", n.open, "\n")
		escape(w, bytes.TrimSpace(tex))
		write(w, "</p>\n")
		return ast.WalkSkipChildren, nil
	}
	tex = bytes.TrimSpace(tex)
	if n.environment {
		tex = []byte(n.open + "\n" + string(tex) + "\n" + n.close)
	}
	write(w, `<div class="math" data-tex="`)
	escape(w, tex)
	write(w, `">`)
	escape(w, tex)
	write(w, "</div>\n")
	return ast.WalkSkipChildren, nil
}

func mark(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		label := node.(*markNode).label
		write(w, `<sup class="footnote-ref" data-footnote-ref="`)
		escape(w, label)
		write(w, `">`)
		escape(w, label)
		write(w, "</sup>")
	}
	return ast.WalkContinue, nil
}

func footnote(w util.BufWriter, _ []byte, node ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		write(w, "</div>\n")
		return ast.WalkContinue, nil
	}
	label := node.(*footnoteNode).label
	write(w, `<div class="footnote" data-footnote="`)
	escape(w, label)
	write(w, `"><span class="footnote-label">`)
	escape(w, label)
	write(w, "</span>\n")
	return ast.WalkContinue, nil
}
