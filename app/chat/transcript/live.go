package transcript

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/chat/render"
	"conclave/app/chat/showing"
)

// Live shows a running turn in a transcript: Take changes the turn's status and its entry by the
// turn's events. Its methods are safe for concurrent use with all others of the transcript, and do
// nothing once the turn is over.
type Live struct {
	t           *Transcript
	turn, model string
	status      TurnStatus
	place       *place      // nil until the model said something
	usage       chat.Usage  // of the entry
	notes       []chat.Note // of a message that is not in the store yet
	began       time.Time   // of the reasoning under way

	progress map[*part]string // the newest notes of calls, which no revision shows yet; nil: none is due

	reason  chat.EndReason // once the turn has ended, where the store does not have it
	failure *chat.Failure
}

// Begin starts a turn; model is the display name of the model that answers.
func (t *Transcript) Begin(ctx context.Context, turn, model string) (*Live, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.revision++
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	l := &Live{t: t, turn: turn, model: model}
	l.phase(PhaseWaiting, "", "")
	t.live = append(t.live, l)
	t.o.Changed(t.revision)
	return l, nil
}

// do makes a revision in which something of the turn changes.
func (l *Live) do(change func(revision uint64)) {
	t := l.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.live, l) {
		return // it has ended
	}
	t.revision++
	change(t.revision)
	t.o.Changed(t.revision)
}

// write is do for what changes the entry; there is nothing to do before it is there.
func (l *Live) write(change func(d *drawing, revision uint64)) {
	l.do(func(revision uint64) {
		if l.place != nil {
			change(l.place.drawing, revision)
			l.place.rev = revision
		}
	})
}

// phase records what the turn is doing.
func (l *Live) phase(phase Phase, tool, note string) {
	since := chat.Stamp(time.Now())
	if l.status.Phase == phase && l.status.Tool == tool {
		since = l.status.Since
	}
	l.status = TurnStatus{Turn: l.turn, Phase: phase, Since: since, Model: l.model, Tool: tool, Note: note}
}

// Take shows an event of the turn; the events come in their order. With EventOver the turn is over,
// and its entry shows what the store has.
func (l *Live) Take(ctx context.Context, e chat.Event) {
	switch e.Kind {
	case chat.EventQuestioned:
		l.do(func(uint64) { l.load(ctx) })
	case chat.EventNoted:
		l.note(e.Note, e.Kept)
	case chat.EventWaiting:
		l.do(func(uint64) { l.phase(PhaseWaiting, "", e.Note) })
	case chat.EventRetrying:
		l.do(func(uint64) { l.phase(PhaseRetrying, "", e.Note) })
	case chat.EventStopping:
		l.do(func(uint64) { l.phase(PhaseStopping, "", "") })
	case chat.EventBegun:
		l.begin(ctx, e.Seq, e.Parent)
	case chat.EventText:
		l.text(chat.PartText, PhaseAnswering, e.Text)
	case chat.EventReasoning:
		l.text(chat.PartReasoning, PhaseThinking, e.Text)
	case chat.EventProposed, chat.EventAsked, chat.EventHeld, chat.EventDecided, chat.EventRunning, chat.EventAnswered:
		l.write(func(d *drawing, revision uint64) { l.call(d, e, revision) })
	case chat.EventProgress:
		l.progressed(*e.Call, e.Note)
	case chat.EventSaved:
		l.write(l.finishText)
	case chat.EventUsed:
		l.use(e.Usage)
	case chat.EventEnded:
		l.t.mu.Lock()
		l.reason, l.failure = e.Reason, e.Failure
		l.t.mu.Unlock()
	case chat.EventOver:
		l.end(context.WithoutCancel(ctx))
	}
}

// note shows a note. A kept one belongs to the message of the answer that comes, or is written.
func (l *Live) note(note string, kept bool) {
	l.do(func(revision uint64) {
		l.phase(PhaseWaiting, "", note)
		n := chat.Note{Text: note}
		switch {
		case !kept:
		case l.place == nil:
			l.notes, _ = chat.AddNote(l.notes, n)
		default:
			l.place.drawing.note(n)
			l.place.rev = revision
		}
	})
}

// Council shows what the chat's council does while the turn waits for it, and whether it waits for a
// person; "" is nothing more. It comes a little late, so it does not overwrite another phase.
func (l *Live) Council(doing string, asks bool) {
	l.do(func(uint64) {
		switch phase := l.status.Phase; {
		case phase != PhaseWaiting && phase != PhaseCouncil:
		case doing != "":
			l.phase(PhaseCouncil, "", doing)
			l.status.Asks = asks
		case phase == PhaseCouncil:
			l.phase(PhaseWaiting, "", "")
		}
	})
}

