package elicit

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/tool"

	"github.com/google/uuid"
)

// Bounds of questions.
const (
	Wait         = 10 * time.Minute // how long a question waits for an answer
	maxOpen      = 5                // questions of one plugin that wait at once: more is a flood
	maxFields    = 50
	maxChoices   = 500
	maxText      = 16 << 10 // of a message, in bytes
	maxFieldText = 2 << 10  // of a title or a description
)

// Asker asks a person right away: a terminal. Ask returns when they answered, or with an answer of
// Cancel.
type Asker interface {
	AskForm(ctx context.Context, q Question) (Answer, error)
}

type askerKey struct{}

// WithAsker returns a context whose calls have their questions answered by a, in place of the window.
func WithAsker(ctx context.Context, a Asker) context.Context {
	return context.WithValue(ctx, askerKey{}, a)
}

// Desk holds the questions that wait. Use New. Its methods are safe for concurrent use.
type Desk struct {
	bus *bus.Bus

	mu      sync.Mutex // guards the fields below
	open    []*waiting // oldest first
	windows int
	closed  bool
}

// waiting is a question that waits. Whoever removes it from the list sends the answer.
type waiting struct {
	Question
	answer chan Answer // holds one
}

// New returns a desk without questions. It announces changes on b.
func New(b *bus.Bus) *Desk { return &Desk{bus: b} }

// Attach records that a window shows the questions, until detach is called. When the last one is gone,
// the questions that wait are cancelled.
func (d *Desk) Attach() (detach func()) {
	d.mu.Lock()
	d.windows++
	d.mu.Unlock()
	return sync.OnceFunc(func() {
		d.mu.Lock()
		d.windows--
		none := d.windows == 0
		d.mu.Unlock()
		if none {
			d.cancel(every, "the window was closed")
		}
	})
}

// Close cancels all questions, now and later.
func (d *Desk) Close() {
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.cancel(every, "Conclave was closed")
}

// Ask has the person answer a question: at the terminal that ctx names, else in a window. It returns
// Cancel when nobody can be asked, nobody answered within Wait, or ctx ended.
func (d *Desk) Ask(ctx context.Context, q Question) Answer {
	q, why := cleaned(q)
	if why != "" {
		return Answer{Action: Decline, Why: why}
	}
	q.ID, q.Asked = uuid.NewString(), time.Now()
	q.Expires = q.Asked.Add(Wait)
	if asker, ok := ctx.Value(askerKey{}).(Asker); ok {
		ctx, cancel := context.WithTimeout(ctx, Wait)
		defer cancel()
		a, err := asker.AskForm(ctx, q)
		if err != nil {
			return Answer{Action: Cancel, Why: "nobody answered at the terminal"}
		}
		return a
	}
	w := &waiting{q, make(chan Answer, 1)}
	if why := d.add(w); why != "" {
		return Answer{Action: Cancel, Why: why}
	}
	d.notify()
	timer := time.NewTimer(Wait)
	defer timer.Stop()
	select {
	case a := <-w.answer:
		return a
	case <-q.Finished:
		return d.leave(w, Answer{Action: Accept})
	case <-timer.C:
		return d.leave(w, Answer{Action: Cancel, Why: "nobody answered in ten minutes"})
	case <-ctx.Done():
		return d.leave(w, Answer{Action: Cancel, Why: "the call was stopped before anybody answered"})
	}
}

// add puts a question into the list; why says why it cannot be asked.
func (d *Desk) add(w *waiting) (why string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	of := 0
	for _, other := range d.open {
		if other.Plugin == w.Plugin {
			of++
		}
	}
	switch {
	case d.windows == 0 || d.closed:
		return "nobody could be asked: no window is open and this is not a terminal"
	case of >= maxOpen:
		return "it asks more than five questions at once"
	}
	d.open = append(d.open, w)
	return ""
}

// leave answers a question that its asker waits for no longer with a, unless the person answered it
// meanwhile, and returns the answer.
func (d *Desk) leave(w *waiting, a Answer) Answer {
	d.settle(func(o *waiting) bool { return o == w }, a)
	return <-w.answer
}

// cancel cancels the questions that match.
func (d *Desk) cancel(match func(*waiting) bool, why string) {
	d.settle(match, Answer{Action: Cancel, Why: why})
}

func every(*waiting) bool { return true }

