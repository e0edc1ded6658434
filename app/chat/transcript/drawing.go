package transcript

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/chat/render"
	"conclave/app/chat/showing"
	"conclave/app/tool"
)

// drawing holds what is rendered of an entry, with the revisions at which its pieces
// changed.
type drawing struct {
	head  Entry       // without parts and what the outline tells
	notes []chat.Note // of all messages
	parts []*part
	cards map[string]*part // by the calls' request ids
}

// part is one drawn part.
type part struct {
	kind   chat.PartKind
	blocks []block
	ms     int64
	done   bool
	call   *Call
	media  *showing.Media
	rev    uint64

	stream *render.Stream // while text comes
	dirty  bool           // text came since it was drawn
	inWord bool           // the text so far ends within a word
}

type block struct {
	html string
	done bool
	rev  uint64
	// A page that pulled at from or later holds this much of html already.
	from            uint64
	same, sameUTF16 int
}

// draw makes the drawing of an entry from its messages.
func (t *Transcript) draw(ctx context.Context, f Folded, messages []chat.Message) *drawing {
	d := &drawing{cards: map[string]*part{}}
	first, last := messages[0], messages[len(messages)-1]
	d.head = Entry{
		Seq: uint64(f.Seq), Role: f.Role, Turn: first.Turn, State: last.State,
		Created: chat.Stamp(first.Created), Ended: chat.Stamp(last.Ended), CanGoOn: last.CanGoOn(),
	}
	if f.Role == chat.RoleAssistant && first.Model != "" {
		d.head.Model = t.o.ModelTitle(ctx, first.Model)
	}
	if f.Role == chat.RoleAssistant && t.o.Council != nil {
		d.head.Council = t.o.Council(ctx, first.Turn)
	}
	var usage chat.Usage
	for _, m := range messages {
		if m.Usage != nil {
			usage = usage.Add(*m.Usage)
			d.head.MS += max(0, m.Ended.Sub(m.Created).Milliseconds())
		}
		if m.Reason != "" {
			d.head.Reason = m.Reason
		}
		if m.Error != nil {
			d.head.Error = failureOf(m.Error)
		}
		d.head.mark(m.Hooks)
		for _, n := range m.Notes {
			d.note(n)
		}
		for _, p := range m.Parts {
			t.drawPart(ctx, d, p)
		}
	}
	if usage != (chat.Usage{}) {
		d.head.Usage = UsageOf(usage)
	}
	return d
}

func (t *Transcript) drawPart(ctx context.Context, d *drawing, p chat.Part) {
	switch p.Kind {
	case chat.PartText, chat.PartReasoning:
		if p.Text == "" {
			return
		}
		if p.Kind == chat.PartText {
			d.head.Words += len(strings.Fields(p.Text))
		}
		drawn := d.add(p.Kind)
		drawn.done, drawn.ms = true, p.MS
		for _, b := range render.Render(p.Text) {
			drawn.blocks = append(drawn.blocks, block{html: b.HTML, done: true})
		}
	case chat.PartToolCall:
		record, err := t.o.Store.Call(ctx, p.Call.Sequence)
		if err != nil || p.Call.Sequence == 0 {
			record = chat.CallRecord{
				RequestID: p.Call.ID, ToolName: p.Call.Tool, Arguments: p.Call.Arguments, RawArguments: p.Call.Raw,
				Mended: p.Call.Mended, Status: chat.CallCancelled,
			}
		}
		d.head.mark(record.Hooks)
		drawn := d.add(chat.PartToolCall)
		drawn.done, drawn.call = true, t.card(record)
		d.cards[p.Call.ID] = drawn
	case chat.PartToolResult:
		if drawn := d.cards[p.Result.CallID]; drawn != nil && drawn.call.ID == "" {
			drawn.call.State = callState(chat.CallRecord{Status: p.Result.Status})
		}
		for _, c := range p.Result.Content {
			if c.Kind == chat.PartMedia {
				t.drawPart(ctx, d, c)
			}
		}
	case chat.PartMedia:
		drawn := d.add(chat.PartMedia)
		drawn.done, drawn.media = true, showing.MediaOf(*p.Media)
	}
}

// mark notes what hooks did.
func (e *Entry) mark(steps []chat.HookStep) {
	for _, s := range steps {
		mark := HookMark{s.Plugin, s.Title, s.Action}
		if s.Action != chat.HookLooked && !slices.Contains(e.Hooks, mark) {
			e.Hooks = append(e.Hooks, mark)
		}
	}
}

// note shows a note of one of the messages.
func (d *drawing) note(n chat.Note) {
	n.Text = tool.OneLine(n.Text)
	d.notes, _ = chat.AddNote(d.notes, n)
	d.head.Notes = make([]string, 0, len(d.notes)) // the page may still be reading the old ones
	for _, n := range d.notes {
		d.head.Notes = append(d.head.Notes, n.Sentence())
	}
}

func (d *drawing) add(kind chat.PartKind) *part {
	p := &part{kind: kind}
	d.parts = append(d.parts, p)
	return p
}

// open is the text or reasoning that grows, or nil.
func (d *drawing) open() *part {
	if n := len(d.parts); n > 0 && d.parts[n-1].stream != nil {
		return d.parts[n-1]
	}
	return nil
}

// render draws the text that came since the last time.
func (d *drawing) render(revision uint64) {
	for _, p := range d.parts {
		p.render(revision)
	}
}

// follow takes over from an older drawing of the same entry what did not change,
// with its revisions, and reports whether anything did.
func (d *drawing) follow(old *drawing, revision uint64) bool {
	changed := len(d.parts) != len(old.parts)
	for i, p := range d.parts {
		var was *part
		if i < len(old.parts) && old.parts[i].kind == p.kind {
			was = old.parts[i]
		}
		changed = p.follow(was, revision) || changed
	}
	return !reflect.DeepEqual(d.head, old.head) || changed
}

func (p *part) follow(old *part, revision uint64) bool {
	if old == nil {
		old = &part{rev: revision}
	}
	if p.ms == 0 {
		p.ms = old.ms // is measured while it is thought, and not kept
	}
	if p.call != nil && old.call != nil && p.call.ID == old.call.ID {
		p.call.Grant = old.call.Grant // nor is this
	}
	same := old.rev != revision && p.ms == old.ms && p.done == old.done && len(p.blocks) == len(old.blocks) &&
		reflect.DeepEqual(p.call, old.call) && reflect.DeepEqual(p.media, old.media)
	for i := range p.blocks {
		b := &p.blocks[i]
		if i < len(old.blocks) && old.blocks[i].html == b.html && old.blocks[i].done == b.done {
			*b = old.blocks[i]
			continue
		}
		b.rev, same = revision, false
	}
	p.rev = old.rev
	if !same {
		p.rev = revision
	}
	return !same
}

// render draws the text that came since the last time.
func (p *part) render(revision uint64) {
	if !p.dirty {
		return
	}
	p.dirty = false
	for _, patch := range p.stream.Patches() {
		for len(p.blocks) <= patch.Block {
			p.blocks = append(p.blocks, block{})
		}
		b := &p.blocks[patch.Block]
		*b = block{patch.HTML, patch.Done, revision, b.rev, patch.Same, patch.SameUTF16}
	}
	p.rev = revision
}

// finish marks the part as complete.
func (p *part) finish(revision uint64) {
	p.stream.Finish()
	p.done, p.dirty = true, true
	p.render(revision)
	p.stream = nil
}
