package render

import (
	"slices"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// definitions are the link targets and footnotes of the blocks so far, by
// label. The label of a footnote has a "^" before it. The zero value is empty.
type definitions struct {
	links map[string]parser.Reference
	notes map[string]bool
	spent int // bytes of definitions that the blocks so far repeated
}

// lookups holds what a block defined, and what it looked for in vain.
type lookups struct {
	defined []parser.Reference
	notes   []string
	missed  []string
	spent   int // of this block and those before it
}

// add takes over what a block defined. The first definition of a label counts.
func (d *definitions) add(l lookups) {
	d.spent = l.spent
	for _, ref := range l.defined {
		if d.links == nil {
			d.links = map[string]parser.Reference{}
		}
		label := util.ToLinkReference(ref.Label())
		if _, ok := d.links[label]; !ok {
			d.links[label] = ref
		}
	}
	for _, label := range l.notes {
		if d.notes == nil {
			d.notes = map[string]bool{}
		}
		d.notes[label] = true
	}
}

// any reports whether one of the labels is defined.
func (d *definitions) any(labels []string) bool {
	return slices.ContainsFunc(labels, func(label string) bool {
		if label[0] == '^' && d.notes[label] {
			return true
		}
		_, ok := d.links[label]
		return ok
	})
}

// lookup is goldmark's context of one block, with the definitions of the blocks
// before it. It notes the labels that neither has.
type lookup struct {
	parser.Context
	known  *definitions
	notes  []string
	missed map[string]bool

	upTo    int // where the block ends in the whole text
	spent   int // see affords
	scanned int // bytes that were read for the targets of links
	endless unclosed
}

// unclosed are the marks of formulas that nothing closes in the rest of a paragraph.
type unclosed struct {
	parent ast.Node
	marks  [3]bool // in the order of mathMarks
}

// Reference implements parser.Context.
func (c *lookup) Reference(label string) (parser.Reference, bool) {
	ref, ok := c.known.links[label]
	if !ok {
		ref, ok = c.Context.Reference(label)
	}
	if ok {
		return ref, c.affords(ref)
	}
	c.miss(label)
	return nil, false
}

// note reports whether a footnote has been defined.
func (c *lookup) note(label string) bool {
	label = "^" + label
	if c.known.notes[label] || slices.Contains(c.notes, label) {
		return true
	}
	c.miss(label)
	return false
}

func (c *lookup) miss(label string) {
	if label == "" {
		return
	}
	if c.missed == nil {
		c.missed = map[string]bool{}
	}
	c.missed[label] = true
}

// lookups returns what was noted.
func (c *lookup) lookups() lookups {
	l := lookups{defined: c.References(), notes: c.notes, spent: c.spent}
	for label := range c.missed {
		l.missed = append(l.missed, label)
	}
	return l
}
