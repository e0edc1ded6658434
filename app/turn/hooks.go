package turn

import (
	"context"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/llm"
)

// Hooks stand beside every turn: they may change what a model is sent, and hear
// what happens. Plugins that look at prompts are behind it.
type Hooks interface {
	// Before returns the request as it is to be sent, and sentences for the person
	// about what was changed. It is asked once for a turn, before the first
	// request; what the turn itself adds afterwards goes behind what Before
	// returned. An error ends the turn with its sentence.
	Before(ctx context.Context, r llm.Request, about About) (llm.Request, []string, error)
	// Heard is told of every event of a turn whose chat is kept, in order. It must
	// not block.
	Heard(e Event)
}

// About says what a request is for.
type About struct {
	Turn         string
	Conversation chat.ConversationID
	Model        string // "connection/model"
	Kind         string // normal; regenerate: a question is answered again; continue: open calls are made first
}

// hooked is a request as hooks left it, and how much of the path it covers.
type hooked struct {
	request llm.Request
	path    int // messages of the path that were in it
}

// prepared is the request of a round: built from the path, and for the first
// round of a turn as the hooks leave it.
func (t *run) prepared(ctx context.Context) (llm.Request, error) {
	if t.o.Hooks == nil {
		return t.request(ctx), nil
	}
	if t.hooked == nil {
		about := About{Turn: t.turn, Conversation: t.req.Conversation, Model: t.model, Kind: t.kind}
		r, notes, err := t.o.Hooks.Before(ctx, t.request(ctx), about)
		if err != nil {
			return r, err
		}
		for _, note := range notes {
			t.emit(Event{Kind: Noted, Note: note})
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

// heard tells the hooks of an event of a chat that is kept.
func (t *run) heard(e Event) {
	if t.o.Hooks != nil && t.req.Log == nil {
		t.o.Hooks.Heard(e)
	}
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
