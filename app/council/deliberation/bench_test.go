package deliberation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/store"
	"conclave/store/storetest"
)

// models are scripted models by name.
type models struct {
	mu  sync.Mutex
	all map[string]model.Model
}

// Open implements deliberation.Models.
func (m *models) Open(_ context.Context, name string) (model.Model, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	model, ok := m.all[name]
	if !ok {
		return nil, fault.New(fault.NotFound, "models.open", "There is no model "+name+".", "Choose another.")
	}
	return model, nil
}

// Default implements deliberation.Models.
func (m *models) Default(context.Context) (string, error) { return "test/main", nil }

// bench is a runner over a real store with one chat.
type bench struct {
	t        testing.TB
	store    *store.Store
	owner    *conversation.Owner
	runner   *deliberation.Runner
	registry *tool.Registry
	gate     *gate.Gate
	bus      *bus.Bus
	id       chat.ConversationID
	models   *models
	options  deliberation.Options
	asker    gate.Asker

	mu     sync.Mutex // guards events
	events []deliberation.Event
	heard  chan struct{}
}

// tools publishes tools of an approved plugin.
func (b *bench) tools(plugin string, invoker tool.Invoker, names ...string) {
	b.t.Helper()
	var tools []tool.Tool
	for _, name := range names {
		tools = append(tools, tool.Tool{Name: name, Description: "A tool.", Dialect: "functions"})
	}
	b.publish(plugin, invoker, tools...)
}

func (b *bench) publish(plugin string, invoker tool.Invoker, tools ...tool.Tool) {
	b.t.Helper()
	b.registry.Publish(plugin, tools, invoker)
	version := gate.PluginVersion{
		Plugin: plugin, Name: plugin, Dialect: "functions", Isolation: "process+landlock", Code: "c", Listed: true,
		Tools: slices.DeleteFunc(b.registry.Set().Tools(), func(t tool.Tool) bool { return t.Plugin != plugin }),
	}
	b.gate.Approvals.Status(version)
	_, err := b.gate.Rules.Add(b.t.Context(), gate.Rule{ // a person said yes to it before
		Effect: gate.Allow, Plugin: plugin, Tool: "*", Scope: gate.Always, Callers: []gate.Caller{gate.AnyMember},
	})
	if err := errors.Join(err, b.gate.Approvals.Approve(b.t.Context(), version, gate.ApproveOptions{})); err != nil {
		b.t.Fatal(err)
	}
}

func newBench(t testing.TB, change ...func(*deliberation.Options)) *bench {
	t.Helper()
	s := storetest.Open(t)
	b := &bench{
		t: t, store: s, registry: tool.NewRegistry(), models: &models{all: map[string]model.Model{}}, bus: bus.New(),
		heard: make(chan struct{}, 1),
	}
	c := chat.Conversation{Title: "Talk", System: "Be kind."}
	if err := s.Chats.CreateConversation(t.Context(), &c); err != nil {
		t.Fatal(err)
	}
	b.id = c.ID
	var err error
	if b.gate, err = gate.Open(t.Context(), gate.Options{}); err != nil {
		t.Fatal(err)
	}
	calls := call.New(call.Options{Gate: b.gate, Log: s.Turns})
	b.owner = conversation.New(conversation.Options{
		Store: s.Turns, Turns: turn.New(turn.Options{Log: s.Turns, Calls: calls, Retry: model.Policy{Attempts: 1}}),
	})
	o := deliberation.Options{
		Log: s.Councils, Settings: s.Councils, Conversations: b.owner, Calls: calls, Tools: b.registry, Models: b.models,
		Chats: s.Turns, Bus: b.bus, Call: s.Calls.Call,
		Seed:    func() uint64 { return 7 },
		Price:   func(_ model.Info, u chat.Usage) chat.Usage { return u },
		Load:    func(context.Context, ...string) error { return nil },
		Missing: func(string, []string) string { return "" },
		Background: func(context.Context, chat.ConversationID, []chat.Message) ([]council.Background, error) {
			return nil, nil
		},
	}
	for _, f := range change {
		f(&o)
	}
	b.options = o
	b.runner = deliberation.New(o)
	t.Cleanup(b.runner.Close)
	return b
}

