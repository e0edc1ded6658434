package turn

import (
	"context"

	"conclave/app/hook"
	"conclave/app/llm"
)

// hooked is a request as hooks left it, and how much of the path it covers.
type hooked struct {
	request llm.Request
	path    int // messages of the path that were in it
}

// prepared is the request of a round: built from the path, and for the first
// round of a turn as the hooks leave it.
func (t *run) prepared(ctx context.Context) (llm.Request, error) {
	if t.o.Points == nil {
		return t.request(ctx), nil
	}
	if t.hooked == nil {
		r, trace, err := t.o.Points.BeforeModel(ctx, t.request(ctx), t.callTurn.TurnInfo)
		t.traced(trace)
		if err != nil {
			return r, err
		}
		t.hooked = &hooked{r, len(t.path)}
		return r, nil
	}
	r := t.request(ctx)
	r.System, r.Temperature, r.MaxTokens = t.hooked.request.System, t.hooked.request.Temperature,
		t.hooked.request.MaxTokens
	r.Messages = append([]llm.Message{}, t.hooked.request.Messages...)
	for _, m := range t.messages(ctx, t.path[t.hooked.path:]) {
		if n := len(r.Messages); n > 0 && r.Messages[n-1].Role == m.Role {
			last := &r.Messages[n-1]
			last.Parts = append(last.Parts[:len(last.Parts):len(last.Parts)], m.Parts...)
			continue
		}
		r.Messages = append(r.Messages, m)
	}
	return r, nil
}

// traced remembers what hooks did for the message that is written next, and tells the
// person their notes.
func (t *run) traced(trace []hook.Trace) {
	t.trace = append(t.trace, trace...)
	for _, note := range hook.Notes(trace) {
		t.emit(Event{Kind: Noted, Note: note})
	}
}

// afterModel runs the hooks on a whole answer and applies their changes to its text.
func (t *run) afterModel(ctx context.Context, w *writing) error {
	if t.o.Points == nil {
		return nil
	}
	m, trace, err := t.o.Points.AfterModel(ctx, w.m, t.callTurn.TurnInfo)
	t.traced(trace)
	w.m.Parts = m.Parts
	return err
}
