package transcript_test

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/chat/transcript"
)

const conversation chat.ConversationID = "c"

var errDisk = errors.New("the disk is gone")

// memory is a store of one conversation. It is safe for concurrent use.
type memory struct {
	mu       sync.Mutex // guards the fields below
	about    chat.Conversation
	messages []chat.Message // by number, from 1
	calls    []chat.CallRecord
	broken   bool // reading fails
	gone     bool // the conversation was deleted
	outlines int  // how often the outline was read
	clock    time.Time
}

func newMemory() *memory {
	clock := time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
	return &memory{about: chat.Conversation{ID: conversation, Title: "Trains"}, clock: clock}
}

func (m *memory) err() error {
	switch {
	case m.broken:
		return errDisk
	case m.gone:
		return errors.New("this chat no longer exists")
	}
	return nil
}

func (m *memory) Outline(context.Context, chat.ConversationID) (chat.Outline, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.outlines++
	o := chat.Outline{Conversation: m.about}
	for _, v := range m.messages {
		n := chat.OutlineItem{Seq: v.Seq, Parent: v.Parent, Role: v.Role, Turn: v.Turn, Hidden: v.Hidden}
		o.Items = append(o.Items, n)
	}
	for seq := m.about.Head; seq != 0; seq = m.messages[seq-1].Parent {
		o.Path = append(o.Path, seq)
	}
	slices.Reverse(o.Path)
	return o, m.err()
}

func (m *memory) Messages(_ context.Context, _ chat.ConversationID, seqs []chat.MessageSeq) ([]chat.Message, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []chat.Message
	for _, seq := range seqs {
		if seq == 0 || int(seq) > len(m.messages) {
			return nil, errors.New("there is no such message")
		}
		out = append(out, m.messages[seq-1])
	}
	return out, m.err()
}

func (m *memory) Call(_ context.Context, id uint64) (chat.CallRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if id == 0 || int(id) > len(m.calls) {
		return chat.CallRecord{}, errors.New("there is no such call")
	}
	return m.calls[id-1], m.err()
}

// add writes a message behind parent and moves the head to it.
func (m *memory) add(parent chat.MessageSeq, v chat.Message) chat.MessageSeq {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.clock = m.clock.Add(time.Second)
	v.Conversation, v.Seq, v.Parent, v.Created = conversation, chat.MessageSeq(len(m.messages)+1), parent, m.clock
	v.State = cmp.Or(v.State, chat.Complete)
	m.messages = append(m.messages, v)
	m.about.Head = v.Seq
	return v.Seq
}

// change changes a message.
func (m *memory) change(seq chat.MessageSeq, change func(*chat.Message)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	v := m.messages[seq-1]
	v.Parts = slices.Clone(v.Parts)
	change(&v)
	m.messages[seq-1] = v
}

func (m *memory) rewrite(seq chat.MessageSeq, text string) {
	m.change(seq, func(v *chat.Message) { v.Parts = said(text) })
}

// show moves the head.
func (m *memory) show(seq chat.MessageSeq) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.about.Head = seq
}

func (m *memory) head() chat.MessageSeq {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.about.Head
}

func (m *memory) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// put writes a record, which gets a number if it has none.
func (m *memory) put(r chat.CallRecord) chat.CallRecord {
	m.mu.Lock()
	defer m.mu.Unlock()
	if r.ID == 0 {
		r.ID = uint64(len(m.calls) + 1)
		m.calls = append(m.calls, r)
	}
	m.calls[r.ID-1] = r
	return r
}

func said(text string) []chat.Part { return []chat.Part{{Kind: chat.PartText, Text: text}} }

// ask writes a question at the head, as a message without a turn.
func (m *memory) ask(text string) chat.MessageSeq {
	return m.add(m.head(), chat.Message{Role: chat.RoleUser, Parts: said(text)})
}

// reply writes an answer at the head.
func (m *memory) reply(turn, text string) chat.MessageSeq {
	return m.add(m.head(), chat.Message{
		Role: chat.RoleAssistant, Turn: turn, Model: "demo/guide", Parts: said(text), Reason: chat.EndDone,
	})
}

// open returns the transcript of what the store has, and fails the test when a
// revision does not grow.
func (m *memory) open(t testing.TB) *transcript.Transcript { return m.openAfter(t, 0) }

func (m *memory) openAfter(t testing.TB, after uint64) *transcript.Transcript {
	last := after
	return transcript.New(transcript.Options{
		Conversation: conversation, Store: m, After: after, Log: slog.New(slog.DiscardHandler),
		Chat: func(_ context.Context, c chat.Conversation) transcript.Chat {
			return transcript.Chat{ID: string(c.ID), Title: c.Title}
		},
		ModelTitle: func(_ context.Context, name string) string { return "The " + name },
		Words: func(r chat.CallRecord) showing.Words {
			name := r.ToolName
			return showing.Words{Title: "T " + name, Doing: "use " + name, Did: "Used " + name, Plugin: r.Plugin}
		},
		Changed: func(revision uint64) {
			if revision <= last {
				t.Errorf("revision %d came after %d", revision, last)
			}
			last = revision
		},
	})
}

