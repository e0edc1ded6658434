package app

import (
	"context"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/permit"
	"conclave/app/render"
	"conclave/app/turn"
)

// liveTurn is the turn that runs in a transcript, and the entry it writes. Its
// methods are called with the transcript's mutex held.
type liveTurn struct {
	t      *transcript
	turn   string
	model  string // display name
	cancel context.CancelCauseFunc
	done   chan struct{} // closed when the turn is over
	view   *entryView    // nil until the model said something
	calls  map[string]*partView
	usage  chat.Usage
	began  time.Time // of the open reasoning part
}

// open is the text or reasoning part that grows, or nil.
func (l *liveTurn) open() *partView {
	if l.view == nil || len(l.view.parts) == 0 {
		return nil
	}
	p := l.view.parts[len(l.view.parts)-1]
	if p.done || p.stream == nil {
		return nil
	}
	return p
}

// draw renders what came since the last pull.
func (l *liveTurn) draw(revision uint64) {
	if l.view == nil {
		return
	}
	for _, p := range l.view.parts {
		if p.dirty {
			p.draw(revision)
			l.view.rev = revision
		}
	}
}

func (l *liveTurn) hear(ctx context.Context, e turn.Event) {
	next := l.t.revision + 1 // the revision this event will have
	switch e.Kind {
	case turn.Waiting:
		l.t.phase(TurnStatus{Turn: l.turn, Phase: "waiting", Model: l.model})
	case turn.Retrying:
		l.t.phase(TurnStatus{Turn: l.turn, Phase: "retrying", Model: l.model, Note: e.Note})
	case turn.Noted:
		l.t.phase(TurnStatus{Turn: l.turn, Phase: "waiting", Model: l.model, Note: e.Note})
	case turn.Begun:
		l.begin(ctx, e.Seq, next)
	case turn.Text:
		l.text("text", e.Text, next)
		l.t.phase(TurnStatus{Turn: l.turn, Phase: "answering", Model: l.model})
	case turn.Reasoning:
		l.text("reasoning", e.Text, next)
		l.t.phase(TurnStatus{Turn: l.turn, Phase: "thinking", Model: l.model})
	case turn.Proposed, turn.Asked, turn.Held, turn.Decided, turn.Running, turn.Progress, turn.Answered:
		l.call(e, next)
	case turn.Used:
		l.usage = l.usage.Add(e.Usage)
		if l.view != nil {
			l.view.entry.Usage, l.view.rev = usageView(l.usage), next
		}
	case turn.Saved:
		l.finishText(next)
	case turn.Ended:
		l.finish(ctx, e, next)
	}
}

// begin makes the entry at the first message of the turn.
func (l *liveTurn) begin(ctx context.Context, seq chat.MessageSeq, revision uint64) {
	if l.view != nil {
		return
	}
	// The entry the message was folded into: its own, or that of the turn.
	for _, f := range l.t.entries {
		for _, m := range f.messages {
			if m != seq {
				continue
			}
			l.view = l.t.draw(ctx, folded{seq: f.seq, role: chat.RoleAssistant}, []chat.Message{{
				Seq: f.seq, Turn: l.turn, Role: chat.RoleAssistant, State: chat.Streaming, Created: time.Now(),
			}})
			l.view.entry.Model = l.model
			l.view.born, l.view.rev = revision, revision
			l.t.keep(f.seq, l.view)
		}
	}
}

func (l *liveTurn) text(kind, text string, revision uint64) {
	if l.view == nil {
		return
	}
	p := l.open()
	if p == nil || p.kind != kind {
		l.finishText(revision)
		p = l.view.add(kind)
		p.stream = &render.Stream{}
		l.began = time.Now()
	}
	p.stream.Append(text)
	p.dirty, p.rev = true, revision
	l.view.rev = revision
	switch kind {
	case "text":
		l.view.entry.Words += len(strings.Fields(text))
	case "reasoning":
		p.ms = time.Since(l.began).Milliseconds()
	}
}

func (l *liveTurn) finishText(revision uint64) {
	if p := l.open(); p != nil {
		if p.kind == "reasoning" {
			p.ms = time.Since(l.began).Milliseconds()
		}
		p.finish(revision)
		l.view.rev = revision
	}
}

// call puts an event about a call into its card.
func (l *liveTurn) call(e turn.Event, revision uint64) {
	if l.view == nil {
		return
	}
	l.finishText(revision)
	part := l.calls[e.Call.RequestID]
	if part == nil {
		part = l.view.add("tool_call")
		l.calls[e.Call.RequestID] = part
	}
	request, progress := "", ""
	if part.call != nil {
		progress = part.call.Progress
	}
	view := l.t.c.callView(*e.Call)
	switch e.Kind {
	case turn.Proposed:
		view.State = "proposed"
	case turn.Asked:
		view.State = "proposed"
	case turn.Held:
		view.State, request = "waiting", e.Pending.ID
	case turn.Decided:
		if e.Decision.Effect == permit.Allow {
			view.State = "running"
		}
		view.Grant, part.asked = e.Decision.Grant, e.Decision.By == "person"
		part.expired = e.Decision.Expired
	case turn.Progress:
		progress = e.Note
	case turn.Answered:
		if part.call != nil {
			view.Grant = part.call.Grant
		}
		if part.expired {
			view.State = "expired"
		}
		part.done = true
		for _, c := range e.Result.Content {
			if c.Kind == chat.PartMedia {
				media := l.view.add("media")
				media.media, media.done, media.rev = mediaView(*c.Media), true, revision
			}
		}
	}
	view.Request, view.Progress, view.ByPerson = request, progress, part.asked
	part.call, part.rev, l.view.rev = view, revision, revision
	switch e.Kind {
	case turn.Held:
		l.t.phase(TurnStatus{Turn: l.turn, Phase: "permission", Model: l.model, Tool: view.Title})
	case turn.Running:
		l.t.phase(TurnStatus{Turn: l.turn, Phase: "tool", Model: l.model, Tool: view.Title})
	}
}

// finish writes how the turn ended into the entry.
func (l *liveTurn) finish(ctx context.Context, e turn.Event, revision uint64) {
	l.finishText(revision)
	if l.view == nil {
		return
	}
	en := &l.view.entry
	en.State, en.Reason, en.Ended = string(chat.Complete), string(e.Reason), stamp(time.Now())
	switch e.Reason {
	case chat.EndStopped:
		en.State = string(chat.Stopped)
	case chat.EndError:
		en.State = string(chat.Failed)
		if e.Failure != nil {
			en.Error = &Failure{Kind: kindOf(e.Failure), Message: e.Failure.Message, Hint: e.Failure.Hint, Detail: e.Failure.Detail}
		}
	}
	l.view.rev = revision
}
