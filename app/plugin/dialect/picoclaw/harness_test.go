package picoclaw_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/picoclaw"
	"conclave/app/plugin/host"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/python"
	"conclave/app/plugin/worker"
	"conclave/app/test/programtest"
	"conclave/app/test/testkit"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
	"conclave/store"
	"conclave/store/storetest"
)

var (
	must  = testkit.Must
	write = testkit.Write
)

func TestMain(m *testing.M) { programtest.Main(m) }

// bench is a host with hook processes in its plugins folder.
type bench struct {
	t       testing.TB
	dir     string
	data    string
	store   *store.Store
	gate    *gate.Gate
	tools   *tool.Registry
	dialect *picoclaw.Dialect
	host    *host.Host
	options host.Options // of host

	calls *call.Runner
	turns *turn.Runner
	hear  *picoclaw.Observer
	chat  chat.ConversationID
	ran   []string // what the tools of Conclave's own did
	mu    sync.Mutex
}

// newBench opens a host on an empty folder.
func newBench(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), data: t.TempDir(), tools: tool.NewRegistry()}
	launcher := worker.New(worker.Options{Program: programtest.Worker(t)})
	t.Cleanup(launcher.Close)
	py := python.New(python.Options{Runtime: filepath.Join(programtest.Dir, "runtime")})
	if _, err := py.Python(t.Context()); err != nil {
		t.Skip(err)
	}
	b.store = storetest.OpenWith(t, store.Options{Dir: b.data})
	news := bus.New()
	g, err := gate.Open(t.Context(), gate.Options{Store: b.store.Permissions, Bus: news, Protected: []string{b.data}})
	must(t, err)
	b.gate, b.dialect = g, picoclaw.New(py)
	b.options = host.Options{
		Dir: b.dir, Data: b.data, Dialects: []plugin.Dialect{b.dialect}, Launcher: launcher, Registry: b.tools, Gate: g,
		Store: b.store.Plugins, Bus: news, Log: slog.New(slog.DiscardHandler), LoadTimeout: 2 * time.Minute,
	}
	b.host = host.New(b.options)
	source := b.dialect.Source(b.host.Backends)
	points := &hook.Points{Sources: []hook.Source{source}}
	b.hear = b.dialect.Observer(b.host.Backends)
	b.calls = call.New(call.Options{Gate: g, Log: b.store.Turns, Points: points})
	b.turns = turn.New(turn.Options{Log: b.store.Turns, Calls: b.calls, Points: points, OnEvent: b.hear.Take})
	b.tools.Publish(gate.BuiltIn, []tool.Tool{
		{Name: "exec", Description: "Runs a command.", Parameters: json.RawMessage(
			`{"type":"object","properties":{"command":{"type":"string"}},"required":["command"]}`)},
		{Name: "echo", Description: "Says it again.", Parameters: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string"}}}`)},
	}, b)
	conversation := chat.Conversation{System: "You are kind."}
	must(t, b.store.Chats.CreateConversation(t.Context(), &conversation))
	b.chat = conversation.ID
	t.Cleanup(func() {
		b.hear.Close()
		b.host.Close()
		must(t, g.Close(context.WithoutCancel(t.Context())))
	})
	return b
}

// entry is a hook.json.
type entry = map[string]any

// stages is a hook.json that intercepts them.
func stages(names ...string) entry { return entry{"intercept": names} }

// hook writes a hook process of Python and approves it; text is its hook.py. On a busy
// machine it has time to answer, unless e says how much.
func (b *bench) hook(id string, e entry, text string) plugin.Status {
	b.t.Helper()
	if e["command"] == nil && e["hooks"] == nil {
		e["command"] = []string{"python3", "hook.py"}
	}
	if e["hooks"] == nil {
		times := map[string]any{"hello_timeout_ms": 120_000, "interceptor_timeout_ms": 120_000}
		own, _ := e["x_conclave"].(map[string]any)
		maps.Copy(times, own)
		e["x_conclave"] = times
	}
	raw, err := json.MarshalIndent(e, "", "  ")
	must(b.t, err)
	write(b.t, filepath.Join(b.dir, id, picoclaw.FileName), string(raw))
	write(b.t, filepath.Join(b.dir, id, "hook.py"), text)
	must(b.t, b.host.Scan())
	must(b.t, b.host.WaitIdle(b.t.Context()))
	must(b.t, plugintest.Approve(b.t.Context(), b.host, id, false))
	must(b.t, b.host.WaitIdle(b.t.Context()))
	return b.status(id)
}

func (b *bench) status(id string) plugin.Status {
	b.t.Helper()
	s, err := b.host.Status(id)
	must(b.t, err)
	return s
}

// Call implements tool.Invoker for Conclave's own tools.
func (b *bench) Call(_ context.Context, c tool.Call) (tool.Result, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ran = append(b.ran, c.Tool.Name+" "+string(c.Arguments))
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("ran " + string(c.Arguments))}}, nil
}

// answers is a person at a terminal: each request gets the next answer, the last one
// again and again.
type answers struct {
	mu    sync.Mutex
	say   []gate.Answer
	asked []gate.Request
}

var (
	yes    = gate.Answer{Effect: gate.Allow, Scope: gate.Once}
	no     = gate.Answer{Effect: gate.Deny, Scope: gate.Once}
	always = gate.Answer{Effect: gate.Allow, Scope: gate.Always}
)