// turn is a scripted turn: what it tells the transcript it writes into the store too,
// as a real one does.
type turn struct {
	live   *transcript.Live
	m      *memory
	id     string
	parent chat.MessageSeq
	seq    chat.MessageSeq // of the message under way, 0 before
	parts  []chat.Part     // of it
	usage  *chat.Usage
	calls  []chat.CallRecord // that have no result yet
}

// begin starts a turn that answers the head.
func begin(t testing.TB, tr *transcript.Transcript, m *memory, id string) *turn {
	t.Helper()
	live, err := tr.Begin(t.Context(), id, "The demo/guide")
	must(t, err)
	live.Take(t.Context(), chat.Event{Kind: chat.EventWaiting, Note: ""})
	return &turn{live: live, m: m, id: id, parent: m.head()}
}

// take passes on an event of the turn.
func (u *turn) take(e chat.Event) { u.live.Take(context.Background(), e) }

// call passes on an event of a call.
func (u *turn) call(r chat.CallRecord, e chat.Event) {
	e.Call = &r
	u.take(e)
}

// decided passes on that the gate decided about a call, by a rule.
func (u *turn) decided(r chat.CallRecord, rule string) {
	r.Rule = rule
	u.call(r, chat.Event{Kind: chat.EventDecided})
}

// over ends the turn.
func (u *turn) over(reason chat.EndReason, failure *chat.Failure) {
	u.take(chat.Event{Kind: chat.EventEnded, Reason: reason, Failure: failure})
	u.take(chat.Event{Kind: chat.EventOver})
}

// message makes sure that a message is under way.
func (u *turn) message() {
	if u.seq != 0 {
		return
	}
	m := chat.Message{Role: chat.RoleAssistant, Turn: u.id, Model: "demo/guide", State: chat.Streaming}
	parent := u.m.head()
	u.seq = u.m.add(parent, m)
	u.take(chat.Event{Kind: chat.EventBegun, Seq: u.seq, Parent: parent})
}

func (u *turn) say(text string) {
	u.message()
	u.write(chat.PartText, text)
	u.take(chat.Event{Kind: chat.EventText, Text: text})
}

func (u *turn) think(text string) {
	u.message()
	u.write(chat.PartReasoning, text)
	u.take(chat.Event{Kind: chat.EventReasoning, Text: text})
}

func (u *turn) write(kind chat.PartKind, text string) {
	if n := len(u.parts); n > 0 && u.parts[n-1].Kind == kind {
		u.parts[n-1].Text += text
		return
	}
	u.parts = append(u.parts, chat.Part{Kind: kind, Text: text})
}

// propose has the model ask for a tool, and puts the call on record.
func (u *turn) propose(id, tool string) chat.CallRecord {
	u.message()
	u.call(chat.CallRecord{RequestID: id, ToolName: tool}, chat.Event{Kind: chat.EventAsked})
	r := u.m.put(chat.CallRecord{
		RequestID: id, ToolName: tool, ToolID: "p:" + tool, Plugin: "p", Arguments: []byte(`{"text":"a b"}`),
		Status: chat.CallAsked,
	})
	call := &chat.ToolCall{ID: id, Tool: tool, Arguments: r.Arguments, Sequence: r.ID}
	u.parts = append(u.parts, chat.Part{Kind: chat.PartToolCall, Call: call})
	u.calls = append(u.calls, r)
	u.call(r, chat.Event{Kind: chat.EventAsked})
	return r
}

// use counts what a request used.
func (u *turn) use(usage chat.Usage) {
	u.usage = &usage
	u.take(chat.Event{Kind: chat.EventUsed, Usage: usage})
}

// save completes the message under way.
func (u *turn) save(reason chat.EndReason, state chat.MessageState) {
	if u.seq == 0 {
		return
	}
	u.m.change(u.seq, func(v *chat.Message) {
		v.Parts, v.State, v.Reason, v.Usage, v.Ended = u.parts, state, reason, u.usage, v.Created.Add(time.Second)
	})
	u.take(chat.Event{Kind: chat.EventSaved})
	u.seq, u.parts, u.usage = 0, nil, nil
}

// results writes the message with what the calls gave.
func (u *turn) results(reason chat.EndReason, results ...chat.ToolResult) {
	u.save("", chat.Complete)
	state := chat.Complete
	if reason == chat.EndStopped {
		state = chat.Stopped
	}
	v := chat.Message{Role: chat.RoleTool, Turn: u.id, Model: "demo/guide", State: state, Reason: reason}
	for _, r := range results {
		v.Parts = append(v.Parts, chat.Part{Kind: chat.PartToolResult, Result: &r})
	}
	u.m.add(u.m.head(), v)
	u.take(chat.Event{Kind: chat.EventSaved})
	u.calls = nil
}

func (u *turn) end(reason chat.EndReason) {
	state := chat.Complete
	if reason == chat.EndStopped {
		state = chat.Stopped
	}
	u.save(reason, state)
	u.over(reason, nil)
}
