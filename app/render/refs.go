package render

import (
	"slices"

	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/util"
)

// definitions are the link targets and footnotes of the blocks so far, by
// label. The label of a footnote has a "^" before it. The zero value is empty.
type definitions struct {
	links map[string]parser.Reference
	notes map[string]bool
}

// lookups is what a block defined, and what it looked for in vain.
type lookups struct {
	defined []parser.Reference
	notes   []string
	missed  []string
}

// add takes over what a block defined. The first definition of a label counts.
func (d *definitions) add(l lookups) {
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
}

// Reference implements parser.Context.
func (c *lookup) Reference(label string) (parser.Reference, bool) {
	if ref, ok := c.known.links[label]; ok {
		return ref, true
	}
	if ref, ok := c.Context.Reference(label); ok {
		return ref, true
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
	l := lookups{defined: c.References(), notes: c.notes}
	for label := range c.missed {
		l.missed = append(l.missed, label)
	}
	return l
}
