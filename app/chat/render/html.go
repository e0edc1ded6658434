package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Raw HTML is text, but for these tags without their attributes, where they
// come in pairs within one element. A br needs no pair. Details and summary are
// blocks, see container.go. Comments are not shown, and neither are the tags with which
// people centre things.
var allowedTags = map[string]bool{
	"b": true, "i": true, "u": true, "s": true, "sub": true, "sup": true,
	"kbd": true, "mark": true, "small": true, "br": true,
}

// cellTags are those that are allowed in the cells of tables too, which cannot hold lists of
// Markdown.
var cellTags = map[string]bool{"ul": true, "ol": true, "li": true}

var kindTag = ast.NewNodeKind("Tag")

// tagNode is an allowed tag: "<b>", "</b>".
type tagNode struct {
	ast.BaseInline
	tag string
}

func (n *tagNode) Kind() ast.NodeKind            { return kindTag }
func (n *tagNode) Dump(source []byte, level int) { ast.DumpHelper(n, source, level, nil, nil) }

// tagMatcher replaces the allowed tags that have their pair by tagNodes.
type tagMatcher struct{}

// Transform implements parser.ASTTransformer.
func (tagMatcher) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	source := reader.Source()
	if bytes.IndexByte(source, '<') < 0 {
		return
	}
	type opened struct {
		node ast.Node
		name string
	}
	// A pair must have one parent, so the parents are gone through one by one.
	parents := []ast.Node{doc}
	for len(parents) > 0 {
		parent := parents[len(parents)-1]
		parents = parents[:len(parents)-1]
		if leaveOut(parent, source) {
			continue
		}
		_, cell := parent.(*extast.TableCell)
		var open []opened
		waiting := map[string]int{}
		for n := parent.FirstChild(); n != nil; {
			next := n.NextSibling()
			if n.HasChildren() {
				parents = append(parents, n)
			}
			if raw, ok := n.(*ast.RawHTML); ok {
				name, closing := tagName(raw.Segments.Value(source))
				switch {
				case !allowedTags[name] && !(cell && cellTags[name]):
				case name == "br":
					parent.ReplaceChild(parent, raw, &tagNode{tag: "<br>"})
				case !closing:
					open = append(open, opened{raw, name})
					waiting[name]++
				case waiting[name] > 0:
					for { // what was opened since stays text
						last := open[len(open)-1]
						open = open[:len(open)-1]
						waiting[last.name]--
						if last.name == name {
							parent.ReplaceChild(parent, last.node, &tagNode{tag: "<" + name + ">"})
							break
						}
					}
					parent.ReplaceChild(parent, raw, &tagNode{tag: "</" + name + ">"})
				}
			}
			n = next
		}
	}
}

// leaveOut takes comments out of a block, and the tags with which it is centred: a pair around
// all of it, or all that it holds. It reports whether nothing is left: a paragraph is gone then.
func leaveOut(block ast.Node, source []byte) bool {
	if block.Type() == ast.TypeInline || !block.HasChildren() {
		return false
	}
	for n := block.FirstChild(); n != nil; {
		next := n.NextSibling()
		if tag := tagOfNode(n, source); bytes.HasPrefix(tag, []byte("<!--")) {
			block.RemoveChild(block, n)
		}
		n = next
	}
	for {
		first, last := block.FirstChild(), block.LastChild()
		if first == nil || first == last {
			break
		}
		opened, from := centres(tagOfNode(first, source))
		closed, to := centres(tagOfNode(last, source))
		if opened == "" || from || opened != closed || !to {
			break
		}
		block.RemoveChild(block, first)
		block.RemoveChild(block, last)
	}
	for n := block.FirstChild(); n != nil; n = n.NextSibling() {
		if name, _ := centres(tagOfNode(n, source)); name != "" {
			continue
		}
		if t, ok := n.(*ast.Text); !ok || len(bytes.TrimSpace(t.Segment.Value(source))) > 0 {
			return false
		}
	}
	parent := block.Parent()
	if block.Kind() != ast.KindParagraph || parent == nil {
		return false
	}
	parent.RemoveChild(parent, block)
	return true
}

// maybeLeftOut reports whether a line that is not complete may turn out to be a comment, or a
// tag that only centres.
func maybeLeftOut(rest []byte) bool {
	if len(rest) == 0 || rest[0] != '<' {
		return false
	}
	if bytes.HasPrefix(rest, []byte("<!--")) {
		return !bytes.Contains(rest, []byte("-->"))
	}
	if bytes.IndexByte(rest, '>') >= 0 {
		return false
	}
	for _, begin := range []string{"<!--", "<center", "</center", "<div", "</div", "<p ", "</p"} {
		n := min(len(rest), len(begin))
		if bytes.EqualFold(rest[:n], []byte(begin[:n])) {
			return true
		}
	}
	return false
}

// tagOfNode returns the tag or comment that a node is, or nothing.
func tagOfNode(n ast.Node, source []byte) []byte {
	if raw, ok := n.(*ast.RawHTML); ok {
		return raw.Segments.Value(source)
	}
	return nil
}

// centres returns the name of a tag that only says where its content stands, and whether it
// is the end of one: <center>, and <div> and <p> with align. name is empty for others.
func centres(tag []byte) (name string, closing bool) {
	name, closing = tagName(tag)
	switch {
	case name == "center", (name == "div" || name == "p") &&
		(closing || bytes.Contains(bytes.ToLower(tag), []byte(" align="))):
		return name, closing
	}
	return "", false
}

// tagName returns the name of a tag in small letters: "<B class=x>", "</b>".
func tagName(tag []byte) (name string, closing bool) {
	tag = bytes.TrimPrefix(tag, []byte("<"))
	if closing = bytes.HasPrefix(tag, []byte("/")); closing {
		tag = tag[1:]
	}
	end := 0
	for end < len(tag) && (tag[end]|0x20 >= 'a' && tag[end]|0x20 <= 'z') {
		end++
	}
	if end == 0 || end > 8 || end < len(tag) && bytes.IndexByte([]byte(" \t\n/>"), tag[end]) < 0 {
		return "", false
	}
	return string(bytes.ToLower(tag[:end])), closing
}
