package app

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"

	"conclave/app/render"
)

// puller is what a window holds of one part, by the rules of types.ts.
type puller struct {
	revision uint64
	blocks   [][]uint16
	got      int // bytes of HTML that it was sent
}

func (p *puller) pull(t *testing.T, part *partView, revision uint64) {
	part.draw(revision)
	for _, b := range part.view(0, p.revision, false).Blocks {
		for len(p.blocks) <= b.Index {
			p.blocks = append(p.blocks, nil)
		}
		if b.Keep > len(p.blocks[b.Index]) {
			t.Fatalf("it is to keep %d of %d", b.Keep, len(p.blocks[b.Index]))
		}
		p.blocks[b.Index] = append(p.blocks[b.Index][:b.Keep:b.Keep], utf16.Encode([]rune(b.HTML))...)
		p.got += len(b.HTML)
	}
	p.revision = revision
}

func (p *puller) html() string {
	var out strings.Builder
	for _, b := range p.blocks {
		out.WriteString(string(utf16.Decode(b)))
	}
	return out.String()
}

func TestF123PageGetsTheLinesThatCameAndOneThatMissedSomeGetsTheBlock(t *testing.T) {
	part := &partView{kind: "text", stream: &render.Stream{}}
	add := func(text string) {
		part.stream.Append(text)
		part.dirty = true
	}
	shown := func() string {
		var out strings.Builder
		for _, b := range part.blocks {
			out.WriteString(b.html)
		}
		return out.String()
	}
	var often, seldom puller
	add("before\n\n```go\n")
	const lines = 500
	for i := range lines {
		add(fmt.Sprintf("x := \"ünd %d 😀\"\nunfini", i))
		add("shed\n")
		revision := uint64(i + 2)
		often.pull(t, part, revision)
		if i%7 == 0 {
			seldom.pull(t, part, revision)
			if seldom.html() != shown() {
				t.Fatalf("at line %d the page that pulls seldom holds\n%s\nwant\n%s", i, seldom.html(), shown())
			}
		}
		if often.html() != shown() {
			t.Fatalf("at line %d the page holds\n%s\nwant\n%s", i, often.html(), shown())
		}
	}
	if limit := 5 * len(shown()); often.got > limit {
		t.Errorf("it was sent %d bytes for a block of %d", often.got, len(shown()))
	}
	part.finish(lines + 2)
	for _, p := range []*puller{&often, &seldom} {
		p.pull(t, part, lines+2)
		if p.html() != shown() {
			t.Errorf("at the end the page holds\n%s\nwant\n%s", p.html(), shown())
		}
	}
}
