package turn

import (
	"encoding/json"
	"maps"
	"strings"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/model"
)

// draft is an answer while it streams in. Text is gathered in builders, so that
// a delta costs the same however long the answer is. It is safe for concurrent
// use: the stream writes it, the journal reads it. The zero value is empty.
type draft struct {
	mu    sync.Mutex // guards the fields below
	parts []*draftPart
	usage *chat.Usage
	stop  model.StopReason
	dirty bool // changed since the last snapshot
	said  bool // the model said something
}

type draftPart struct {
	part  chat.Part
	text  strings.Builder
	began time.Time // when this program got its first words; zero for a part that it did not see begin
}

// partCost counts for a part in addition to its text, toward limit.AnswerText.
const partCost = 1 << 10

// cost returns what an event adds to an answer, toward limit.AnswerText.
func (d *draft) cost(e model.Event) int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := int64(len(e.Text))
	switch e.Kind {
	case model.Text:
		n += d.beginning(chat.PartText)
	case model.Reasoning:
		n += d.beginning(chat.PartReasoning)
	case model.Call, model.Drawn:
		n += partCost // arguments and pictures have their own bounds
	case model.Vendor:
		for _, value := range e.Part {
			n += int64(len(value))
		}
	}
	return n
}

// beginning returns what a part costs, if text of this kind begins one.
func (d *draft) beginning(kind chat.PartKind) int64 {
	if d.continues(kind) {
		return 0
	}
	return partCost
}

// continues reports whether text of this kind goes on with the last part.
func (d *draft) continues(kind chat.PartKind) bool {
	n := len(d.parts)
	return n > 0 && d.parts[n-1].part.Kind == kind && d.parts[n-1].part.Vendor == nil
}

// take adds an event.
func (d *draft) take(e model.Event) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n := len(d.parts); n > 0 && d.parts[n-1].part.Kind == chat.PartReasoning && !d.parts[n-1].began.IsZero() {
		d.parts[n-1].part.MS = time.Since(d.parts[n-1].began).Milliseconds() // it ends with what comes next
	}
	switch e.Kind {
	case model.Text:
		d.write(chat.PartText, e.Text)
	case model.Reasoning:
		d.write(chat.PartReasoning, e.Text)
	case model.Moved:
		d.move(chat.PartKind(e.Text))
	case model.Drawn:
		media := *e.Media
		d.parts = append(d.parts, &draftPart{part: chat.Part{Kind: chat.PartMedia, Media: &media}})
	case model.Call:
		call := e.Call
		if len(call.Arguments) == 0 {
			call.Arguments = json.RawMessage("{}")
		}
		d.parts = append(d.parts, &draftPart{part: chat.Part{Kind: chat.PartToolCall, Call: &call}})
	case model.Vendor:
		if len(d.parts) == 0 {
			d.parts = append(d.parts, &draftPart{part: chat.Part{Kind: chat.PartReasoning}})
		}
		p := &d.parts[len(d.parts)-1].part
		vendor := maps.Clone(p.Vendor) // a snapshot may hold the old one
		if vendor == nil {
			vendor = map[string]json.RawMessage{}
		}
		maps.Copy(vendor, e.Part)
		p.Vendor = vendor
	case model.End:
		usage := e.Usage
		d.usage, d.stop = &usage, e.Stop
		return
	default:
		return
	}
	d.dirty = true
	d.said = d.said || e.Kind != model.Moved
}

// write continues the last part, unless it is of another kind or was closed by
// its vendor's data.
func (d *draft) write(kind chat.PartKind, text string) {
	if !d.continues(kind) {
		d.parts = append(d.parts, &draftPart{part: chat.Part{Kind: kind}, began: time.Now()})
	}
	d.parts[len(d.parts)-1].text.WriteString(text)
}

// move makes parts of one kind of all text and thinking so far.
func (d *draft) move(kind chat.PartKind) {
	moved := d.parts[:0:0]
	for _, p := range d.parts {
		if p.part.Kind != chat.PartText && p.part.Kind != chat.PartReasoning {
			moved = append(moved, p)
			continue
		}
		if n := len(moved); n > 0 && moved[n-1].part.Kind == kind && moved[n-1].part.Vendor == nil {
			moved[n-1].text.WriteString(p.text.String())
			moved[n-1].part.Vendor = p.part.Vendor
			continue
		}
		p.part.Kind, p.part.MS = kind, 0
		moved = append(moved, p)
	}
	d.parts = moved
}

// snapshot returns the parts so far, and whether they changed since the last
// one.
func (d *draft) snapshot() ([]chat.Part, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	parts := make([]chat.Part, len(d.parts))
	for i, p := range d.parts {
		parts[i] = p.part
		parts[i].Text = p.text.String()
	}
	changed := d.dirty
	d.dirty = false
	return parts, changed
}

// empty reports whether nothing was said yet.
func (d *draft) empty() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.said
}
