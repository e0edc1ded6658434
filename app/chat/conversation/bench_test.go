package conversation_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/store"
	"conclave/store/storetest"
)

// bench is an owner over a real store with one chat.
type bench struct {
	t      *testing.T
	store  *store.Store
	owner  *conversation.Owner
	id     chat.ConversationID
	tools  *tool.Set
	edited chan chat.MessageSeq
	rests  []bool // whether a chat ran when a turn was over
}

// echo is a tool that answers with a word.
type echo struct{}

func (echo) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("echo " + string(c.Arguments))}}, nil
}

// full is a store whose disk is full from some moment on.
type full struct {
	store.Turns
	mu  sync.Mutex
	err error
}

func (f *full) fill(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.err = err
}

func (f *full) failure() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

func (f *full) Append(ctx context.Context, messages ...*chat.Message) error {
	if err := f.failure(); err != nil {
		return err
	}
	return f.Turns.Append(ctx, messages...)
}

func (f *full) Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error) {
	if err := f.failure(); err != nil {
		return nil, err
	}
	return f.Turns.Path(ctx, id)
}

func newBench(t *testing.T) *bench {
	t.Helper()
	s := storetest.Open(t)
	return benchOver(t, s, s.Turns)
}

func benchOver(t *testing.T, s *store.Store, through conversation.Store) *bench {
	t.Helper()
	b := &bench{t: t, store: s, edited: make(chan chat.MessageSeq, 20)}
	c := chat.Conversation{Title: "Talk"}
	must(t, s.Chats.CreateConversation(t.Context(), &c))
	b.id = c.ID
	registry := tool.NewRegistry()
	registry.Publish("p", []tool.Tool{{Name: "echo", Description: "Says it again.", Dialect: "spindle"}}, echo{})
	b.tools = registry.Set()
	g, err := gate.Open(t.Context(), gate.Options{})
	must(t, err)
	version := gate.PluginVersion{
		Plugin: "p", Name: "P", Dialect: "spindle", Isolation: "process+landlock", Code: "c", Tools: b.tools.Tools(),
		Listed: true,
	}
	g.Approvals.Status(version)
	must(t, g.Approvals.Approve(t.Context(), version, gate.ApproveOptions{}))
	b.owner = conversation.New(conversation.Options{
		Store:  through,
		Turns:  turn.New(turn.Options{Log: through, Calls: call.New(call.Options{Gate: g, Log: through})}),
		Edited: func(_ chat.ConversationID, seq chat.MessageSeq) { b.edited <- seq },
		Rests:  func(id chat.ConversationID) { b.rests = append(b.rests, b.owner.Running(id)) },
	})
	return b
}

// under is a turn under way.
type under struct {
	t      *testing.T
	said   chan string // pieces of text
	result chan result

	mu    sync.Mutex // guards kinds
	kinds []chat.EventKind
}

type result struct {
	out turn.Outcome
	err error
}

func newUnder(t *testing.T) *under {
	return &under{t: t, said: make(chan string, 100), result: make(chan result, 1)}
}

func (u *under) hear(e chat.Event) {
	u.mu.Lock()
	u.kinds = append(u.kinds, e.Kind)
	u.mu.Unlock()
	if e.Kind == chat.EventText {
		u.said <- e.Text
	}
}

func (u *under) heard(kind chat.EventKind) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return slices.Contains(u.kinds, kind)
}

// until waits until the model has said a piece of text.
func (u *under) until(text string) {
	u.t.Helper()
	for said := range u.said {
		if said == text {
			return
		}
	}
}

// writes waits until the model has said a piece of text, and it is in the chat.
func (b *bench) writes(u *under, text string) {
	b.t.Helper()
	u.until(text)
	testkit.Until(b.t, text+" to be in the chat", func() bool {
		path := b.path()
		return strings.Contains(path[len(path)-1], strings.TrimSpace(text))
	})
}

func (u *under) end() turn.Outcome {
	u.t.Helper()
	r := <-u.result
	if r.err != nil {
		u.t.Fatal(r.err)
	}
	return r.out
}

// ask starts the turn that writes.
func (b *bench) ask(m model.Model, text string) *under {
	u := newUnder(b.t)
	go func() { // ends with the turn
		out, err := b.owner.Run(b.t.Context(), request(b, m, text), u.hear)
		u.result <- result{out, err}
	}()
	return u
}

// member starts a member's turn.
func (b *bench) member(m model.Model, text string, keep bool) *under {
	u := newUnder(b.t)
	go func() { // ends with the turn
		sceptic := conversation.Member{Caller: "member:sceptic", Keep: keep}
		out, err := b.owner.RunMember(b.t.Context(), sceptic, request(b, m, text), u.hear)
		u.result <- result{out, err}
	}()
	return u
}

// says is a model that says text, once.
func says(text string) *modeltest.Model { return modeltest.New([]modeltest.Step{modeltest.Say(text)}) }

// halts is a model that says first, and rest once the channel is closed.
func halts(first, rest string) (*modeltest.Model, chan struct{}) {
	goes := make(chan struct{})
	return modeltest.New([]modeltest.Step{modeltest.Say(first), modeltest.Wait(goes), modeltest.Say(rest)}), goes
}

// path returns what is seen of the chat: number, role and text of each message, and a
// star on hidden ones.
func (b *bench) path() []string {
	b.t.Helper()
	path, err := b.store.Chats.Path(b.t.Context(), b.id)
	must(b.t, err)
	var out []string
	for _, m := range path {
		line := fmt.Sprintf("%d %s %s", m.Seq, m.Role, chat.TextOf(m.Parts))
		if m.Hidden {
			line += "*"
		}
		out = append(out, strings.TrimSpace(line))
	}
	return out
}

func (b *bench) wants(when string, want ...string) {
	b.t.Helper()
	if got := b.path(); !slices.Equal(got, want) {
		b.t.Errorf("%s:\n got %q\nwant %q", when, got, want)
	}
}

// add appends a message of a turn.
func (b *bench) add(role chat.Role, turn, text string) {
	b.t.Helper()
	m := chat.Message{Role: role, Turn: turn, State: chat.Complete, Parts: []chat.Part{}}
	if text != "" {
		m.Parts = append(m.Parts, chat.TextPart(text))
	}
	if waits, err := b.owner.Append(b.t.Context(), b.id, []chat.Message{m}, nil); err != nil || waits {
		b.t.Fatalf("adding %q: waits %v, %v", text, waits, err)
	}
}

// request is a turn in the chat in which everything is allowed.
func request(b *bench, m model.Model, text string) turn.Request {
	return turn.Request{Conversation: b.id, Text: text, Model: m, Tools: b.tools, Asker: gate.AlwaysAsker{}}
}

// onWaiting closes began once the model is waited for.
func onWaiting(began chan<- struct{}) func(chat.Event) {
	return func(e chat.Event) {
		if e.Kind == chat.EventWaiting {
			close(began)
		}
	}
}
