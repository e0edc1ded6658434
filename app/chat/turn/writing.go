package turn

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/call"
)

// journalEvery is the interval at which a streaming message goes to the log, which writes it within 200 ms:
// together less than the quarter of a second that a kill may cost.
const journalEvery = 40 * time.Millisecond

// beginWithin is the time from the first word of a turn's answer until the answer is in the log, and shown.
// A short answer of a quick model is complete by then, so that it is written once.
const beginWithin = 5 * time.Millisecond

// silentAfter is the time that a person waits for a model's first word before a note mentions it. A local
// server may load a model for minutes, so the turn goes on waiting.
const silentAfter = 30 * time.Second

// writing is an assistant message that streams.
//
// The first of a turn is in the log soon after its first word, so that a window can show it. The others, and
// one without words, are written when they are complete, or when journalEvery has passed, whichever is
// first: a chain of quick calls then waits for one write a message and not for two.
type writing struct {
	t     *run
	draft draft
	m     chat.Message  // without parts until it is finished
	spoke chan struct{} // closed by the first word of the turn's answer

	mu    sync.Mutex // guards the fields below; held while the log is written
	saved bool       // m is in the log
	err   error      // writing it failed
	sent  model.Body // the request as it was sent, once it was
	// unsent is the request while nothing was sent: of a model that is asked without HTTP.
	unsent *model.Request
}

// lineEnds writes out what would make two lines of the name of a tool.
var lineEnds = strings.NewReplacer("\n", `\n`, "\r", `\r`, "\t", `\t`)

func roundSeconds(d time.Duration) string {
	if d < time.Second {
		return "a moment"
	}
	return d.Round(time.Second).String()
}

// take adds one event of the model to the message and passes it on.
func (w *writing) take(ctx context.Context, e model.Event, closing bool) error {
	t := w.t
	switch e.Kind {
	case model.Text, model.Reasoning:
		if e.Text == "" {
			return nil
		}
		e.Text = strings.ToValidUTF8(e.Text, "\uFFFD")
	case model.Notice:
		t.note(e.Text)
		return nil
	case model.Drawn:
		if before := t.drawings; before > limit.DrawnPictures {
			return nil
		} else if t.drawings += int64(len(e.Media.Data)); t.drawings > limit.DrawnPictures {
			t.note("The model drew more than 64 MiB of pictures in one answer. Further ones are left out.")
			return nil
		}
		stored, err := t.drawn(ctx, *e.Media)
		if err != nil {
			return err
		}
		e.Media = stored
	case model.Call, model.CallStart:
		if closing { // its request asked for no calls
			if e.Kind == model.Call {
				t.note("The model called a tool once more although it was told not to; that call was not made.")
			}
			return nil
		}
		e.Call.Tool = tool.ShowLine(lineEnds.Replace(e.Call.Tool)) // no tool's name is changed by it
	}
	if t.length += w.draft.cost(e); t.length > limit.AnswerText {
		if over := t.length - limit.AnswerText; over < int64(len(e.Text)) { // what still fits is kept
			e.Text = strings.ToValidUTF8(e.Text[:int64(len(e.Text))-over], "")
			w.draft.take(e)
			if err := w.save(ctx); err != nil {
				return err
			}
			t.emit(chat.Event{Kind: eventKind(e.Kind), Seq: w.seq(), Text: e.Text})
		}
		return fault.New(fault.Provider, "turn.answer",
			"The answer was stopped after 4 MiB, the most that one answer may have. What was said until then is kept.",
			"Ask for the rest in smaller steps, or choose another model.")
	}
	w.draft.take(e)
	if (e.Kind == model.Text || e.Kind == model.Reasoning || e.Kind == model.Drawn) && !t.begun.Load() {
		if err := w.begin(ctx); err != nil {
			return err
		}
		w.repeat()
	}
	switch e.Kind {
	case model.Text, model.Reasoning:
		t.emit(chat.Event{Kind: eventKind(e.Kind), Seq: w.seq(), Text: e.Text})
	case model.Moved:
		if e.Text == string(model.Reasoning) {
			t.remark("What the model said so far was its thinking; the answer follows.")
		}
	case model.Drawn:
		t.remark("The model drew a picture (" + e.Media.MIME + "), which is in the chat.")
	case model.CallStart:
		t.emit(chat.Event{
			Kind: chat.EventProposed, Seq: w.seq(),
			Call: &chat.CallRecord{RequestID: e.Call.ID, ToolName: e.Call.Tool},
		})
	}
	return nil
}