// load reads the conversation again. What cannot be read now is read later.
func (l *Live) load(ctx context.Context) {
	if err := l.t.load(ctx); err != nil {
		l.t.o.Log.Error("a chat could not be read while it was answered", "conversation", l.t.o.Conversation, "err", err)
	}
}

// begin shows a message of the answer that is in the store, as the answer to parent.
// The first makes the turn's entry, and so does one that answers a question asked
// meanwhile; others continue the entry.
func (l *Live) begin(ctx context.Context, seq, parent chat.MessageSeq) {
	l.do(func(revision uint64) {
		if !l.t.grow(ctx, chat.OutlineItem{Seq: seq, Parent: parent, Role: chat.RoleAssistant, Turn: l.turn}) {
			l.load(ctx)
		}
		f, ok := l.t.tree.entryOf(seq)
		if !ok {
			f = Folded{Seq: seq, Messages: []chat.MessageSeq{seq}, Role: chat.RoleAssistant}
		}
		p := l.t.at(f.Seq)
		if p == l.place {
			return
		}
		l.leave(ctx, revision)
		p.Folded = f
		l.t.learn(p)
		d := l.started(ctx, f, seq)
		if p.drawing != nil { // it was drawn when the turn paused
			d.follow(p.drawing, revision)
			p.drawing = d
		} else {
			l.t.keep(p, d)
			p.whole = revision
		}
		p.rev, p.live, l.place = revision, l, p
	})
}

// started draws the entry as it is before the message seq.
func (l *Live) started(ctx context.Context, f Folded, seq chat.MessageSeq) *drawing {
	before := f.Messages[:max(0, slices.Index(f.Messages, seq))]
	now := chat.Message{
		Seq: seq, Turn: l.turn, Role: chat.RoleAssistant, State: chat.Streaming, Created: time.Now(), Notes: l.notes,
	}
	l.notes = nil
	messages := []chat.Message{now}
	if len(before) > 0 {
		earlier, err := l.t.o.Store.Messages(ctx, l.t.o.Conversation, before)
		if err != nil {
			l.t.o.Log.Error("the beginning of an answer could not be read",
				"conversation", l.t.o.Conversation, "message", f.Seq, "err", err)
		}
		messages = append(earlier, now)
	}
	d := l.t.draw(ctx, f, messages)
	d.head.Model, d.head.Reason = l.model, ""
	for _, m := range messages {
		if m.Usage != nil {
			l.usage = l.usage.Add(*m.Usage)
		}
	}
	if l.usage != (chat.Usage{}) {
		d.head.Usage = UsageOf(l.usage)
	}
	return d
}

// text appends text of the model.
func (l *Live) text(kind chat.PartKind, phase Phase, text string) {
	l.write(func(d *drawing, revision uint64) {
		p := d.open()
		if p == nil || p.kind != kind {
			l.finishText(d, revision)
			p = d.add(kind)
			p.stream = &render.Stream{}
			l.began = time.Now()
		}
		p.stream.Append(text)
		p.dirty, p.rev = true, revision
		if kind == chat.PartText {
			d.head.Words += p.words(text)
		} else {
			p.ms = time.Since(l.began).Milliseconds()
		}
		l.phase(phase, "", "")
	})
}

// words counts the words that begin in the next piece of the part's text.
func (p *part) words(text string) int {
	n := len(strings.Fields(text))
	first, _ := utf8.DecodeRuneInString(text)
	if n > 0 && p.inWord && !unicode.IsSpace(first) {
		n--
	}
	if last, size := utf8.DecodeLastRuneInString(text); size > 0 {
		p.inWord = !unicode.IsSpace(last)
	}
	return n
}

// finishText completes the text under way.
func (l *Live) finishText(d *drawing, revision uint64) {
	if p := d.open(); p != nil {
		if p.kind == chat.PartReasoning {
			p.ms = time.Since(l.began).Milliseconds()
		}
		p.finish(revision)
	}
}

// use adds the usage of one request.
func (l *Live) use(u chat.Usage) {
	l.do(func(revision uint64) {
		l.usage = l.usage.Add(u)
		if l.place != nil {
			l.place.drawing.head.Usage, l.place.rev = UsageOf(l.usage), revision
		}
	})
}

