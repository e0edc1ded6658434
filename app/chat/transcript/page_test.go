package transcript_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"conclave/app/chat/transcript"
)

// page holds what a window has of a conversation, by the rules of views.go.
type page struct {
	t        testing.TB
	tr       *transcript.Transcript
	revision uint64
	chat     *transcript.Chat
	outline  []uint64
	entries  map[uint64]*transcript.Entry
	status   *transcript.TurnStatus
	last     transcript.Pull
	sent     int // bytes of HTML that it was sent
}

func newPage(t testing.TB, tr *transcript.Transcript) *page {
	return &page{t: t, tr: tr, entries: map[uint64]*transcript.Entry{}}
}

// pull takes in what changed, and what it wants.
func (p *page) pull(wants ...transcript.Want) {
	p.t.Helper()
	pull, err := p.tr.Pull(p.t.Context(), p.revision, wants...)
	must(p.t, err)
	p.take(pull)
}

func (p *page) take(pull transcript.Pull) {
	p.t.Helper()
	if pull.Revision < p.revision {
		p.t.Fatalf("a pull since %d is of revision %d", p.revision, pull.Revision)
	}
	if pull.Reset {
		clear(p.entries)
	}
	p.last, p.revision, p.status = pull, pull.Revision, pull.Status
	if pull.Chat != nil {
		p.chat = pull.Chat
	}
	if o := pull.Outline; o != nil {
		if o.From > len(p.outline) {
			p.t.Fatalf("the path changes from %d, and has %d entries", o.From, len(p.outline))
		}
		p.outline = append(slices.Clone(p.outline[:o.From]), o.Seqs...)
	}
	for i, e := range pull.Entries {
		if i > 0 && pull.Entries[i-1].Seq >= e.Seq {
			p.t.Fatalf("the entries are not in order: %d before %d", pull.Entries[i-1].Seq, e.Seq)
		}
		held := p.entries[e.Seq]
		switch {
		case held != nil:
			p.merge(held, e)
		case e.Whole:
			p.entries[e.Seq] = p.merge(&transcript.Entry{}, e)
		}
	}
}

// lacking is the index of a block that the page does not hold.
const lacking = -1

func (p *page) merge(held *transcript.Entry, e transcript.Entry) *transcript.Entry {
	p.t.Helper()
	parts := held.Parts
	*held = e
	for _, part := range e.Parts {
		for len(parts) <= part.Index {
			parts = append(parts, transcript.Part{})
		}
		was := parts[part.Index]
		if was.Kind != part.Kind || e.Whole {
			was.Blocks = nil
		}
		blocks := slices.Clone(was.Blocks[:min(len(was.Blocks), part.BlockCount)])
		for len(blocks) < part.BlockCount {
			blocks = append(blocks, transcript.Block{Index: lacking})
		}
		for _, b := range part.Blocks {
			p.sent += len(b.HTML)
			was := blocks[b.Index]
			if was.Index == lacking && b.Keep > 0 {
				continue // it may stay as it is until somebody looks there
			}
			html := b.HTML
			if b.Keep > 0 {
				units := utf16.Encode([]rune(was.HTML))
				if b.Keep > len(units) {
					p.t.Fatalf("it is to keep %d of %d", b.Keep, len(units))
				}
				html = string(utf16.Decode(units[:b.Keep])) + html
			}
			blocks[b.Index] = transcript.Block{Index: b.Index, HTML: html, Done: b.Done}
		}
		part.Blocks = append([]transcript.Block{}, blocks...)
		parts[part.Index] = part
	}
	if len(parts) < e.PartCount {
		p.t.Fatalf("%d has %d parts, the page has %d", e.Seq, e.PartCount, len(parts))
	}
	held.Whole, held.Parts = true, append([]transcript.Part{}, parts[:e.PartCount]...)
	return held
}

// wants asks for what the page does not hold of the path.
func (p *page) wants() []transcript.Want {
	var wants []transcript.Want
	for _, seq := range p.outline {
		if p.entries[seq] == nil {
			wants = append(wants, transcript.Want{Seq: seq})
			continue
		}
		for _, part := range p.entries[seq].Parts {
			for i, b := range part.Blocks {
				if b.Index != lacking {
					continue
				}
				if n := len(wants) - 1; n >= 0 &&
					wants[n] == (transcript.Want{Seq: seq, Part: part.Index, From: wants[n].From, To: i}) {
					wants[n].To++
				} else {
					wants = append(wants, transcript.Want{Seq: seq, Part: part.Index, From: i, To: i + 1})
				}
			}
		}
	}
	return wants
}

