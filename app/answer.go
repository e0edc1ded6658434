package app

import (
	"context"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/transcript"
	"conclave/app/turn"
)

// answer is a turn that runs in a conversation.
type answer struct {
	live   *transcript.Live // nil until the transcript knows of it
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the turn is over
}

// claim makes a turn the one that runs in a conversation, and returns its context.
// release lets the next one begin.
func (c *Chats) claim(conversation chat.ConversationID) (*answer, context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.stopped || c.ctx == nil:
		return nil, nil, errClosing
	case c.answers[conversation] != nil:
		return nil, nil, fault.New(fault.Conflict, "app.send",
			"An answer is still being written in this chat.", "Stop it first, or wait for it.")
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	a := &answer{cancel: cancel, done: make(chan struct{})}
	c.answers[conversation] = a
	return a, ctx, nil
}

func (c *Chats) release(conversation chat.ConversationID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[conversation].cancel(nil)
	delete(c.answers, conversation)
}

// show has the page see a turn in its conversation.
func (c *Chats) show(ctx context.Context, r turn.Request, model string) (*transcript.Live, error) {
	live, err := c.transcript(r.Conversation).Begin(ctx, r.ID, model)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.answers[r.Conversation].live = live
	return live, nil
}

// running reports whether a turn runs in a conversation.
func (c *Chats) running(conversation chat.ConversationID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.answers[conversation] != nil
}

// halt stops the turn that runs in a conversation, and returns what is closed when
// it is over; nil when none runs.
func (c *Chats) halt(conversation chat.ConversationID) <-chan struct{} {
	c.mu.Lock()
	a := c.answers[conversation]
	var live *transcript.Live
	if a != nil {
		live = a.live
	}
	c.mu.Unlock()
	if a == nil {
		return nil
	}
	if live != nil {
		live.Stopping()
	}
	a.cancel(errStopped)
	return a.done
}

// tell tells the transcript what happened in a turn.
func tell(ctx context.Context, live *transcript.Live, e turn.Event) {
	switch e.Kind {
	case turn.Questioned:
		live.Questioned(ctx)
	case turn.Waiting, turn.Noted:
		live.Waiting(e.Note)
	case turn.Retrying:
		live.Retrying(e.Note)
	case turn.Begun:
		live.Begun(ctx, e.Seq)
	case turn.Text:
		live.Text(e.Text)
	case turn.Reasoning:
		live.Reasoning(e.Text)
	case turn.Proposed, turn.Asked, turn.Running:
		live.Call(*e.Call)
	case turn.Held:
		live.Held(*e.Call, e.Request)
	case turn.Decided:
		live.Decided(*e.Call, e.Decision.Grant)
	case turn.Progress:
		live.Progress(*e.Call, e.Note)
	case turn.Answered:
		live.Answered(*e.Call, e.Result.Content)
	case turn.Saved:
		live.Saved()
	case turn.Used:
		live.Used(e.Usage)
	}
}
