package render

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// Raw HTML is text, but for these tags without their attributes, where they
// come in pairs within one element. A br needs no pair. Details and summary are
// blocks, see container.go.
var allowedTags = map[string]bool{
	"b": true, "i": true, "u": true, "s": true, "sub": true, "sup": true,
	"kbd": true, "mark": true, "small": true, "br": true,
}

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
				case !allowedTags[name]:
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
