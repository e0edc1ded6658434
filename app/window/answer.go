package window

import (
	"context"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/chat/turn"
	"conclave/app/council/deliberation"
)

// shownTurn is a turn of the window's as its page sees it.
type shownTurn struct {
	c     *Chats
	r     turn.Request
	model string                 // display name of the request's
	begun chan<- chat.MessageSeq // gets the question's number once the turn goes on by itself, 0 for none
	live  *transcript.Live       // nil before it has started
	ended turn.Event
}

// title is the display name of the model that answers, by its full one: that of a council's chair,
// where it is not the turn's own.
func (s *shownTurn) title(ctx context.Context, name string) string {
	if name == s.r.Model.Info().Name() {
		return s.model
	}
	model, err := s.c.core.Models.Open(ctx, name)
	if err != nil {
		return name
	}
	return model.Info().Title
}

// onEvent shows an event of the turn on the page.
func (s *shownTurn) onEvent(ctx context.Context, e turn.Event) {
	switch e.Kind {
	case turn.Started:
		live, err := s.c.transcript(s.r.Conversation).Begin(ctx, s.r.ID, s.title(ctx, e.Model))
		if err != nil {
			s.c.log.Error("an answer cannot be shown while it is written", "conversation", s.r.Conversation, "err", err)
		}
		s.live = live
		s.c.core.Bus.Changed(bus.Chats, "")
		if s.r.Text == "" && len(s.r.Attachments) == 0 {
			s.begun <- 0
		}
	case turn.Ended:
		s.ended = e
	}
	if s.live != nil {
		tell(ctx, s.live, e)
	}
	switch e.Kind {
	case turn.Questioned:
		s.begun <- e.Seq
		s.c.core.Bus.Changed(bus.Chats, "")
	case turn.AwaitingApproval, turn.Decided: // the list marks chats in which a person is asked
		s.c.core.Bus.Changed(bus.Chats, "")
	case turn.Over:
		s.c.finished(s.r.Conversation)
		if s.live != nil { // last: whoever sees that the turn is over sees all that came of it
			s.live.End(context.WithoutCancel(ctx), s.ended.Reason, s.ended.Failure)
		}
	}
}

// deliberates shows what the council does before the turn answers. A run begins after the
// turn has.
func (s *shownTurn) deliberates(e deliberation.Event) {
	if s.live != nil && e.Step != nil {
		s.live.Council(e.Run.Doing())
	}
	s.c.deliberated(e)
}

// tell tells the transcript what happened in a turn.
func tell(ctx context.Context, live *transcript.Live, e turn.Event) {
	switch e.Kind {
	case turn.Questioned:
		live.Questioned(ctx)
	case turn.Noted:
		if e.Kept {
			live.Noted(e.Note)
		} else {
			live.Waiting(e.Note)
		}
	case turn.Waiting:
		live.Waiting(e.Note)
	case turn.Retrying:
		live.Retrying(e.Note)
	case turn.Begun:
		live.Begun(ctx, e.Seq, e.Parent)
	case turn.Text:
		live.Text(e.Text)
	case turn.Reasoning:
		live.Reasoning(e.Text)
	case turn.Proposed, turn.Asked, turn.Running:
		live.Call(*e.Call)
	case turn.AwaitingApproval:
		live.Held(*e.Call, e.Request)
	case turn.Decided:
		live.Decided(*e.Call, e.Decision.Rule)
	case turn.Progress:
		live.Progress(*e.Call, e.Note)
	case turn.Answered:
		live.Answered(*e.Call, e.Result.Content)
	case turn.Saved:
		live.Saved()
	case turn.Used:
		live.Used(e.Usage)
	case turn.Stopping:
		live.Stopping()
	}
}