// call shows an event of a call on its card.
func (l *Live) call(d *drawing, e chat.Event, revision uint64) {
	p := l.card(d, *e.Call, revision)
	switch e.Kind {
	case chat.EventHeld:
		p.call.State, p.call.Request = CallWaiting, e.Request
		l.phase(PhasePermission, p.call.Title, "")
	case chat.EventDecided:
		p.call.Grant = e.Call.Rule
	case chat.EventAnswered:
		p.call.Progress, p.done = "", true
		delete(l.progress, p)
		for _, c := range e.Result.Content {
			if c.Kind == chat.PartMedia {
				media := d.add(chat.PartMedia)
				media.media, media.done, media.rev = showing.MediaOf(*c.Media), true, revision
			}
		}
	default:
		if e.Call.Status == chat.CallRunning {
			l.phase(PhaseTool, p.call.Title, "")
		}
	}
}

// progressEvery delays notes of progress for newer ones: nobody reads faster, and a tool may report
// thousands of steps.
const progressEvery = 500 * time.Millisecond

// progressed has the newest note of a call shown, with those of the turn's other calls.
func (l *Live) progressed(r chat.CallRecord, note string) {
	l.t.mu.Lock()
	defer l.t.mu.Unlock()
	if l.place == nil {
		return
	}
	p := l.place.drawing.cards[r.RequestID]
	if p == nil || p.done {
		return
	}
	if l.progress == nil {
		l.progress = map[*part]string{}
		time.AfterFunc(progressEvery, l.showProgress)
	}
	l.progress[p] = note
}

// showProgress makes a revision with the newest notes of calls.
func (l *Live) showProgress() {
	l.write(func(_ *drawing, revision uint64) {
		for p, note := range l.progress {
			call := *p.call // a page may be reading the other
			call.Progress = note
			p.call, p.rev = &call, revision
		}
		l.progress = nil
	})
}

// card returns the card of a call as its record is; the first record of a call makes
// it. Providers may give the same request id to calls of different requests.
func (l *Live) card(d *drawing, r chat.CallRecord, revision uint64) *part {
	l.finishText(d, revision)
	p := d.cards[r.RequestID]
	if p == nil || p.done && (r.Status == "" || !r.Status.Over()) {
		p = d.add(chat.PartToolCall)
		d.cards[r.RequestID] = p
	}
	call := l.t.card(r)
	if p.call != nil {
		call.Grant, call.Progress = p.call.Grant, p.call.Progress
		if r.Stopped != "" { // what allowed it is gone, or waits until tools are resumed
			call.Grant = ""
		}
	}
	p.call, p.rev = call, revision
	return p
}

// end ends the turn. Its entry then shows what the store has.
func (l *Live) end(ctx context.Context) {
	t := l.t
	l.do(func(revision uint64) {
		t.live = slices.DeleteFunc(t.live, func(other *Live) bool { return other == l })
		l.load(ctx)
		if p := l.leave(ctx, revision); p != nil && p.drawing != nil && p.drawing.head.State == chat.Streaming {
			p.drawing.head.end(l.reason, l.failure)
		}
	})
}

// leave has the turn write its entry no longer, which then is what the store has. It
// returns the entry, nil when there is none.
func (l *Live) leave(ctx context.Context, revision uint64) *place {
	p := l.place
	if p == nil {
		return nil
	}
	t := l.t
	l.finishText(p.drawing, revision)
	p.rev, p.live, l.place, l.usage = revision, nil, nil, chat.Usage{}
	if f, ok := t.tree.entryOf(p.Seq); ok && f.Seq != p.Seq {
		t.redraw(ctx, t.at(f.Seq)) // the store could not be read when the message began
	} else if ok {
		p.Folded = f
	}
	t.redraw(ctx, p)
	return p
}

// end writes into an entry how its turn ended.
func (e *Entry) end(reason chat.EndReason, failure *chat.Failure) {
	e.State, e.Reason, e.Ended = chat.Complete, reason, chat.Stamp(time.Now())
	switch reason {
	case chat.EndStopped:
		e.State = chat.Stopped
	case chat.EndError:
		e.State, e.Error = chat.Failed, failureOf(failure)
	}
}

// Asking returns where the card of a permission request belongs: the entry that the
// turn writes, the call, and the display name of the model. The entry is 0 when the
// turn does not run or has said nothing, the call "" when it is not known yet.
func (t *Transcript) Asking(turn, request string) (entry uint64, call, model string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range t.live {
		if l.turn != turn || l.place == nil {
			continue
		}
		for _, p := range l.place.drawing.cards {
			if p.call.Request == request {
				call = p.call.ID
			}
		}
		return uint64(l.place.Seq), call, l.model
	}
	return 0, "", ""
}