func (a *answers) Ask(_ context.Context, r gate.Request) (gate.Answer, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, r)
	if len(a.say) == 0 {
		return gate.Answer{}, gate.ErrNobody
	}
	answer := a.say[0]
	if len(a.say) > 1 {
		a.say = a.say[1:]
	}
	return answer, nil
}

// nobody is a terminal without a person.
func nobody() *answers { return &answers{} }

func person(say ...gate.Answer) *answers { return &answers{say: say} }

// asked is one turn and what came of it.
type asked struct {
	turn.Outcome
	t        testing.TB
	notes    []string
	results  []chat.ToolResult
	requests []model.Request
}

// ask runs a turn in which the model answers as scripted.
func (b *bench) ask(who gate.Asker, script ...[]modeltest.Step) asked {
	b.t.Helper()
	return b.askAs(turn.Request{Text: "what is the weather?", Asker: who}, script...)
}

func (b *bench) askAs(r turn.Request, script ...[]modeltest.Step) asked {
	b.t.Helper()
	model := modeltest.New(script...)
	r.Conversation, r.Model = b.chat, model
	if r.Tools == nil {
		r.Tools = b.tools.Set().ForModel()
	}
	a := asked{t: b.t}
	outcome, err := b.turns.Run(b.t.Context(), r, func(e chat.Event) {
		switch e.Kind {
		case chat.EventNoted:
			a.notes = append(a.notes, e.Note)
		case chat.EventAnswered:
			a.results = append(a.results, *e.Result)
		}
	})
	must(b.t, err)
	a.Outcome, a.requests = outcome, model.Requests()
	return a
}

// says ends the test unless the turn ended well, with this answer.
func (a asked) says(want string) {
	a.t.Helper()
	if a.Err != nil || a.Message == nil || chat.TextOf(a.Message.Parts) != want {
		a.t.Fatalf("the turn ended %s with %+v, %v; want %q; notes %q", a.Reason, a.Message, a.Err, want, a.notes)
	}
}

// result returns what the model was told of a call.
func (a asked) result(i int) string {
	a.t.Helper()
	if i >= len(a.results) {
		a.t.Fatalf("there are only %d results; the turn ended %s, %v; notes %q", len(a.results), a.Reason, a.Err, a.notes)
	}
	return a.results[i].Text()
}

func (a asked) noted(want string) {
	a.t.Helper()
	if !strings.Contains(strings.Join(a.notes, "\n"), want) {
		a.t.Errorf("the person was told %q, not %q", a.notes, want)
	}
}

func say(text string) []modeltest.Step { return []modeltest.Step{modeltest.Say(text)} }

func calls(pairs ...string) []modeltest.Step {
	var steps []modeltest.Step
	for i := 0; i+1 < len(pairs); i += 2 {
		steps = append(steps, modeltest.Call(fmt.Sprintf("c%d", i/2+1), pairs[i], pairs[i+1]))
	}
	return steps
}

func toolNames(r model.Request) string {
	var names []string
	for _, t := range r.Tools {
		names = append(names, t.Name)
	}
	return strings.Join(names, " ")
}

// params returns what a hook was asked with by a method, in order.
func (b *bench) params(id, method string) []map[string]any {
	b.t.Helper()
	var all []map[string]any
	for _, line := range b.heard(id) {
		var m struct {
			Method string         `json:"method"`
			Params map[string]any `json:"params"`
		}
		must(b.t, json.Unmarshal([]byte(line), &m))
		if m.Method == method {
			all = append(all, m.Params)
		}
	}
	return all
}

// did returns what Conclave's own tools did since it was asked last.
func (b *bench) did() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	ran := strings.Join(b.ran, "; ")
	b.ran = nil
	return ran
}

// heard are the lines that a hook was sent, as those of told write them.
func (b *bench) heard(id string) []string {
	b.t.Helper()
	raw, err := os.ReadFile(filepath.Join(b.data, "storage", id, "heard"))
	if err != nil {
		return nil
	}
	whole := bytes.LastIndexByte(raw, '\n') // what comes after may be still written
	if whole < 0 {
		return nil
	}
	return strings.Split(strings.TrimSpace(string(raw[:whole])), "\n")
}

// told begins the hooks of these tests: each line is kept in “heard”, and answered by
// the function of its method, or with continue.
const told = `
import json, os, sys, time
heard = open(os.path.join(os.environ["HOME"], "heard"), "a")
def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()
def serve(**methods):
    for line in sys.stdin:
        heard.write(line)
        heard.flush()
        message = json.loads(line)
        if not message.get("id"):
            continue
        method = message["method"].removeprefix("hook.")
        answer = methods.get(method, lambda params: {"action": "continue", "approved": True})(message.get("params"))
        if answer is not Ellipsis:
            send({"jsonrpc": "2.0", "id": message["id"], "result": answer})

# weather injects a tool, and answers for it.
tool = {"type": "function", "function": {"name": "get_weather", "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
def inject(p):
    return {"action": "modify", "request": {**p, "tools": (p.get("tools") or []) + [tool]}}
def answer(p):
    if p["tool"] != "get_weather":
        return {"action": "continue"}
    city = p.get("arguments", {}).get("city", "")
    if city != "Beijing":
        return {"action": "respond", "result": {"for_llm": "no such city: " + city, "is_error": True}}
    return {"action": "respond", "result": {"for_llm": "It is sunny in Beijing, 20 degrees."}}
`

// weather is a hook that injects get_weather.
const weather = told + "serve(before_llm=inject, before_tool=answer)"
