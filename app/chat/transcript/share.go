package transcript

import (
	"context"
	"html"
	"strings"

	"conclave/app/chat"
)

// How much HTML a pull brings, in bytes. Of an entry that the page does not hold it
// brings the end and a beginning; the page asks for what is between as it comes near.
const (
	pullBytes  = 96 << 10 // of what changed, or opens the conversation
	wantBytes  = 96 << 10 // of what the page asks for, in addition to the last block of it
	endBytes   = 24 << 10 // of the end of an entry: some screens
	beginBytes = 4 << 10  // of its beginning: about a screen
	partBytes  = 512      // what a part counts for in addition to its blocks
)

// room is the number of bytes that may still go into a pull.
type room struct{ changed, wanted int }

// spot is the place of a block in an entry.
type spot struct{ part, block int }

// entry returns what changed of the entry after a revision, and the blocks wanted.
// When that is whole, or more than there is room for, it is all but the middle.
func (p *place) entry(since uint64, whole bool, wants []Want, left *room) Entry {
	d, blocks := p.drawing, map[spot]Block{}
	size := d.changed(blocks, since)
	if whole = whole || size > left.changed; whole {
		clear(blocks)
		size = d.ends(blocks, left.changed)
	}
	left.changed -= size
	for _, w := range wants {
		left.wanted -= d.wanted(blocks, w, left.wanted)
	}
	e := d.head
	e.Whole, e.PartCount, e.Parts = whole, len(d.parts), []Part{}
	e.Hidden, e.Siblings, e.OtherBranch = p.hidden, append([]uint64{}, p.siblings...), p.behind
	for i, part := range d.parts {
		view := part.view(i, blocks)
		if whole || part.rev > since || len(view.Blocks) > 0 {
			e.Parts = append(e.Parts, view)
		}
	}
	return e
}

// changed adds the blocks that changed after a revision, and returns their length.
func (d *drawing) changed(blocks map[spot]Block, since uint64) int {
	size := 0
	for i, p := range d.parts {
		for j, b := range p.blocks {
			if p.rev > since && b.rev > since {
				blocks[spot{i, j}] = b.view(j, since)
				size += len(blocks[spot{i, j}].HTML)
			}
		}
	}
	return size
}

// ends adds the end and the beginning of the entry as far as there is room, and
// returns their length. What is folded is left for when it is opened.
func (d *drawing) ends(blocks map[spot]Block, room int) int {
	var all []spot
	for i, p := range d.parts {
		for j := range p.blocks {
			if p.kind != chat.PartReasoning {
				all = append(all, spot{i, j})
			}
		}
	}
	size := partBytes * len(d.parts)
	take := func(at spot, upTo int) bool {
		b := &d.parts[at.part].blocks[at.block]
		if size+len(b.html) > upTo {
			return false
		}
		size += len(b.html)
		blocks[at] = b.view(at.block, 0)
		return true
	}
	upTo := min(room, size+endBytes)
	for len(all) > 0 && take(all[len(all)-1], upTo) {
		all = all[:len(all)-1]
	}
	upTo = min(room, size+beginBytes)
	for len(all) > 0 && take(all[0], upTo) {
		all = all[1:]
	}
	return size
}

// wanted adds blocks that the page asks for while there is room, and returns their
// length.
func (d *drawing) wanted(blocks map[spot]Block, w Want, room int) int {
	if w.Part < 0 || w.Part >= len(d.parts) {
		return 0
	}
	size := 0
	all := d.parts[w.Part].blocks
	for j := max(w.From, 0); j < min(w.To, len(all)) && size < room; j++ {
		blocks[spot{w.Part, j}] = all[j].view(j, 0)
		size += len(all[j].html)
	}
	return size
}

// view returns the part with some of the entry's blocks.
func (p *part) view(index int, blocks map[spot]Block) Part {
	out := Part{
		Index: index, Kind: p.kind, Blocks: []Block{}, BlockCount: len(p.blocks), MS: p.ms, Done: p.done, Media: p.media,
	}
	if p.call != nil {
		call := *p.call
		out.Call = &call
	}
	for j := range p.blocks {
		if b, ok := blocks[spot{index, j}]; ok {
			out.Blocks = append(out.Blocks, b)
		}
	}
	return out
}

// view returns the block for a page that has what there was at a revision, 0 for one
// that has nothing.
func (b *block) view(index int, since uint64) Block {
	if b.rev > since && b.from <= since {
		return Block{Index: index, HTML: b.html[b.same:], Keep: b.sameUTF16, Done: b.done}
	}
	return Block{Index: index, HTML: b.html, Done: b.done}
}

// Found is a place where the words stand that are looked for.
type Found struct {
	Spot Spot
	Nth  int // how many of them stand before it in its block
}

// Places returns where words stand in what an entry says, in any case, at most limit places.
func (t *Transcript) Places(ctx context.Context, seq uint64, words string, limit int) ([]Found, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	p := t.places[chat.MessageSeq(seq)]
	if p == nil || !p.onPath || words == "" {
		return nil, nil
	}
	if err := t.drawNow(ctx, p); err != nil {
		return nil, err
	}
	words = strings.ToLower(words)
	var found []Found
	for i, part := range p.drawing.parts {
		if part.kind != chat.PartText {
			continue
		}
		for j, b := range part.blocks {
			for n := range min(strings.Count(strings.ToLower(textOf(b.html)), words), limit-len(found)) {
				found = append(found, Found{Spot{i, j}, n})
			}
		}
	}
	return found, nil
}

// textOf returns the text of rendered HTML, in which every < begins a tag.
func textOf(rendered string) string {
	var b strings.Builder
	for rendered != "" {
		text, rest, _ := strings.Cut(rendered, "<")
		b.WriteString(text)
		_, rendered, _ = strings.Cut(rest, ">")
	}
	return html.UnescapeString(b.String())
}
