package window

import (
	"context"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
)

// shownTurn is a turn of the window's as its page sees it.
type shownTurn struct {
	*turns
	r     turn.Request
	model string                 // display name of the request's
	begun chan<- chat.MessageSeq // gets the question's number once the turn goes on by itself, 0 for none
	live  *transcript.Live       // nil before it has started
}

// title is the display name of the model that answers, by its full one: that of a council's chair,
// where it is not the turn's own.
func (s *shownTurn) title(ctx context.Context, name string) string {
	if name == s.r.Model.Info().Name() {
		return s.model
	}
	model, err := s.core.Models.Open(ctx, name)
	if err != nil {
		return name
	}
	return model.Info().Title
}

// onEvent shows an event of the turn on the page.
func (s *shownTurn) onEvent(ctx context.Context, e chat.Event) {
	switch e.Kind {
	case chat.EventStarted:
		live, err := s.open.transcript(s.r.Conversation).Begin(ctx, s.r.ID, s.title(ctx, e.Model))
		if err != nil {
			s.log.Error("an answer cannot be shown while it is written", "conversation", s.r.Conversation, "err", err)
		}
		s.live = live
		s.core.Bus.Changed(bus.Chats, "")
		if s.r.Text == "" && len(s.r.Attachments) == 0 {
			s.begun <- 0
		}
	case chat.EventOver: // before the page sees that the turn is over
		s.open.finished(s.r.Conversation)
	}
	if s.live != nil {
		s.live.Take(ctx, e)
	}
	switch e.Kind {
	case chat.EventQuestioned:
		s.begun <- e.Seq
		s.core.Bus.Changed(bus.Chats, "")
	case chat.EventHeld, chat.EventDecided: // the list marks chats in which a person is asked
		s.core.Bus.Changed(bus.Chats, "")
	}
}

// deliberates shows what the council does before the turn answers. A run begins after the
// turn has.
func (s *shownTurn) deliberates(e deliberation.Event) {
	if s.live != nil && e.Step != nil {
		s.live.Council(e.Run.Doing(), e.Run.State == council.Asking)
	}
	s.deliberated(e)
}
