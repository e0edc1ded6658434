package app

import (
	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/render"
)

type faultKind = fault.Kind

// entryView is one drawn entry with the revisions at which its pieces changed.
type entryView struct {
	entry Entry // without parts
	parts []*partView
	rev   uint64 // of the newest change
	born  uint64 // a page that pulled before it gets the entry whole
}

// partView is one drawn part.
type partView struct {
	kind   string
	blocks []blockView
	ms     int64
	done   bool
	call   *CallView
	media  *MediaView
	rev    uint64

	expired bool // nobody answered in time
	asked   bool // a person decided

	stream *render.Stream // while text comes
	dirty  bool           // text came since it was drawn
}

type blockView struct {
	html string
	done bool
	rev  uint64
	// A page that pulled at from or later holds this much of html already.
	from            uint64
	same, sameUTF16 int
}

func (v *entryView) add(kind string) *partView {
	p := &partView{kind: kind}
	v.parts = append(v.parts, p)
	return p
}

// draw renders what came since, as of the given revision.
func (p *partView) draw(revision uint64) {
	if !p.dirty || p.stream == nil {
		return
	}
	p.dirty = false
	for _, patch := range p.stream.Patches() {
		for len(p.blocks) <= patch.Block {
			p.blocks = append(p.blocks, blockView{})
		}
		block := &p.blocks[patch.Block]
		*block = blockView{html: patch.HTML, done: patch.Done, rev: revision, from: block.rev, same: patch.Same, sameUTF16: patch.SameUTF16}
	}
	p.rev = revision
}

// finish says that no more text comes.
func (p *partView) finish(revision uint64) {
	if p.done {
		return
	}
	p.done = true
	if p.stream != nil {
		p.stream.Finish()
		p.dirty = true
		p.draw(revision)
		p.stream = nil
	}
	p.rev = revision
}

// whole returns the entry with everything.
func (v *entryView) whole() Entry {
	e := v.entry
	e.Whole = true
	e.Siblings = list(e.Siblings)
	e.PartCount = len(v.parts)
	e.Parts = []PartView{}
	for i, p := range v.parts {
		e.Parts = append(e.Parts, p.view(i, 0, true))
	}
	return e
}

// since returns what changed after a revision.
func (v *entryView) since(revision uint64) Entry {
	e := v.entry
	e.Siblings = list(e.Siblings)
	e.PartCount = len(v.parts)
	e.Parts = []PartView{}
	for i, p := range v.parts {
		if p.rev > revision {
			e.Parts = append(e.Parts, p.view(i, revision, false))
		}
	}
	return e
}

func (p *partView) view(index int, since uint64, whole bool) PartView {
	out := PartView{Index: index, Kind: p.kind, Blocks: []Block{}, BlockCount: len(p.blocks), MS: p.ms, Done: p.done, Media: p.media}
	if p.call != nil {
		call := *p.call
		out.Call = &call
	}
	for i, b := range p.blocks {
		switch {
		case whole || b.rev > since && b.from > since:
			out.Blocks = append(out.Blocks, Block{Index: i, HTML: b.html, Done: b.done})
		case b.rev > since:
			out.Blocks = append(out.Blocks, Block{Index: i, HTML: b.html[b.same:], Keep: b.sameUTF16, Done: b.done})
		}
	}
	return out
}

func usageView(u chat.Usage) *UsageView {
	return &UsageView{Input: u.Input, Output: u.Output, Cached: u.Cached, Reasoning: u.Reasoning, Cost: u.Cost}
}

func mediaView(m chat.Media) *MediaView {
	return &MediaView{ID: m.ID, Name: m.Name, MIME: m.MIME, Size: m.Size}
}
