package turn

import (
	"context"

	"conclave/app/chat"
	"conclave/app/fault"
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
		r, trace, err := t.o.Points.BeforeModel(ctx, t.request(ctx), t.origin.About)
		t.traced(trace)
		if err != nil {
			return r, err
		}
		t.hooked = &hooked{r, len(t.path)}
		return r, nil
	}
	r := t.request(ctx)
	r.System, r.Temperature, r.MaxTokens = t.hooked.request.System, t.hooked.request.Temperature, t.hooked.request.MaxTokens
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

// traced tells the person what hooks did.
func (t *run) traced(trace []hook.Trace) {
	for _, note := range hook.Notes(trace) {
		t.emit(Event{Kind: Noted, Note: note})
	}
}

// look has hooks look at a whole answer, and takes over what they make of its text.
func (t *run) look(ctx context.Context, w *writing) error {
	if t.o.Points == nil {
		return nil
	}
	m, trace, err := t.o.Points.AfterModel(ctx, w.m, t.origin.About)
	t.traced(trace)
	w.m.Parts = m.Parts
	return err
}

// busy is a conversation that a turn runs in, or that somebody holds.
type busy struct {
	turn  string        // empty while it is held
	ended chan struct{} // closed when it is over
}

// Hold keeps turns out of a conversation until release is called, for the moment
// in which something else changes its path; a turn that begins meanwhile waits.
// When a turn runs there, nothing is held and ended is closed once that turn is
// over. The error is the cause of ctx's end.
func (r *Runner) Hold(ctx context.Context, conversation chat.ConversationID) (release func(), ended <-chan struct{}, err error) {
	for {
		r.mu.Lock()
		now, ok := r.busy[conversation]
		if !ok {
			release := r.occupyLocked(conversation, "")
			r.mu.Unlock()
			return release, nil, nil
		}
		r.mu.Unlock()
		if now.turn != "" {
			return nil, now.ended, nil
		}
		select {
		case <-now.ended:
		case <-ctx.Done():
			return nil, nil, context.Cause(ctx)
		}
	}
}

// occupyLocked notes who has the conversation. The caller holds mu.
func (r *Runner) occupyLocked(conversation chat.ConversationID, turn string) (release func()) {
	b := &busy{turn, make(chan struct{})}
	r.busy[conversation] = b
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.busy[conversation] == b {
			delete(r.busy, conversation)
			close(b.ended)
		}
	}
}

// claim says that a turn runs in a conversation, until the function returned is
// called. Kind conflict when one does already; who only holds it is waited for.
func (r *Runner) claim(ctx context.Context, conversation chat.ConversationID, turn string) (release func(), err error) {
	for {
		r.mu.Lock()
		now, ok := r.busy[conversation]
		if !ok {
			defer r.mu.Unlock()
			return r.occupyLocked(conversation, turn), nil
		}
		r.mu.Unlock()
		if now.turn != "" {
			return nil, fault.New(fault.Conflict, "turn.run", "An answer is still being written in this chat.", "Stop it first, or wait for it.")
		}
		select {
		case <-now.ended:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