// settle removes the questions that match and answers them with a.
func (d *Desk) settle(match func(*waiting) bool, a Answer) {
	d.mu.Lock()
	var gone []*waiting
	d.open = slices.DeleteFunc(d.open, func(w *waiting) bool {
		if match(w) {
			gone = append(gone, w)
			return true
		}
		return false
	})
	d.mu.Unlock()
	for _, w := range gone {
		w.answer <- a
	}
	if len(gone) > 0 {
		d.notify()
	}
}

// List returns the questions that wait, oldest first.
func (d *Desk) List() []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := make([]Question, len(d.open))
	for i, w := range d.open {
		list[i] = w.Question
	}
	return list
}

// Answer answers a question. Values that the form does not take are returned with the sentence about
// each, and the question waits on. For a question that waits no longer the error has kind conflict, for
// an action that does not exist kind invalid.
func (d *Desk) Answer(id string, a Answer) ([]Wrong, error) {
	if a.Action != Accept && a.Action != Decline && a.Action != Cancel {
		return nil, fault.New(fault.Invalid, "elicit.answer", "This is no answer to a question: "+string(a.Action)+".",
			"An answer is accept, decline or cancel.")
	}
	d.mu.Lock()
	i := slices.IndexFunc(d.open, func(w *waiting) bool { return w.ID == id })
	if i < 0 {
		d.mu.Unlock()
		return nil, fault.New(fault.Conflict, "elicit.answer", "This question was settled already.", "Look again.")
	}
	w := d.open[i]
	if a.Action == Accept {
		values, wrong := Check(w.Fields, a.Values)
		if len(wrong) > 0 {
			d.mu.Unlock()
			return wrong, nil
		}
		a.Values = values
	} else {
		a.Values = nil
	}
	d.open = slices.Delete(d.open, i, i+1)
	d.mu.Unlock()
	w.answer <- a
	d.notify()
	return nil, nil
}

func (d *Desk) notify() { d.bus.Changed(bus.Questions, "") }

// cleaned returns a question whose texts hold no hidden characters; why says why it cannot be asked.
func cleaned(q Question) (_ Question, why string) {
	if q.Number == 0 {
		q.Number, q.Of = 1, 1
	}
	q.Message = clean(q.Message, maxText)
	if q.Address != "" {
		u, err := url.Parse(q.Address)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil ||
			!printable(q.Address) {
			return q, "its address is not one that a browser should open"
		}
		q.Fields = nil
		return q, ""
	}
	if len(q.Fields) > maxFields {
		return q, "its form has more than 50 fields"
	}
	q.Fields = slices.Clone(q.Fields)
	names := map[string]bool{}
	for i := range q.Fields {
		f := &q.Fields[i]
		if names[f.Name] {
			return q, "its form has two fields of one name"
		}
		names[f.Name] = true
		if why := f.clean(); why != "" {
			return q, why
		}
	}
	return q, ""
}

// clean removes hidden characters from what is shown of a field. What goes back to the plugin stays as it is, so that
// a field with a name or a choice which cannot be shown refuses the form: why says so.
func (f *Field) clean() (why string) {
	if len(f.Choices) > maxChoices {
		return "its form has a field with more than 500 choices"
	}
	if clean(f.Name, maxFieldText) != f.Name {
		return "its form has a field whose name cannot be shown"
	}
	f.Title, f.Description = clean(f.Title, maxFieldText), clean(f.Description, maxFieldText)
	if clean(f.Pattern, maxFieldText) != f.Pattern {
		f.Pattern = "" // it would be shown with a value that it does not match
	}
	if text, ok := f.Default.(string); ok {
		f.Default = clean(text, maxText)
	}
	f.Choices = slices.Clone(f.Choices)
	values := map[string]bool{}
	for j := range f.Choices {
		c := &f.Choices[j]
		if values[c.Value] || clean(c.Value, maxFieldText) != c.Value {
			return "its form has a choice twice, or one that cannot be shown"
		}
		values[c.Value] = true
		c.Title = clean(c.Title, maxFieldText)
	}
	return ""
}

// clean returns a text without hidden characters, cut to so many bytes.
func clean(text string, most int) string {
	text, _ = tool.Clean(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// printable reports whether an address consists of characters that one sees.
func printable(address string) bool {
	return !strings.ContainsFunc(address, func(r rune) bool { return r <= ' ' || r == 0x7f }) &&
		func() bool { _, hidden := tool.Strip(address); return hidden == 0 }()
}