// says adds a model that gives answers, one for each request, and returns it.
func (b *bench) says(name string, answers ...string) *modeltest.Model {
	var steps [][]modeltest.Step
	for _, a := range answers {
		steps = append(steps, []modeltest.Step{modeltest.Say(a), modeltest.Used(10, 5)})
	}
	return b.model(name, steps...)
}

func (b *bench) model(name string, answers ...[]modeltest.Step) *modeltest.Model {
	m := modeltest.New(answers...)
	connection, id, _ := strings.Cut(name, "/")
	m.SetInfo(model.Info{
		Connection: connection, ID: id, Title: id, Provider: "test", Can: model.Features{Tools: true},
	})
	b.models.mu.Lock()
	defer b.models.mu.Unlock()
	b.models.all[name] = m
	return m
}

// council parses a council and sets it for everything.
func (b *bench) council(text string) council.Council {
	b.t.Helper()
	var c council.Council
	if err := json.Unmarshal([]byte(text), &c); err != nil {
		b.t.Fatal(err)
	}
	if err := c.Check(); err != nil {
		b.t.Fatal(err)
	}
	if err := b.store.Councils.PutCouncil(b.t.Context(), council.Global, &c); err != nil {
		b.t.Fatal(err)
	}
	return c
}

// hear keeps the events of a run.
func (b *bench) hear(e deliberation.Event) {
	b.mu.Lock()
	b.events = append(b.events, e)
	b.mu.Unlock()
	select {
	case b.heard <- struct{}{}:
	default:
	}
}

// heardSoFar returns the events of runs up to now.
func (b *bench) heardSoFar() []deliberation.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.events)
}

// until waits until an event is there that is wanted, and returns it.
func (b *bench) until(wanted func(deliberation.Event) bool) deliberation.Event {
	b.t.Helper()
	for {
		b.mu.Lock()
		i := slices.IndexFunc(b.events, wanted)
		var found deliberation.Event
		if i >= 0 {
			found = b.events[i]
		}
		b.mu.Unlock()
		if i >= 0 {
			return found
		}
		select {
		case <-b.heard:
		case <-b.t.Context().Done():
			b.t.Fatal("what was waited for never happened")
		}
	}
}

// answer is a turn under way.
type answer struct {
	b    *bench
	over chan struct{}
	out  turn.Outcome
	err  error
}

// ask has a question answered by a model.
func (b *bench) ask(ctx context.Context, model model.Model, text string, how deliberation.How) *answer {
	if how.OnEvent == nil {
		how.OnEvent = b.hear
	}
	a := &answer{b: b, over: make(chan struct{})}
	go func() {
		defer close(a.over)
		a.out, a.err = b.runner.Run(ctx, turn.Request{
			Conversation: b.id, Text: text, Model: model, Asker: b.asker,
		}, how, nil)
	}()
	return a
}

// end waits for the end of the turn, which must be a good one.
func (a *answer) end() turn.Outcome {
	a.b.t.Helper()
	<-a.over
	if a.err != nil || a.out.Err != nil {
		a.b.t.Fatalf("the turn ended %v, %v", a.err, a.out.Err)
	}
	return a.out
}

// words returns the texts of a run.
func (b *bench) words(run council.Run) func(council.Hash) string {
	return func(h council.Hash) string {
		text, _ := b.runner.Texts(context.Background(), run.Begin.Run)(h) // a missing one is empty
		return string(text)
	}
}