// eventKind returns the kind of the events that pass on text or reasoning.
func eventKind(kind model.EventKind) chat.EventKind {
	if kind == model.Reasoning {
		return chat.EventReasoning
	}
	return chat.EventText
}

// drawn stores a picture that the model drew, and returns it without its bytes.
func (t *run) drawn(ctx context.Context, m chat.Media) (*chat.Media, error) {
	save, cancel := call.SaveContext(ctx)
	defer cancel()
	if err := t.log.PutMedia(save, &m); err != nil {
		return nil, err
	}
	m.Data = nil // read from the log where a later request shows it
	return &m, nil
}

// seq is the message's number, 0 until it is in the log.
func (w *writing) seq() chat.MessageSeq {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.m.Seq
}

// begin announces the first message of a turn's answer, whose number is known. It and what follows are shown
// once it is in the log.
func (w *writing) begin(ctx context.Context) error {
	t := w.t
	if t.outbox.loose { // nothing is gained by waiting
		return w.save(ctx)
	}
	w.mu.Lock()
	w.m.Seq, w.m.Parent = t.scribe.next()
	begun := chat.Event{Kind: chat.EventBegun, Seq: w.m.Seq, Parent: w.m.Parent}
	w.mu.Unlock()
	t.begun.Store(true)
	t.emit(chat.Event{Kind: noEvent}) // what follows waits
	t.emit(begun)
	close(w.spoke)
	return nil
}

// repeat passes on what the answer had before the turn went on with it.
func (w *writing) repeat() {
	for _, p := range w.t.taken {
		switch p.Kind {
		case chat.PartText:
			w.t.emit(chat.Event{Kind: chat.EventText, Seq: w.seq(), Text: p.Text})
		case chat.PartReasoning:
			w.t.emit(chat.Event{Kind: chat.EventReasoning, Seq: w.seq(), Text: p.Text})
		}
	}
}

