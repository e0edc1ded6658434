package deliberation

import (
	"context"
	"iter"
	"sync/atomic"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/model"
)

var errStopped = fault.New(fault.Canceled, "deliberation.stop", "You stopped it.", "")

// chair is the main model of a turn with a council: before its first request the council deliberates,
// and each request includes the notes. One turn uses it, one request at a time.
type chair struct {
	model.Model
	s      *session
	cancel context.CancelCauseFunc // of the turn

	turn, kind string // of the turn, once it has started
	asked      bool
	loop       *loop // nil without a run
	notes      string
	origins    []chat.Origin // of the notes
	placed     bool
	at         int    // place of the notes in the requests
	groups     string // the newest JSON block at the end of the model's words
	took       time.Duration

	members atomic.Bool // the members are working
}

// Preparing reports whether the members are working, so that the model was not asked yet. It is safe
// for concurrent use.
func (c *chair) Preparing() bool { return c.members.Load() }

// hear records the id and kind of the turn, and passes events on.
func (c *chair) hear(on func(chat.Event)) func(chat.Event) {
	return func(e chat.Event) {
		if e.Kind == chat.EventStarted {
			c.turn, c.kind = e.Turn, e.Answers
		}
		if on != nil {
			on(e)
		}
	}
}

// taint adds the origins of the notes to those of the request.
func (c *chair) taint(before func() []chat.Origin) func() []chat.Origin {
	return func() []chat.Origin {
		var all []chat.Origin
		if before != nil {
			all = before()
		}
		if c.notes != "" {
			all = chat.AddOrigins(all, c.origins...)
		}
		return all
	}
}

// Stream implements model.Model.
func (c *chair) Stream(ctx context.Context, request model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if !c.asked {
			c.asked = true
			if err := c.deliberate(ctx); err != nil {
				yield(model.Event{}, err)
				return
			}
		}
		if c.notes == "" {
			c.Model.Stream(ctx, request)(yield)
			return
		}
		if !c.placed {
			c.placed, c.at = true, council.Insert(&request, c.notes)
		} else {
			council.Put(&request, c.notes, c.at)
		}
		c.answer(ctx, request, yield)
	}
}

// deliberate runs the council and returns once its notes are there.
func (c *chair) deliberate(ctx context.Context) error {
	c.members.Store(true)
	defer c.members.Store(false)
	if c.kind == "continue" { // an answer goes on after its calls, with the same notes
		c.notes, c.origins = c.s.notesOf(ctx, c.turn)
		return nil
	}
	l, err := c.s.start(ctx, c.turn, c.cancel)
	if err != nil {
		return err
	}
	c.loop = l
	select {
	case <-l.ready:
		c.notes, c.origins = l.notes, l.origins
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// notesOf returns the notes that an answer began with, or "", and their origins.
func (s *session) notesOf(ctx context.Context, turnID string) (string, []chat.Origin) {
	headers, err := s.log.Runs(ctx, s.req.Conversation)
	if err != nil {
		return "", nil
	}
	for _, h := range headers {
		if h.Turn != turnID {
			continue
		}
		if run, log, err := s.r.stored(ctx, h.Run); err == nil && run.Notes != "" {
			notes, _ := log.Text(ctx, h.Run, run.Notes) // without it the answer goes on without notes
			return string(notes), originsOfNotes(run)
		}
	}
	return "", nil
}

// answer streams the model's words without the JSON block at their end.
func (c *chair) answer(ctx context.Context, request model.Request, yield func(model.Event, error) bool) {
	var trailer council.Trailer
	end := func() bool {
		shown, block := trailer.End()
		trailer = council.Trailer{}
		if block != "" {
			c.groups = block
		}
		return shown == "" || yield(model.Event{Kind: model.Text, Text: shown}, nil)
	}
	began := c.s.r.o.Now()
	defer func() { c.took += c.s.r.o.Now().Sub(began) }()
	for e, err := range c.Model.Stream(ctx, request) {
		if err == nil && e.Kind == model.Text {
			if e.Text = trailer.Write(e.Text); e.Text == "" {
				continue
			}
		} else if (err != nil || e.Kind != model.Reasoning) && !end() {
			return
		}
		if !yield(e, err) || err != nil {
			return
		}
	}
}

// conclude passes the end of the answer to the run, and waits until it is stored.
func (c *chair) conclude(out turn.Outcome, closing bool) {
	if c.loop == nil {
		return
	}
	what := concluded{groups: c.groups}
	if !closing {
		what.answer = &council.Answer{Reason: out.Reason, Seq: out.Seq, Usage: out.Usage}
		if what.answer.Reason == "" {
			what.answer.Reason = chat.EndError
		}
		if out.Reason == chat.EndDone && c.notes != "" {
			what.answer.TookMS = c.took.Milliseconds()
		}
	}
	c.loop.concludes <- what
	<-c.loop.over
}