// stored returns the only run of the chat, made of its steps, and its header.
func (b *bench) stored() (council.Run, council.Header) {
	b.t.Helper()
	headers, err := b.store.Councils.Runs(b.t.Context(), b.id)
	if err != nil || len(headers) == 0 {
		b.t.Fatalf("there are %d runs, %v", len(headers), err)
	}
	last := headers[len(headers)-1]
	steps, err := b.store.Councils.Steps(b.t.Context(), last.Run)
	if err != nil {
		b.t.Fatal(err)
	}
	run, err := council.Replay(steps)
	if err != nil {
		b.t.Fatal(err)
	}
	return run, last
}

// states is “1/ada/answer done, …”.
func states(r council.Run) string {
	var all []string
	for _, t := range r.Tasks {
		all = append(all, fmt.Sprintf("%s %s", t.ID, t.State))
	}
	return strings.Join(all, ", ")
}

// toldIn is all that a request says, for a search.
func toldIn(r model.Request) string {
	all := r.System
	for _, m := range r.Messages {
		all += "\n" + string(m.Role) + ": " + chat.TextOf(m.Parts)
	}
	return all
}

// again answers a question again.
func again(b *bench, model model.Model, question chat.MessageSeq) turn.Request {
	return turn.Request{Conversation: b.id, Parent: &question, Model: model}
}

// echo is a tool that answers with a word.
type echo struct{}

func (echo) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("echo " + string(c.Arguments))}}, nil
}

// allow has everybody call a tool without being asked.
func (b *bench) allow(plugin, name string) {
	b.t.Helper()
	if _, err := b.gate.Rules.Add(b.t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: plugin, Tool: name, Callers: []gate.Caller{gate.Main, "member:*"},
		Scope: gate.Always,
	}); err != nil {
		b.t.Fatal(err)
	}
}

// answered asks with the tools there are, and waits for the end.
func (b *bench) answered(ctx context.Context, model model.Model, text string) *answer {
	a := &answer{b: b}
	a.out, a.err = b.runner.Run(ctx, turn.Request{
		Conversation: b.id, Text: text, Model: model, Tools: b.registry.Set(),
	}, deliberation.How{OnEvent: b.hear}, nil)
	return a
}

// again returns another runner over the same store, as after a start of the program.
func (b *bench) again() *deliberation.Runner {
	o := b.options
	r := deliberation.New(o)
	b.t.Cleanup(r.Close)
	return r
}

// together is a tool of several plugins whose calls end when all are there, in an order of
// the test's.
type together struct {
	mu    sync.Mutex
	here  int
	all   int
	first int
	order []string                 // plugins
	came  map[string]chan struct{} // closed when a plugin's call may end
}

func (g *together) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	g.mu.Lock()
	if g.here++; g.here == g.all {
		close(g.came[g.order[g.first]])
	}
	g.mu.Unlock()
	select {
	case <-g.came[c.Tool.Plugin]:
	case <-ctx.Done():
		return tool.Result{}, ctx.Err()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	at := slices.Index(g.order, c.Tool.Plugin)
	step := 1
	if g.first > 0 {
		step = -1
	}
	if next := at + step; next >= 0 && next < len(g.order) {
		close(g.came[g.order[next]])
	}
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("seen by " + c.Tool.Plugin)}}, nil
}

// flaky is a tool that fails once.
type flaky struct {
	mu sync.Mutex
	n  int
}

func (f *flaky) Call(context.Context, tool.Call) (tool.Result, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.n++; f.n == 1 {
		return tool.Result{Status: chat.CallRaised, Error: "not yet"}, nil
	}
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("at last")}}, nil
}

// asks is a person who allows all, once, and remembers what was asked.
type asks struct {
	mu     sync.Mutex
	titles []string
}

func (a *asks) Ask(_ context.Context, r gate.Request) (gate.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.titles = append(a.titles, r.Title)
	return gate.Answer{Effect: gate.Allow, Scope: gate.Once}, nil
}

func (a *asks) all() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.titles)
}