// save appends the message to the log as far as it got, unless it is there.
func (w *writing) save(ctx context.Context) error {
	if err := w.t.scribe.wait(); err != nil {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.saved || w.err != nil {
		return w.err
	}
	m, announced := w.m, w.m.Seq
	m.Parts, m.Notes, m.Origins = w.parts(), w.t.notes.soFar(), w.t.brought()
	w.t.scribe.write(ctx, func(save context.Context) error { return w.t.scribe.append(save, &m) }, func() {})
	if w.err = w.t.scribe.failed(); w.err != nil {
		return w.err
	}
	w.m.Seq, w.m.Parent, w.m.Origins, w.saved = m.Seq, m.Parent, m.Origins, true
	w.t.begun.Store(true)
	if m.Seq != announced {
		w.t.emit(chat.Event{Kind: chat.EventBegun, Seq: m.Seq, Parent: m.Parent})
	}
	return nil
}

// parts returns the parts so far. Calls are copied, since the batch writes into them.
func (w *writing) parts() []chat.Part {
	parts, _ := w.draft.snapshot()
	return copied(parts)
}

// copied returns parts with copies of their calls.
func copied(parts []chat.Part) []chat.Part {
	out := slices.Clone(parts)
	for i, p := range out {
		if p.Call != nil {
			call := *p.Call
			out[i].Call = &call
		}
	}
	return out
}

// preparing is a model before which others work: nobody expects its words meanwhile.
type preparing interface{ Preparing() bool }

// keep passes the growing message to the log until ctx ends.
func (w *writing) keep(ctx context.Context) {
	ticker := time.NewTicker(journalEvery)
	defer ticker.Stop()
	silent := time.NewTimer(silentAfter)
	defer silent.Stop()
	spoke, soon := w.spoke, (<-chan time.Time)(nil)
	for {
		select {
		case <-ctx.Done():
			return
		case <-spoke:
			spoke, soon = nil, time.After(beginWithin)
			continue
		case <-soon:
			_ = w.save(ctx) // finish returns the error
			continue
		case <-silent.C:
			if p, ok := w.t.req.Model.(preparing); ok && p.Preparing() {
				silent.Reset(silentAfter)
				continue
			}
			if w.draft.empty() {
				w.t.remark("The model " + w.t.model + " has not said a word for " + roundSeconds(silentAfter) +
					"; Conclave goes on waiting.")
			}
			continue
		case <-ticker.C:
		}
		w.mu.Lock()
		saved, m := w.saved, w.m
		w.mu.Unlock()
		switch {
		case w.draft.empty():
		case !saved:
			_ = w.save(ctx) // finish returns the error
		default:
			parts, changed := w.draft.snapshot()
			if changed {
				m.Parts, m.Notes = parts, w.t.notes.soFar()
				w.t.log.Journal(m)
			}
		}
	}
}

// finish completes the message: its parts, how it ended, and what it used.
func (w *writing) finish(ctx context.Context, cause error, closing bool) (*writing, error) {
	t := w.t
	w.m.Parts, w.m.Ended = w.parts(), t.o.Now()
	if w.draft.usage != nil {
		used := t.o.Price(t.req.Model.Info(), *w.draft.usage)
		w.m.Usage = &used
		t.usage = t.usage.Add(used)
		t.emit(chat.Event{Kind: chat.EventUsed, Usage: used})
	}
	if cause == nil {
		calls := 0
		for _, p := range w.m.Parts {
			if p.Kind == chat.PartToolCall {
				calls++
			}
		}
		t.emit(chat.Event{Kind: chat.EventReplied, Calls: calls})
	}
	switch {
	case cause == nil:
		w.m.State = chat.Complete
	case ctx.Err() != nil:
		w.m.State, w.m.Reason = chat.Stopped, chat.EndStopped
		if len(w.m.Parts) == 0 && !w.saved {
			return nil, cause // stopped before the first word: there is nothing to save
		}
	default:
		w.m.State, w.m.Reason, w.m.Error = chat.Failed, chat.EndError, failure(cause)
	}
	if cause == nil && len(callsOf(&w.m)) == 0 {
		w.m.Reason = chat.EndDone
		if closing {
			w.m.Reason = chat.EndLimit
		}
		switch w.draft.stop {
		case model.StopLength:
			t.note(chat.CutAtLimit)
		case model.StopFilter:
			t.note("The provider's filter cut the answer.")
		default:
			if note := wordless(w.m.Parts); note != "" {
				t.note(note)
			}
		}
	}
	return w, errors.Join(cause, w.err)
}

// wordless returns a note about an answer without anything to read, or "".
func wordless(parts []chat.Part) string {
	thought := false
	for _, p := range parts {
		switch {
		case p.Kind == chat.PartReasoning:
			thought = thought || p.Text != ""
		case p.Kind != chat.PartText || strings.TrimSpace(p.Text) != "":
			return ""
		}
	}
	if thought {
		return "The model thought, and ended without an answer. Ask again, or use another model."
	}
	return "The model ended without an answer. Ask again, or use another model."
}

// write writes the finished message, behind the turn, and makes it part of the
// path that the next round sends.
func (w *writing) write(ctx context.Context) {
	t := w.t
	w.m.Notes, w.m.Origins = t.notes.take(), t.brought()
	t.path = append(t.path, w.m)
	m := w.m
	m.Parts, m.Open, m.Sent = copied(w.m.Parts), w.m.Reason == "", w.request()
	trace, announced := t.trace, w.m.Seq
	t.trace = nil
	if w.saved {
		t.scribe.do(ctx, func(save context.Context) error {
			m.Hooks = t.o.Points.Steps(save, trace)
			err := t.scribe.update(save, m.Seq, func(stored *chat.Message) {
				m.Hidden = stored.Hidden // the person's, who may have said so meanwhile
				*stored = m
			})
			if err == nil {
				t.emit(chat.Event{Kind: chat.EventSaved, Seq: m.Seq})
			}
			return err
		})
		return
	}
	t.scribe.behind(ctx, func(save context.Context) error {
		m.Hooks = t.o.Points.Steps(save, trace)
		if err := t.scribe.append(save, &m); err != nil {
			return err
		}
		w.mu.Lock()
		w.m.Seq, w.m.Parent, w.saved = m.Seq, m.Parent, true
		w.mu.Unlock()
		t.begun.Store(true)
		if m.Seq != announced {
			t.emit(chat.Event{Kind: chat.EventBegun, Seq: m.Seq, Parent: m.Parent})
		}
		t.emit(chat.Event{Kind: chat.EventSaved, Seq: m.Seq})
		return nil
	})
}

// ended writes into the written message that the turn ended with it.
func (w *writing) ended(ctx context.Context, reason chat.EndReason) {
	t := w.t
	t.scribe.do(ctx, func(save context.Context) error {
		w.mu.Lock()
		w.m.Reason = reason
		seq := w.m.Seq
		w.mu.Unlock()
		return t.scribe.update(save, seq, func(m *chat.Message) { m.Reason, m.Open = reason, false })
	})
}