// need pulls until the page holds all of the path, as one does that scrolls through
// it. last stays what the pull before brought.
func (p *page) need() {
	p.t.Helper()
	last := p.last
	for wants := p.wants(); len(wants) > 0; wants = p.wants() {
		p.pull(wants...)
		if len(p.last.Entries) == 0 {
			p.t.Fatalf("of %+v nothing comes", wants)
		}
	}
	p.last = last
}

// sight is everything that a person sees.
type sight struct {
	Chat    *transcript.Chat
	Outline []uint64
	Entries []*transcript.Entry
	Status  *transcript.TurnStatus
}

func (p *page) sight() sight {
	p.t.Helper()
	shown := []*transcript.Entry{}
	for _, seq := range p.outline {
		if p.entries[seq] == nil {
			p.t.Fatalf("the page does not hold %d", seq)
		}
		shown = append(shown, p.entries[seq])
	}
	if wants := p.wants(); len(wants) > 0 {
		p.t.Fatalf("the page lacks %+v", wants)
	}
	return sight{p.chat, append([]uint64{}, p.outline...), shown, p.status}
}

// same fails the test when one sees something else than one should. It compares values: their
// text takes ten times as long, and is written for people.
func same(t testing.TB, what string, got, want sight) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("%s,\n%s", what, difference(encode(t, got), encode(t, want)))
	}
}

func encode(t testing.TB, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(v, "", " ")
	must(t, err)
	return string(text)
}

// fresh is the page of somebody who opens the conversation now.
func fresh(t testing.TB, tr *transcript.Transcript) *page {
	t.Helper()
	p := newPage(t, tr)
	p.pull()
	p.need()
	return p
}

// check pulls, and fails the test when the page does not then show what a fresh one
// does.
func (p *page) check(when string) {
	p.t.Helper()
	p.pull()
	p.need()
	same(p.t, when+", the page shows, against one that opens now", p.sight(), fresh(p.t, p.tr).sight())
}

// entry returns an entry of the page.
func (p *page) entry(seq uint64) *transcript.Entry {
	p.t.Helper()
	if p.entries[seq] == nil {
		p.t.Fatalf("the page does not hold %d", seq)
	}
	return p.entries[seq]
}

// words is the text of an entry, without its marks.
func words(e *transcript.Entry) string {
	text := ""
	for _, part := range e.Parts {
		for _, b := range part.Blocks {
			text += b.HTML
		}
	}
	return text
}

// settled returns what the page shows without what only a transcript that saw the turn knows:
// how long it thought, and which rule an answer made.
func (p *page) settled() sight {
	for _, e := range p.entries {
		for i := range e.Parts {
			e.Parts[i].MS = 0
			if e.Parts[i].Call != nil {
				call := *e.Parts[i].Call
				call.Grant = ""
				e.Parts[i].Call = &call
			}
		}
	}
	return p.sight()
}

// reopened fails the test when a transcript that saw turns end shows them otherwise
// than one that reads them from the store.
func reopened(t testing.TB, tr *transcript.Transcript, m *memory) {
	t.Helper()
	same(t, "the page shows, against one after reopening", fresh(t, tr).settled(), fresh(t, m.open(t)).settled())
}

// difference shows where two texts begin to differ, and in which entry.
func difference(got, want string) string {
	a, b := strings.Split(got, "\n"), strings.Split(want, "\n")
	i, entry := 0, ""
	for i < len(a) && i < len(b) && a[i] == b[i] {
		if strings.HasPrefix(a[i], `   "seq"`) {
			entry = strings.TrimSpace(a[i])
		}
		i++
	}
	cut := func(lines []string) string {
		return strings.Join(lines[max(0, min(i, len(lines))-3):min(len(lines), i+8)], "\n")
	}
	return fmt.Sprintf("in %s\n%s\n--- want\n%s", entry, cut(a), cut(b))
}
