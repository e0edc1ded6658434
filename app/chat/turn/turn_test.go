package turn_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/test/testkit"
	"conclave/app/tool"

	making "conclave/app/tool/call"
)

var must = testkit.Must

// scripted is a model that says what its script says, one function a request.
type scripted struct {
	info   model.Info
	script []func(ctx context.Context, r model.Request, say func(model.Event) bool) error

	mu       sync.Mutex // guards requests
	requests []model.Request
}

type round = func(ctx context.Context, r model.Request, say func(model.Event) bool) error

func scriptedModel(script ...round) *scripted {
	return &scripted{
		info: model.Info{
			Connection: "test",
			ID:         "m",
			Title:      "Model M",
			Can:        model.Features{Tools: true},
		},
		script: script,
	}
}

func (m *scripted) Info() model.Info { return m.info }

func (m *scripted) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		m.mu.Lock()
		n := len(m.requests)
		m.requests = append(m.requests, r)
		m.mu.Unlock()
		if n >= len(m.script) {
			yield(model.Event{}, fmt.Errorf("the script has no request %d", n+1))
			return
		}
		if err := m.script[n](ctx, r, func(e model.Event) bool { return yield(e, nil) }); err != nil {
			yield(model.Event{}, err)
		}
	}
}

// says is a request that is answered with text, calls with calls.
func says(texts ...string) round {
	return func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		for _, text := range texts {
			if !say(model.Event{Kind: model.Text, Text: text}) {
				return nil
			}
		}
		say(model.Event{Kind: model.End, Stop: model.StopEnd, Usage: chat.Usage{Input: 10, Output: 5}})
		return nil
	}
}

func calls(calls ...chat.ToolCall) round {
	return func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		for i, c := range calls {
			if c.ID == "" {
				c.ID = fmt.Sprintf("id-%d", i+1)
			}
			if !say(model.Event{Kind: model.CallStart, Call: chat.ToolCall{ID: c.ID, Tool: c.Tool}}) ||
				!say(model.Event{Kind: model.Call, Call: c}) {
				return nil
			}
		}
		say(model.Event{Kind: model.End, Stop: model.StopCalls})
		return nil
	}
}

func call(name, arguments string) chat.ToolCall {
	parsed, raw := model.Arguments(arguments)
	return chat.ToolCall{Tool: name, Arguments: parsed, Raw: raw}
}

// tools runs in memory: one function a tool.
type tools map[string]func(ctx context.Context, c tool.Call) tool.Result

func (t tools) Call(ctx context.Context, c tool.Call) (tool.Result, error) {
	return t[c.Tool.Name](ctx, c), nil
}

func answers(text string) func(context.Context, tool.Call) tool.Result {
	return func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{{Kind: chat.PartText, Text: text}}}
	}
}

// takes is a tool that takes so long, or until its call ends.
func takes(d time.Duration, text string) func(context.Context, tool.Call) tool.Result {
	return func(ctx context.Context, c tool.Call) tool.Result {
		select {
		case <-time.After(d):
			return answers(text)(ctx, c)
		case <-ctx.Done():
			return tool.Result{Status: chat.CallCancelled}
		}
	}
}

// bench is everything a turn needs, in memory.
type bench struct {
	t      testing.TB
	log    *turn.MemoryLog
	gate   *gate.Gate
	set    *tool.Set
	calls  *making.Runner
	runner *turn.Runner

	mu     sync.Mutex // guards events
	events []chat.Event
	on     func(chat.Event) // gets each event too; may be nil
}

const talk chat.ConversationID = "talk"

// newBench makes a bench whose plugin "p" has the tools given, each approved and
// allowed.
func newBench(t testing.TB, run tools, change ...func(*tool.Tool)) *bench {
	t.Helper()
	b := &bench{t: t, log: turn.NewMemoryLog(chat.Conversation{ID: talk, System: "Be brief."})}
	b.open(b.log, run, change...)
	return b
}

func (b *bench) open(log turn.Log, run tools, change ...func(*tool.Tool)) {
	var list []tool.Tool
	for _, name := range slices.Sorted(mapsKeys(run)) {
		made := tool.Tool{Name: name, Description: "Does " + name + ".", Dialect: "spindle"}
		for _, c := range change {
			c(&made)
		}
		list = append(list, made)
	}
	registry := tool.NewRegistry()
	registry.Publish("p", list, run)
	b.set = registry.Set()
	g, err := gate.Open(b.t.Context(), gate.Options{})
	must(b.t, err)
	c := gate.PluginVersion{
		Plugin: "p", Name: "P", Dialect: "spindle", Isolation: "process+landlock", Code: "c", Tools: b.set.Tools(),
		Listed: true,
	}
	g.Approvals.Status(c)
	must(b.t, g.Approvals.Approve(b.t.Context(), c, gate.ApproveOptions{}))
	b.gate = g
	b.calls = making.New(making.Options{Gate: g, Log: log})
	b.runner = turn.New(turn.Options{Log: log, Calls: b.calls, Retry: model.Policy{Attempts: 3, Base: time.Second}})
}

func mapsKeys(t tools) iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range t {
			if !yield(name) {
				return
			}
		}
	}
}

func (b *bench) hear(e chat.Event) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.events = append(b.events, e)
	if b.on != nil {
		b.on(e)
	}
}

// heard returns the events of a kind.
func (b *bench) heard(kind chat.EventKind) []chat.Event {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(b.events), func(e chat.Event) bool { return e.Kind != kind })
}

// say runs a turn in which everything is allowed.
func (b *bench) say(m model.Model, change ...func(*turn.Request)) turn.Outcome {
	b.t.Helper()
	out, err := b.try(b.t.Context(), m, change...)
	must(b.t, err)
	return out
}

func (b *bench) try(ctx context.Context, m model.Model, change ...func(*turn.Request)) (turn.Outcome, error) {
	r := turn.Request{
		Conversation: talk, Text: "Hello.", Model: m, Tools: b.set, ChainLimit: 10,
		Asker: gate.AlwaysAsker{},
	}
	for _, c := range change {
		c(&r)
	}
	return b.runner.Run(ctx, r, b.hear)
}

func (b *bench) path() []chat.Message {
	b.t.Helper()
	path, err := b.log.Path(b.t.Context(), talk)
	must(b.t, err)
	return path
}

// results returns what the model was given for its calls in request n, as
// "status: text".
func (b *bench) results(m *scripted, n int) []string {
	b.t.Helper()
	if n >= len(m.requests) {
		b.t.Fatalf("there was no request %d", n+1)
	}
	messages := m.requests[n].Messages
	last := messages[len(messages)-1]
	if last.Role != chat.RoleTool {
		b.t.Fatalf("request %d does not end with results but with %s", n+1, last.Role)
	}
	var out []string
	for _, p := range last.Parts {
		out = append(out, string(p.Result.Status)+": "+p.Result.Text())
	}
	return out
}

func equal(t *testing.T, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n got %q\nwant %q", what, got, want)
	}
}

// outline is a path in short.
func outline(path []chat.Message) []string {
	var out []string
	for _, m := range path {
		line := fmt.Sprintf("%d<%d %s %s", m.Seq, m.Parent, m.Role, m.State)
		if m.Reason != "" {
			line += " " + string(m.Reason)
		}
		for _, p := range m.Parts {
			switch p.Kind {
			case chat.PartText:
				line += " “" + p.Text + "”"
			case chat.PartToolCall:
				line += " →" + p.Call.Tool
			case chat.PartToolResult:
				line += " ←" + string(p.Result.Status)
			default:
				line += " " + string(p.Kind)
			}
		}
		out = append(out, line)
	}
	return out
}

func TestATurnWithAToolIsSavedSentAndReported(t *testing.T) {
	b := newBench(t, tools{"count": answers("3")})
	m := scriptedModel(calls(call("count", `{"text":"a b c"}`)), says("There are ", "3."))
	out := b.say(m, func(r *turn.Request) { r.ID = "t1"; r.Text = "# Count *a b c*\nplease" })
	if out.Reason != chat.EndDone || out.Seq != 4 || out.Message.Seq != 4 ||
		chat.TextOf(out.Message.Parts) != "There are 3." || out.Usage.Input != 10 || out.Err != nil {
		t.Errorf("outcome %+v", out)
	}
	equal(t, "path", outline(b.path()), []string{
		"1<0 user complete “# Count *a b c*\nplease”", "2<1 assistant complete →count", "3<2 tool complete ←ok",
		"4<3 assistant complete done “There are 3.”",
	})
	for _, m := range b.path() {
		if m.Turn != "t1" || m.Created.IsZero() || m.Ended.IsZero() {
			t.Errorf("message %d: %+v", m.Seq, m)
		}
	}
	first := m.requests[0]
	if first.System != "Be brief." || len(first.Tools) != 1 || first.Tools[0].Name != "count" ||
		first.Tools[0].Description != "Does count." || first.NoCalls {
		t.Errorf("sent %+v", first)
	}
	equal(t, "results", b.results(m, 1), []string{"ok: 3"})
	if c, _ := b.log.Conversation(t.Context(), talk); c.Title != "Count *a b c*" {
		t.Errorf("title %q", c.Title)
	}
	var lines []string
	for _, e := range b.events {
		if line := turn.Line(e); line != nil {
			raw, err := json.Marshal(line)
			must(t, err)
			lines = append(lines, string(raw))
		}
	}
	for i, want := range []string{
		`"type":"turn_started"`, `"type":"usage"`, `"type":"tool_call"`, `"decision":"allow"`,
		`"content":[{"text":"3","type":"text"}]`, `"text":"There are "`, `"text":"3."`, `"input_tokens":10`,
		`"message":"There are 3."`,
	} {
		if i >= len(lines) || !strings.Contains(lines[i], want) {
			t.Fatalf("line %d of\n%s\nhas no %s", i+1, strings.Join(lines, "\n"), want)
		}
	}
	if last := b.events[len(b.events)-1]; last.Kind != chat.EventEnded || last.Reason != chat.EndDone {
		t.Errorf("the last event is %+v", last)
	}
}

func TestLF22AllWrongArgumentsAreReportedTogetherAndTheTurnGoesOn(t *testing.T) {
	entered := false
	b := newBench(t, tools{
		"count": func(ctx context.Context, c tool.Call) tool.Result { entered = true; return answers("")(ctx, c) },
	}, func(made *tool.Tool) {
		made.Parameters = json.RawMessage(
			`{"type":"object","properties":{"n":{"type":"integer","maximum":100}},"required":["n","text"],"additionalProperties":false}`,
		)
	})
	m := scriptedModel(calls(call("count", `{"n":250,"x":1}`)), says("Sorry."))
	if out := b.say(m); out.Reason != chat.EndDone || entered {
		t.Errorf("reason %s, entered %v", out.Reason, entered)
	}
	got := b.results(m, 1)[0]
	for _, want := range []string{
		"bad_arguments: Error: arguments do not fit count:\n", "n: ", "text: is missing", "x: there is no such parameter",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %q, want %q in it", got, want)
		}
	}
}

func TestLF23MalformedArgumentsAreAResultAndTheModelIsAskedAgain(t *testing.T) {
	b := newBench(t, tools{"count": answers("0")})
	long := "[" + strings.Repeat("x", 300)
	m := scriptedModel(
		calls(call("count", "{\n\"a\": tru}"), call("count", `["a"]`), call("count", `"a"`), call("count", long),
			call("count", ``), call("count", `null`)),
		says("Done."),
	)
	if out := b.say(m); out.Reason != chat.EndDone {
		t.Errorf("reason %s", out.Reason)
	}
	got := b.results(m, 1)
	for i, want := range []string{
		"line 2, column 9", `got ["a"]`, `got "a"`, "They began: [" + strings.Repeat("x", 199) + "…", "ok: 0", "ok: 0",
	} {
		if !strings.Contains(got[i], want) {
			t.Errorf("call %d: got %q, want %q in it", i+1, got[i], want)
		}
	}
	if record := b.log.Calls()[0]; record.Status != chat.CallBadArguments || record.RawArguments != "{\n\"a\": tru}" ||
		string(record.Arguments) != "{}" {
		t.Errorf("record %+v", record)
	}
}

func TestLF25ACallOfAnUnknownToolListsThoseThereAre(t *testing.T) {
	b := newBench(
		t,
		tools{"word_count": answers("1"), "alpha": answers(""), "beta": answers(""), "word_cut": answers("")},
	)
	m := scriptedModel(calls(call("wrod_count", `{}`)), says("Oh."))
	b.say(m)
	equal(t, "results", b.results(m, 1), []string{
		`unknown: Error: no tool named "wrod_count". Tools: word_count, word_cut, alpha, beta`,
	})
	if record := b.log.Calls()[0]; record.Status != chat.CallUnknown || record.ToolID != "" ||
		record.ToolName != "wrod_count" {
		t.Errorf("record %+v", record)
	}
}

func TestAttackACallOfANameThatNoToolCanHaveIsAnsweredLikeOthers(t *testing.T) {
	b := newBench(t, tools{"count": answers("1")})
	long := strings.Repeat("n", 1_000_000)
	m := scriptedModel(
		calls(call("count\x00", `{}`), call("count\u200b\u202e", `{}`), call("count\n", `{}`), call(long, `{}`)),
		says("Oh."),
	)
	if out := b.say(m); out.Reason != chat.EndDone {
		t.Errorf("reason %s", out.Reason)
	}
	names := []string{`count\u{0000}`, `count\u{200b}\u{202e}`, `count\n`, long[:tool.ShownLine] + "…"}
	for i, got := range b.results(m, 1) {
		if want := fmt.Sprintf("unknown: Error: no tool named %q. Tools: count", names[i]); got != want {
			t.Errorf("call %d: got %.500q, want %.500q", i+1, got, want)
		}
		if record := b.log.Calls()[i]; record.ToolName != names[i] {
			t.Errorf("call %d is on record as %.500q", i+1, record.ToolName)
		}
	}
}

func TestLF26AnExceptionIsReportedWithoutItsTraceback(t *testing.T) {
	b := newBench(t, tools{
		"raise": func(context.Context, tool.Call) tool.Result {
			return tool.Result{
				Status: chat.CallRaised, Error: "ValueError: no", ErrorType: "ValueError", Traceback: "File secret.py",
				Printed: "hello",
			}
		},
		"exit": func(context.Context, tool.Call) tool.Result {
			return tool.Result{Status: chat.CallRaised, Error: "3", ErrorType: "SystemExit"}
		},
		"panic": func(context.Context, tool.Call) tool.Result { panic("a bug") },
	})
	m := scriptedModel(calls(call("raise", `{}`), call("exit", `{}`), call("panic", `{}`)), says("Sorry."))
	if out := b.say(m); out.Reason != chat.EndDone {
		t.Errorf("reason %s", out.Reason)
	}
	equal(t, "results", b.results(m, 1), []string{
		"raised: Error: ValueError: no", "raised: Error: SystemExit: 3", "died: Error: the call failed inside Conclave",
	})
	if record := b.log.Calls()[0]; record.Traceback != "File secret.py" || record.Printed != "hello" ||
		record.ErrorType != "ValueError" || record.Error != "Error: ValueError: no" {
		t.Errorf("record %+v", record)
	}
}

func TestLF27ABatchRunsInParallelAndIsAnsweredInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(
			t,
			tools{"slow": takes(700*time.Millisecond, "slow"), "quick": takes(500*time.Millisecond, "quick")},
		)
		m := scriptedModel(calls(call("slow", `{}`), call("quick", `{}`), call("quick", `{}`)), says("Done."))
		began := time.Now()
		b.say(m)
		if took := time.Since(began); took > 900*time.Millisecond {
			t.Errorf("took %s", took)
		}
		equal(t, "results", b.results(m, 1), []string{"ok: slow", "ok: quick", "ok: quick"})
		if ended := b.heard(chat.EventAnswered); ended[0].Result.Text() != "quick" || ended[2].Result.Text() != "slow" {
			t.Error("results were not told as they came")
		}
	})
}

func TestAtMostFourCallsOfAPluginRunAtOnceAndOneOfASerialOne(t *testing.T) {
	for name, c := range map[string]struct {
		serial bool
		calls  int
		most   int
		took   time.Duration
	}{"parallel": {false, 9, 4, 3 * time.Second}, "serial": {true, 3, 1, 3 * time.Second}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				now, most := 0, 0
				b := newBench(t, tools{"work": func(ctx context.Context, call tool.Call) tool.Result {
					mu.Lock()
					now++
					most = max(most, now)
					mu.Unlock()
					defer func() {
						mu.Lock()
						now--
						mu.Unlock()
					}()
					return takes(time.Second, "")(ctx, call)
				}}, func(made *tool.Tool) { made.Serial = c.serial })
				var batch []chat.ToolCall
				for range c.calls {
					batch = append(batch, call("work", `{}`))
				}
				began := time.Now()
				b.say(scriptedModel(calls(batch...), says("Done.")))
				if took := time.Since(began); took != c.took || most != c.most {
					t.Errorf("took %s with at most %d at once", took, most)
				}
			})
		})
	}
}

func TestLF28ACallOverItsLimitIsATimeoutAndTheNextOneWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, tools{"hang": takes(time.Hour, ""), "die": func(context.Context, tool.Call) tool.Result {
			return tool.Result{Status: chat.CallDied, Error: "the tool process ended (exit 3)"}
		}, "ok": answers("fine")})
		began := time.Now()
		m := scriptedModel(calls(call("hang", `{}`), call("die", `{}`)), calls(call("ok", `{}`)), says("Done."))
		b.say(m)
		equal(t, "results", b.results(m, 1), []string{
			"timeout: Error: hang took longer than 30 s and was stopped",
			"died: Error: the tool process ended (exit 3)",
		})
		equal(t, "results", b.results(m, 2), []string{"ok: fine"})
		if took := time.Since(began); took > 32*time.Second {
			t.Errorf("took %s", took)
		}
		if record := b.log.Calls()[0]; record.Status != chat.CallTimeout || record.MS < 30_000 {
			t.Errorf("record %+v", record)
		}
	})
}

func TestAToolsOwnTimeoutHoldsAndIsHandedOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var deadline time.Duration
		b := newBench(t, tools{"hang": func(ctx context.Context, c tool.Call) tool.Result {
			deadline = time.Until(c.Deadline)
			return takes(time.Hour, "")(ctx, c)
		}}, func(made *tool.Tool) { made.Timeout = 1500 * time.Millisecond })
		m := scriptedModel(calls(call("hang", `{}`)), says("Done."))
		b.say(m)
		equal(t, "results", b.results(m, 1), []string{"timeout: Error: hang took longer than 1.5 s and was stopped"})
		if deadline != 1500*time.Millisecond {
			t.Errorf("the tool was given %s", deadline)
		}
	})
}

func TestLF29TheLimitCountsRequestsAndAlwaysLeavesAnAnswer(t *testing.T) {
	one := calls(call("count", `{}`))
	limit := func(n int) func(*turn.Request) { return func(r *turn.Request) { r.ChainLimit = n } }
	t.Run("an answer at N is done", func(t *testing.T) {
		b := newBench(t, tools{"count": answers("1")})
		if out := b.say(scriptedModel(one, one, says("Done.")), limit(3)); out.Reason != chat.EndDone {
			t.Errorf("reason %s", out.Reason)
		}
	})
	t.Run("calls at N are not run", func(t *testing.T) {
		ran := 0
		b := newBench(t, tools{
			"count": func(ctx context.Context, c tool.Call) tool.Result { ran++; return answers("1")(ctx, c) },
		})
		closing := func(ctx context.Context, r model.Request, say func(model.Event) bool) error {
			say(model.Event{Kind: model.Call, Call: call("count", `{}`)}) // though it was told not to
			return says("What I have.")(ctx, r, say)
		}
		m := scriptedModel(one, one, closing)
		out := b.say(m, limit(2))
		if out.Reason != chat.EndLimit || ran != 1 || len(m.requests) != 3 ||
			chat.TextOf(out.Message.Parts) != "What I have." {
			t.Errorf("reason %s, ran %d, asked %d times, %+v", out.Reason, ran, len(m.requests), out.Message)
		}
		if !m.requests[2].NoCalls || len(m.requests[2].Tools) != 1 || m.requests[1].NoCalls {
			t.Errorf("the closing request is %+v", m.requests[2])
		}
		equal(t, "results", b.results(m, 2), []string{"limit: Error: limit of 2 model requests reached"})
		path := outline(b.path())
		if last := path[len(path)-1]; last != "6<5 assistant complete limit “What I have.”" {
			t.Errorf("the path ends with %s", last)
		}
		if record := b.log.Calls()[1]; record.Status != chat.CallLimit || record.Round != 2 {
			t.Errorf("record %+v", record)
		}
	})
	t.Run("0 is unlimited", func(t *testing.T) {
		b := newBench(t, tools{"count": answers("1")})
		script := slices.Repeat([]round{one}, 30)
		if out := b.say(scriptedModel(append(script, says("Done."))...), limit(0)); out.Reason != chat.EndDone {
			t.Errorf("reason %s", out.Reason)
		}
	})
}

func TestLF30ExplicitToolsWithAModelWithoutAreRefusedBeforeAnyRequest(t *testing.T) {
	m := scriptedModel(says("Hi."))
	m.info.Can.Tools = false
	b := newBench(t, tools{"count": answers("1")})
	_, err := b.try(t.Context(), m, func(r *turn.Request) { r.Explicit = true })
	if err == nil || !strings.Contains(err.Error(), "test/m cannot call tools") || len(m.requests) != 0 ||
		len(b.path()) != 0 || len(b.events) != 0 {
		t.Errorf("got %v after %d requests, with %d messages", err, len(m.requests), len(b.path()))
	}
	// Merely enabled, they are left out, and the person is told once.
	if out := b.say(m); out.Reason != chat.EndDone || len(m.requests[0].Tools) != 0 {
		t.Errorf("reason %s, sent %+v", out.Reason, m.requests[0])
	}
	if notes := b.heard(chat.EventNoted); len(notes) != 1 ||
		notes[0].Note != "The model Model M cannot call tools, so it is offered none." {
		t.Errorf("notes %+v", notes)
	}
}

func TestAModelThatRefusesToolsIsAskedAgainWithout(t *testing.T) {
	refuses := func(context.Context, model.Request, func(model.Event) bool) error {
		return &model.Error{Kind: model.NoTools, Provider: "test", Model: "m"}
	}
	b := newBench(t, tools{"count": answers("1")})
	m := scriptedModel(refuses, says("Hi."))
	if out := b.say(m); out.Reason != chat.EndDone || len(m.requests) != 2 || len(m.requests[1].Tools) != 0 ||
		len(b.heard(chat.EventNoted)) != 1 {
		t.Errorf("reason %s after %d requests", out.Reason, len(m.requests))
	}
	equal(t, "path", outline(b.path()), []string{"1<0 user complete “Hello.”", "2<1 assistant complete done “Hi.”"})
	m = scriptedModel(refuses)
	if out := b.say(m, func(r *turn.Request) { r.Explicit = true }); out.Reason != chat.EndError {
		t.Errorf("explicit: reason %s", out.Reason)
	}
}

func TestLF31ARefusalAndACancelReachTheModelAndSiblingsRun(t *testing.T) {
	b := newBench(t, tools{"a": answers("A"), "b": answers("B"), "c": func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallCancelled, Error: "not on Sundays"}
	}})
	m := scriptedModel(calls(call("a", `{}`), call("b", `{}`), call("c", `{}`)), says("Done."))
	asker := &picky{refuse: "p:a", reason: "too loud"}
	b.say(m, func(r *turn.Request) { r.Asker = asker })
	equal(t, "results", b.results(m, 1), []string{
		"refused: Cancelled: the person did not allow it: too loud", "ok: B", "cancelled: Cancelled: not on Sundays",
	})
	equal(t, "asked", asker.asked, []string{"p:a", "p:b", "p:c"})
	record := b.log.Calls()[0]
	if record.Status != chat.CallRefused || record.Decision != "deny" ||
		record.DecidedBy != "you did not allow it: too loud" || !record.Started.IsZero() || record.Ended.IsZero() {
		t.Errorf("record %+v", record)
	}
	if record := b.log.Calls()[1]; record.Decision != "allow" || record.DecidedBy != "you allowed it once" {
		t.Errorf("record %+v", record)
	}
}

// picky refuses one tool. It fails when it is asked two things at once.
type picky struct {
	refuse, reason string
	mu             sync.Mutex
	asked          []string
}

func (p *picky) Ask(_ context.Context, q gate.Request) (gate.Answer, error) {
	if !p.mu.TryLock() {
		panic("asked two things at once")
	}
	defer p.mu.Unlock()
	p.asked = append(p.asked, q.Tool)
	if q.Tool == p.refuse {
		return gate.Answer{Effect: gate.Deny, Reason: p.reason}, nil
	}
	return gate.Answer{Effect: gate.Allow, Scope: gate.Once}, nil
}

func TestLF32APausedCallHasNoResultAndResumeRunsOnlyIt(t *testing.T) {
	var pauses, siblings atomic.Int32 // they run side by side
	paused := true
	b := newBench(t, tools{
		"pause": func(ctx context.Context, c tool.Call) tool.Result {
			pauses.Add(1)
			if paused {
				return tool.Result{Status: chat.CallPaused}
			}
			return answers("resumed")(ctx, c)
		},
		"sibling": func(ctx context.Context, c tool.Call) tool.Result {
			siblings.Add(1)
			return answers("sibling")(ctx, c)
		},
	})
	m := scriptedModel(calls(call("pause", `{}`), call("sibling", `{}`)), says("Done."))
	out := b.say(m, func(r *turn.Request) { r.ID = "t1" })
	if out.Reason != chat.EndHandled || len(m.requests) != 1 {
		t.Errorf("reason %s after %d requests", out.Reason, len(m.requests))
	}
	equal(t, "path", outline(b.path()), []string{
		"1<0 user complete “Hello.”", "2<1 assistant complete →pause →sibling", "3<2 tool complete handled ←ok",
	})
	if record := b.log.Calls()[0]; record.Status != chat.CallPaused || !record.Ended.IsZero() {
		t.Errorf("record %+v", record)
	}
	paused = false
	out = b.say(m, func(r *turn.Request) { r.Text = "" })
	if out.Reason != chat.EndDone || out.Turn != "t1" || pauses.Load() != 2 || siblings.Load() != 1 {
		t.Errorf("reason %s of turn %s, ran %d and %d", out.Reason, out.Turn, pauses.Load(), siblings.Load())
	}
	equal(t, "results", b.results(m, 1), []string{"ok: resumed", "ok: sibling"})
	records := b.log.Calls()
	if len(records) != 2 || records[0].Status != chat.CallOK {
		t.Errorf("records %+v", records)
	}
	if last := outline(
		b.path(),
	); last[3] != "4<3 tool complete ←ok" ||
		last[4] != "5<4 assistant complete done “Done.”" {
		t.Errorf("path %q", last)
	}
}

func TestAPausedCallAloneEndsTheTurnWithItsMessage(t *testing.T) {
	b := newBench(t, tools{
		"pause": func(context.Context, tool.Call) tool.Result { return tool.Result{Status: chat.CallPaused} },
	})
	if out := b.say(scriptedModel(calls(call("pause", `{}`)))); out.Reason != chat.EndHandled || out.Seq != 2 {
		t.Errorf("outcome %+v", out)
	}
	equal(t, "path", outline(b.path()), []string{"1<0 user complete “Hello.”", "2<1 assistant complete handled →pause"})
}

func TestLF33ContinuingResendsCallsAndResultsInOrder(t *testing.T) {
	b := newBench(t, tools{"a": answers("A"), "b": answers("B")})
	m := scriptedModel(calls(call("a", `{"x":1}`), call("b", `{}`)), says("One."), says("Two."))
	b.say(m)
	b.say(m, func(r *turn.Request) { r.Text = "And?" })
	var sent []string
	for _, msg := range m.requests[2].Messages {
		line := string(msg.Role)
		for _, p := range msg.Parts {
			switch p.Kind {
			case chat.PartText:
				line += " " + p.Text
			case chat.PartToolCall:
				line += " →" + p.Call.ID + string(p.Call.Arguments)
			case chat.PartToolResult:
				line += " ←" + p.Result.CallID + p.Result.Text()
			}
		}
		sent = append(sent, line)
	}
	equal(t, "sent", sent, []string{
		"user Hello.", `assistant →id-1{"x":1} →id-2{}`, "tool ←id-1A ←id-2B", "assistant One.", "user And?",
	})
}

func TestLF35StopDuringACallEndsTheTurnAndCancelsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		saw := false
		b := newBench(t, tools{"hang": func(ctx context.Context, _ tool.Call) tool.Result {
			<-ctx.Done()
			saw = true
			return tool.Result{Status: chat.CallCancelled}
		}, "quick": answers("quick")})
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(2*time.Second, stop)
		began := time.Now()
		out, err := b.try(ctx, scriptedModel(calls(call("hang", `{}`), call("quick", `{}`))))
		if err != nil || out.Reason != chat.EndStopped || out.Err != nil || time.Since(began) != 2*time.Second || !saw {
			t.Errorf("got %+v, %v after %s", out, err, time.Since(began))
		}
		equal(t, "path", outline(b.path()), []string{
			"1<0 user complete “Hello.”",
			"2<1 assistant complete →hang →quick",
			"3<2 tool stopped stopped ←cancelled ←ok",
		})
		if record := b.log.Calls()[0]; record.Status != chat.CallCancelled ||
			record.Error != "Cancelled: the person stopped the answer" {
			t.Errorf("record %+v", record)
		}
		// The chat goes on from there.
		m := scriptedModel(says("Fine."))
		b.say(m, func(r *turn.Request) { r.Text = "Never mind." })
		if messages := m.requests[0].Messages; len(messages) != 4 || messages[2].Role != chat.RoleTool ||
			len(messages[2].Parts) != 2 {
			t.Errorf("sent %+v", messages)
		}
	})
}

func TestStopKeepsWhatWasSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		ctx, stop := context.WithCancel(t.Context())
		half := func(ctx context.Context, _ model.Request, say func(model.Event) bool) error {
			say(model.Event{Kind: model.Text, Text: "Half an ans"})
			say(model.Event{Kind: model.Call, Call: call("never", `{}`)})
			stop()
			<-ctx.Done()
			return context.Cause(ctx)
		}
		out, err := b.try(ctx, scriptedModel(half))
		if err != nil || out.Reason != chat.EndStopped {
			t.Errorf("got %+v, %v", out, err)
		}
		equal(t, "path", outline(b.path()), []string{
			"1<0 user complete “Hello.”", "2<1 assistant stopped stopped “Half an ans” →never",
		})
		if len(b.log.Calls()) != 0 {
			t.Error("a call of a stopped answer was made")
		}
		m := scriptedModel(says("Whole."))
		b.say(m, func(r *turn.Request) { r.Text = "Go on." })
		if answer := m.requests[0].Messages[1]; len(answer.Parts) != 1 || answer.Parts[0].Text != "Half an ans" {
			t.Errorf("sent %+v", answer)
		}
	})
}

func TestStopBeforeTheFirstWordLeavesTheQuestion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		ctx, stop := context.WithCancel(t.Context())
		silent := func(ctx context.Context, _ model.Request, _ func(model.Event) bool) error {
			stop()
			<-ctx.Done()
			return context.Cause(ctx)
		}
		if out, err := b.try(
			ctx,
			scriptedModel(silent),
		); err != nil || out.Reason != chat.EndStopped ||
			out.Message != nil ||
			out.Seq != 0 {
			t.Errorf("got %+v, %v", out, err)
		}
		equal(t, "path", outline(b.path()), []string{"1<0 user complete “Hello.”"})
	})
}

func TestStopWhileAPersonIsAskedWithdrawsTheCard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, tools{"count": answers("1")})
		defer b.gate.Questions.Attach()()
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, stop)
		out, err := b.try(ctx, scriptedModel(calls(call("count", `{}`))), func(r *turn.Request) { r.Asker = nil })
		if err != nil || out.Reason != chat.EndStopped || len(b.gate.Questions.List()) != 0 {
			t.Errorf("got %+v, %v, pending %+v", out, err, b.gate.Questions.List())
		}
		if record := b.log.Calls()[0]; record.Status != chat.CallCancelled || record.Decision != "" {
			t.Errorf("record %+v", record)
		}
	})
}

func TestLF36AndMC36ALongResultIsCutForTheModelAndWholeInTheRecord(t *testing.T) {
	long := "HEAD" + strings.Repeat("é", 100<<10) + "TAIL"
	b := newBench(t, tools{"long": answers(long)})
	m := scriptedModel(calls(call("long", `{}`)), says("Long."))
	b.say(m)
	got := strings.TrimPrefix(b.results(m, 1)[0], "ok: ")
	if len(got) > 65<<10 || !strings.HasPrefix(got, "HEAD") || !strings.HasSuffix(got, "TAIL") ||
		!strings.Contains(got, " bytes left out …]") || strings.Contains(got, "\ufffd") {
		t.Errorf("the model got %d bytes: %.20q … %.20q", len(got), got, got[len(got)-20:])
	}
	record := b.log.Calls()[0]
	var whole string
	if err := json.Unmarshal(record.Result, &whole); err != nil || whole != long || record.ResultText != got {
		t.Errorf("the record has %d bytes, %v", len(whole), err)
	}
}

func TestWhatAToolSaysToThePersonAloneIsSavedWithTheAnswer(t *testing.T) {
	b := newBench(t, tools{"tell": func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallOK, Notes: []string{"p: For your eyes."}}
	}})
	m := scriptedModel(calls(call("tell", `{}`)), says("Done."))
	b.say(m)
	path := b.path()
	if last := path[len(path)-1]; len(last.Notes) != 1 || last.Notes[0].Text != "p: For your eyes." {
		t.Errorf("the answer has the notes %+v", last.Notes)
	}
	if got := b.results(m, 1)[0]; strings.Contains(got, "eyes") {
		t.Errorf("the model gets %q", got)
	}
}

func TestHiddenCharactersOfAResultAreForTheRecordOnly(t *testing.T) {
	b := newBench(t, tools{
		"sly": answers("a\u202eb\x1b[31mc\xff"),
		"slyError": func(context.Context, tool.Call) tool.Result {
			return tool.Result{Status: chat.CallRaised, Error: "x\u200by"}
		},
	})
	m := scriptedModel(calls(call("sly", `{}`), call("slyError", `{}`)), says("Hm."))
	b.say(m)
	equal(t, "results", b.results(m, 1), []string{"ok: abc\ufffd", "raised: Error: xy"})
	if record := b.log.Calls()[0]; string(record.Result) != "\"a\u202eb\\u001b[31mc\ufffd\"" {
		t.Errorf("the record has %s", record.Result)
	}
}

func TestLF37APictureIsStoredAndSentToAModelThatSees(t *testing.T) {
	picture := func(context.Context, tool.Call) tool.Result {
		return tool.Result{Status: chat.CallOK, Content: []chat.Part{
			{Kind: chat.PartText, Text: "Here:"},
			{Kind: chat.PartMedia, Media: &chat.Media{MIME: "image/png", Name: "dot.png", Data: []byte(aPNG)}},
		}}
	}
	for _, sees := range []bool{true, false} {
		b := newBench(t, tools{"draw": picture})
		m := scriptedModel(calls(call("draw", `{}`)), says("A dot."))
		m.info.Can.Vision = sees
		b.say(m)
		last := m.requests[1].Messages[2].Parts[0].Result.Content
		if sees && (len(last) != 2 || last[1].Media == nil || string(last[1].Media.Data) != aPNG) {
			t.Errorf("a model that sees got %+v", last)
		}
		if !sees &&
			(len(last) != 2 || last[1].Text != "[file dot.png, image/png, 8 bytes: this model cannot be shown it]") {
			t.Errorf("a model that does not see got %+v", last)
		}
		record := b.log.Calls()[0]
		if len(record.Attachments) != 1 || record.Attachments[0].ID == "" || record.Attachments[0].Data != nil {
			t.Errorf("attachments %+v", record.Attachments)
		}
		if stored := b.path()[2].Parts[0].Result.Content[1]; stored.Kind != chat.PartMedia || stored.Media.Data != nil {
			t.Errorf("stored %+v", stored)
		}
	}
}

func TestAttachmentsAreStoredAndSentAsTheModelCanTakeThem(t *testing.T) {
	b := newBench(t, nil)
	m := scriptedModel(says("Nice."))
	m.info.Can.Vision = true
	b.say(m, func(r *turn.Request) {
		r.Attachments = []chat.Part{
			{Kind: chat.PartMedia, Media: &chat.Media{MIME: "image/png", Name: "a.png", Data: []byte(aPNG)}},
			{
				Kind: chat.PartMedia,
				Media: &chat.Media{
					MIME: "text/plain; charset=utf-8",
					Name: "a.txt",
					Data: []byte("größer, größer, größer\xff"),
				},
			},
			{
				Kind:  chat.PartMedia,
				Media: &chat.Media{MIME: "application/zip", Name: "a.zip", Data: []byte("PK\x03\x04\x00")},
			},
			{Kind: chat.PartMedia, Media: &chat.Media{ID: "gone", MIME: "image/png", Name: "gone.png"}},
		}
	})
	parts := m.requests[0].Messages[0].Parts
	if len(parts) != 5 || parts[0].Text != "Hello." || string(parts[1].Media.Data) != aPNG ||
		parts[2].Text != "File a.txt:\n\ngrößer, größer, größer\ufffd" ||
		parts[3].Text != "[file a.zip, application/zip, 5 bytes: this model cannot be shown it]" ||
		parts[4].Text != "[file gone.png, image/png: it is no longer there]" {
		t.Errorf("sent %+v", parts)
	}
	for _, p := range b.path()[0].Parts[1:] {
		if p.Media.Data != nil || p.Media.ID == "" {
			t.Errorf("stored %+v", p.Media)
		}
	}
}

func TestLF38ARowExistsBeforeTheFunctionIsEntered(t *testing.T) {
	var b *bench
	var before []chat.CallRecord
	b = newBench(t, tools{"look": func(ctx context.Context, c tool.Call) tool.Result {
		before = b.log.Calls()
		return answers("")(ctx, c)
	}})
	b.say(scriptedModel(calls(call("look", `{"a":1}`)), says("Done.")), func(r *turn.Request) { r.ID = "t1" })
	if len(before) != 1 {
		t.Fatalf("%d rows", len(before))
	}
	r := before[0]
	if r.Status != chat.CallRunning || r.Started.IsZero() || !r.Ended.IsZero() || r.ResponseID != 2 || r.Turn != "t1" ||
		r.Conversation != talk || r.Round != 1 ||
		r.Index != 0 || r.RequestID != "id-1" || r.Caller != "main" || r.ToolName != "look" || r.ToolID != "p:look" ||
		r.Plugin != "p" || len(r.Digest) != 64 ||
		string(r.Arguments) != `{"a":1}` || r.Decision != "allow" {
		t.Errorf("row %+v", r)
	}
	// The answer that asked for it names its record (LF-40).
	if c := b.path()[1].Parts[0].Call; c.Sequence != r.ID || c.ID != r.RequestID {
		t.Errorf("the call is %+v", c)
	}
}

func TestLF39ReturnedNullDiffersFromNoResult(t *testing.T) {
	b := newBench(t, tools{
		"null": func(context.Context, tool.Call) tool.Result {
			return tool.Result{
				Status:  chat.CallOK,
				Content: []chat.Part{{Kind: chat.PartText, Text: "null"}},
				Value:   json.RawMessage(`null`),
			}
		},
		"nothing": func(context.Context, tool.Call) tool.Result { return tool.Result{Status: chat.CallOK} },
		"typed": func(context.Context, tool.Call) tool.Result {
			return tool.Result{
				Status: chat.CallOK, Content: []chat.Part{{Kind: chat.PartText, Text: `{"a":1}`}},
				Value: json.RawMessage(`{"a":1}`),
			}
		},
		"raised": func(context.Context, tool.Call) tool.Result { return tool.Result{Status: chat.CallRaised, Error: "no"} },
	})
	m := scriptedModel(
		calls(call("null", `{}`), call("nothing", `{}`), call("typed", `{}`), call("raised", `{}`)),
		says("Done."),
	)
	b.say(m)
	equal(t, "results", b.results(m, 1), []string{"ok: null", "ok: (no output)", `ok: {"a":1}`, "raised: Error: no"})
	var got []string
	for _, r := range b.log.Calls() {
		got = append(got, fmt.Sprintf("%s %s", r.Status, r.Result))
		if r.MS < 0 || r.Ended.Before(r.Started) || r.Timestamp.Location() != time.UTC {
			t.Errorf("times of %+v", r)
		}
	}
	equal(t, "records", got, []string{"ok null", `ok ""`, `ok {"a":1}`, "raised "})
}

func TestTheSameFailureThreeTimesIsToldAndFiveTimesStopsTheTurn(t *testing.T) {
	fail := func(context.Context, tool.Call) tool.Result { return tool.Result{Status: chat.CallRaised, Error: "no"} }
	one := calls(call("fail", `{"a":1}`))
	b := newBench(t, tools{"fail": fail})
	m := scriptedModel(slices.Repeat([]round{one}, 9)...)
	out := b.say(m)
	if out.Reason != chat.EndLimit || len(m.requests) != 5 {
		t.Errorf("reason %s after %d requests", out.Reason, len(m.requests))
	}
	for n, told := range map[int]bool{1: false, 2: false, 3: true, 4: true} {
		if got := b.results(m, n)[0]; strings.Contains(
			got,
			fmt.Sprintf("failed the same way %d times running", n),
		) != told {
			t.Errorf("result %d is %q", n, got)
		}
	}
	if path := outline(b.path()); path[len(path)-1] != "11<10 tool complete limit ←raised" {
		t.Errorf("the path ends with %s", path[len(path)-1])
	}

	// Another outcome in between breaks the row, and so do other arguments.
	n := 0
	b = newBench(t, tools{"fail": func(ctx context.Context, c tool.Call) tool.Result {
		if n++; n%3 == 0 {
			return answers("yes")(ctx, c)
		}
		return fail(ctx, c)
	}})
	m = scriptedModel(append(slices.Repeat([]round{one}, 12), says("Done."))...)
	if out := b.say(m, func(r *turn.Request) { r.ChainLimit = 0 }); out.Reason != chat.EndDone {
		t.Errorf("reason %s", out.Reason)
	}
	var other []round
	for i := range 8 {
		other = append(other, calls(call("fail", fmt.Sprintf(`{"a":%d}`, i))))
	}
	b = newBench(t, tools{"fail": fail})
	if out := b.say(scriptedModel(append(other, says("Done."))...),
		func(r *turn.Request) { r.ChainLimit = 0 }); out.Reason != chat.EndDone {
		t.Errorf("reason %s", out.Reason)
	}
}

func TestAProvidersFailureKeepsWhatWasSaidAndSaysWhy(t *testing.T) {
	b := newBench(t, nil)
	cut := func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		say(model.Event{Kind: model.Text, Text: "Half"})
		return &model.Error{Kind: model.StreamCut, Provider: "test", Model: "m"}
	}
	out := b.say(scriptedModel(cut))
	if out.Reason != chat.EndError || out.Err == nil {
		t.Fatalf("outcome %+v", out)
	}
	last := b.path()[1]
	if last.State != chat.Failed || chat.TextOf(last.Parts) != "Half" || last.Error == nil ||
		last.Error.Kind != "provider" || last.Error.Message == "" || last.Reason != chat.EndError {
		t.Errorf("saved %+v", last)
	}
	if ended := b.heard(chat.EventEnded)[0]; ended.Failure == nil || ended.Failure.Message != last.Error.Message {
		t.Errorf("told %+v", ended)
	}
}

func TestAMomentaryFailureIsRetriedAndReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, nil)
		busy := func(context.Context, model.Request, func(model.Event) bool) error {
			return &model.Error{Kind: model.RateLimited, Provider: "test", RetryAfter: 3 * time.Second}
		}
		m := scriptedModel(busy, says("Hi."))
		began := time.Now()
		if out := b.say(m); out.Reason != chat.EndDone || time.Since(began) != 3*time.Second {
			t.Errorf("reason %s after %s", out.Reason, time.Since(began))
		}
		if told := b.heard(chat.EventRetrying); len(told) != 1 || !strings.HasSuffix(told[0].Note, "Trying again in 3s.") {
			t.Errorf("told %+v", told)
		}
		equal(t, "path", outline(b.path()), []string{"1<0 user complete “Hello.”", "2<1 assistant complete done “Hi.”"})
	})
}

func TestReasoningAndVendorDataAreKeptAndGoBackToTheirModelOnly(t *testing.T) {
	b := newBench(t, tools{"count": answers("1")})
	thinks := func(ctx context.Context, r model.Request, say func(model.Event) bool) error {
		say(model.Event{Kind: model.Reasoning, Text: "Let me "})
		say(model.Event{Kind: model.Reasoning, Text: "see."})
		say(
			model.Event{
				Kind: model.Vendor,
				Part: map[string]json.RawMessage{"anthropic": json.RawMessage(`{"signature":"s"}`)},
			},
		)
		say(model.Event{Kind: model.Reasoning, Text: "More."})
		return calls(call("count", `{}`))(ctx, r, say)
	}
	m := scriptedModel(thinks, says("1."))
	b.say(m)
	parts := b.path()[1].Parts
	if len(parts) != 3 || parts[0].Text != "Let me see." ||
		string(parts[0].Vendor["anthropic"]) != `{"signature":"s"}` ||
		parts[1].Text != "More." {
		t.Errorf("kept %+v", parts)
	}
	if sent := m.requests[1].Messages[1].Parts; len(sent) != 2 || sent[0].Kind != chat.PartReasoning ||
		sent[0].Vendor == nil {
		t.Errorf("sent back %+v", sent)
	}
	other := scriptedModel(says("Hi."))
	other.info.ID = "other"
	b.say(other)
	if sent := other.requests[0].Messages[1].Parts; len(sent) != 1 || sent[0].Kind != chat.PartToolCall {
		t.Errorf("another model was sent %+v", sent)
	}
}

func TestAllCardsOfABatchAreThereAtOnceAndEqualOnesAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, tools{"a": answers("A"), "b": answers("B")})
		defer b.gate.Questions.Attach()()
		m := scriptedModel(
			calls(call("a", `{"n":1}`), call("b", `{}`), call("a", `{"n":1}`), call("nope", `{}`)),
			says("Done."),
		)
		done := make(chan turn.Outcome)
		go func() { // ends with the turn
			out, _ := b.try(t.Context(), m, func(r *turn.Request) { r.Asker = nil })
			done <- out
		}()
		synctest.Wait()
		list := b.gate.Questions.List()
		if len(list) != 2 || list[0].Tool != "p:a" || list[0].Count != 2 || list[1].Tool != "p:b" {
			t.Fatalf("pending %+v", list)
		}
		if held := b.heard(chat.EventHeld); len(held) != 3 || held[0].Request != held[2].Request ||
			held[0].Request != list[0].ID || held[0].Call.RequestID != "id-1" {
			t.Errorf("held %+v", held)
		}
		must(t, b.gate.Questions.Answer(t.Context(), list[0].ID, list[0].Nonce,
			gate.Answer{Effect: gate.Allow, Scope: gate.Once}))
		time.Sleep(50 * time.Millisecond)                      // results are shown once they are on the disk
		if got := len(b.heard(chat.EventAnswered)); got != 3 { // both a and the unknown one: they wait for nobody
			t.Errorf("%d calls have ended", got)
		}
		must(t, b.gate.Questions.Answer(t.Context(), list[1].ID, list[1].Nonce, gate.Answer{Effect: gate.Deny}))
		if out := <-done; out.Reason != chat.EndDone {
			t.Errorf("reason %s", out.Reason)
		}
		equal(t, "results", b.results(m, 1), []string{
			"ok: A", "refused: Cancelled: the person did not allow it", "ok: A",
			`unknown: Error: no tool named "nope". Tools: a, b`,
		})
	})
}

func TestNobodyAnsweringIsANoAfterTenMinutes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, tools{"a": answers("A")})
		defer b.gate.Questions.Attach()()
		m := scriptedModel(calls(call("a", `{}`)), says("Done."))
		b.say(m, func(r *turn.Request) { r.Asker = nil })
		equal(t, "results", b.results(m, 1), []string{
			"refused: Cancelled: nobody answered the permission request in 10 minutes, so it was not run",
		})
		if record := b.heard(chat.EventDecided)[0].Call; !record.Expired {
			t.Errorf("the record is %+v", record)
		}
	})
}

// editor allows with other arguments.
type editor string

func (e editor) Ask(context.Context, gate.Request) (gate.Answer, error) {
	return gate.Answer{Effect: gate.Allow, Scope: gate.Once, Arguments: json.RawMessage(e)}, nil
}

func TestEditedArgumentsAreUsedRecordedAndChecked(t *testing.T) {
	var got string
	b := newBench(t, tools{"a": func(ctx context.Context, c tool.Call) tool.Result {
		got = string(c.Arguments)
		return answers("A")(ctx, c)
	}}, func(made *tool.Tool) {
		made.Parameters = json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)
	})
	b.say(
		scriptedModel(calls(call("a", `{"n":1}`)), says("Done.")),
		func(r *turn.Request) { r.Asker = editor(`{"n":2}`) },
	)
	if record := b.log.Calls()[0]; got != `{"n":2}` || string(record.Arguments) != `{"n":2}` ||
		record.DecidedBy != "you allowed it once, with edited arguments" {
		t.Errorf("called with %s, recorded %+v", got, record)
	}
	m := scriptedModel(calls(call("a", `{"n":1}`)), says("Done."))
	b.say(m, func(r *turn.Request) { r.Asker = editor(`{"n":"x"}`) })
	if got := b.results(m, 1)[0]; !strings.HasPrefix(got,
		"bad_arguments: Error: arguments do not fit a:\nn: expected integer") {
		t.Errorf("got %q", got)
	}
}

func TestTheSetIsFrozenForTheTurn(t *testing.T) {
	registry := tool.NewRegistry()
	b := newBench(t, tools{"a": answers("A")})
	registry.Publish("p", []tool.Tool{{
		Name: "a", Dialect: "spindle", Description: "Does a.",
	}}, tools{"a": func(ctx context.Context, c tool.Call) tool.Result {
		registry.Publish("p", []tool.Tool{{Name: "b"}}, tools{"b": answers("B")})
		return answers("old")(ctx, c)
	}})
	old := registry.Set()
	m := scriptedModel(calls(call("a", `{}`)), calls(call("a", `{}`), call("b", `{}`)), says("Done."))
	b.say(m, func(r *turn.Request) { r.Tools = old })
	equal(t, "results", b.results(m, 2), []string{"ok: old", `unknown: Error: no tool named "b". Tools: a`})
	if registry.Set().Generation() < 2 || len(m.requests[2].Tools) != 1 {
		t.Error("the registry did not move on, or the turn did")
	}
}

func TestRegeneratingAndEditingMakeSiblings(t *testing.T) {
	b := newBench(t, nil)
	b.say(scriptedModel(says("One.")), func(r *turn.Request) { r.Text = "Q" })
	question := chat.MessageSeq(1)
	m := scriptedModel(says("Two."))
	b.say(m, func(r *turn.Request) { r.Text, r.Parent = "", &question })
	equal(t, "path", outline(b.path()), []string{"1<0 user complete “Q”", "3<1 assistant complete done “Two.”"})
	if len(m.requests[0].Messages) != 1 {
		t.Errorf("sent %+v", m.requests[0].Messages)
	}
	first := chat.MessageSeq(0)
	m = scriptedModel(says("Three."))
	b.say(m, func(r *turn.Request) { r.Text, r.Parent = "Q2", &first })
	equal(t, "path", outline(b.path()), []string{"4<0 user complete “Q2”", "5<4 assistant complete done “Three.”"})
	if sent := m.requests[0].Messages; len(sent) != 1 || sent[0].Parts[0].Text != "Q2" {
		t.Errorf("sent %+v", sent)
	}
}

func TestAnAnswerThatWasCutOffGoesOnAsANewVersion(t *testing.T) {
	b := newBench(t, nil)
	cut := func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
		say(model.Event{Kind: model.Reasoning, Text: "Hm."})
		say(model.Event{Kind: model.Text, Text: "```\nHalf an ans"})
		say(model.Event{Kind: model.End, Stop: model.StopLength})
		return nil
	}
	asked := b.say(scriptedModel(cut), func(r *turn.Request) { r.Text = "Q" })
	b.events = nil
	m := scriptedModel(says("wer\n", "```"))
	on := func(r *turn.Request) { r.Text, r.ID, r.GoOn = "", asked.Turn, 2 }
	out := b.say(m, on)
	equal(t, "path", outline(b.path()), []string{
		"1<0 user complete “Q”", "3<1 assistant complete done reasoning “```\nHalf an answer\n```”",
	})
	if path := b.path(); out.Turn != asked.Turn || path[1].Turn != path[0].Turn || len(path[1].Parts) != 2 ||
		len(path[1].Notes) != 0 || path[1].CanGoOn() {
		t.Errorf("the answer is %+v", path[1])
	}
	sent := m.requests[0].Messages
	if len(sent) != 3 || chat.TextOf(sent[1].Parts) != "```\nHalf an ans" || sent[2].Role != chat.RoleUser {
		t.Errorf("sent %+v", sent)
	}
	var text string
	for _, e := range b.heard(chat.EventText) {
		text += e.Text
	}
	if text != "```\nHalf an answer\n```" {
		t.Errorf("the events say %q", text)
	}
	if _, err := b.try(t.Context(), m, func(r *turn.Request) { on(r); r.GoOn = 3 }); fault.KindOf(err) != fault.Invalid {
		t.Errorf("a whole answer goes on: %v", err)
	}
	failing := scriptedModel(func(context.Context, model.Request, func(model.Event) bool) error {
		return errors.New("gone")
	})
	b.say(scriptedModel(cut), func(r *turn.Request) { r.Text = "Q2" })
	last := b.path()[3]
	b.say(failing, func(r *turn.Request) { r.Text, r.ID, r.GoOn = "", last.Turn, last.Seq })
	if now := b.path()[3]; chat.TextOf(now.Parts) != "```\nHalf an ans" || !now.CanGoOn() {
		t.Errorf("after a failure it is %+v", now)
	}
}

func TestATurnThatCannotBeginSavesNothing(t *testing.T) {
	b := newBench(t, nil)
	for name, change := range map[string]func(*turn.Request){
		"no such chat":      func(r *turn.Request) { r.Conversation = "other" },
		"nothing to answer": func(r *turn.Request) { r.Text = "" },
	} {
		if out, err := b.try(t.Context(), scriptedModel(says("Hi.")), change); err == nil {
			t.Errorf("%s: %+v", name, out)
		}
	}
	if len(b.path()) != 0 || len(b.events) != 0 {
		t.Errorf("path %q, %d events", outline(b.path()), len(b.events))
	}
	b.say(scriptedModel(says("Hi.")))
	if _, err := b.try(t.Context(), scriptedModel(says("Hi.")), func(r *turn.Request) { r.Text = "" }); err == nil {
		t.Error("an answer was answered")
	}
}

func TestTitle(t *testing.T) {
	for in, want := range map[string]string{
		"Hello there":               "Hello there",
		"\n\n  # A *plan*\nmore":    "A *plan*",
		"> - `code`":                "code",
		"\u202e\u200b":              "",
		"":                          "",
		"a\tb   c":                  "a b c",
		strings.Repeat("word ", 20): strings.TrimSpace(strings.Repeat("word ", 11)) + "…",
		strings.Repeat("x", 70):     strings.Repeat("x", 59) + "…",
		strings.Repeat("é", 60):     strings.Repeat("é", 60),
	} {
		if got := turn.Title(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestAnAnswerThatNeverEndsIsStopped(t *testing.T) {
	for name, kinds := range map[string][]model.EventKind{
		"text": {model.Text}, "reasoning": {model.Reasoning}, "a new part with each letter": {model.Text, model.Reasoning},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nil)
			text := strings.Repeat("x", 1<<10)
			if len(kinds) > 1 {
				text = "x"
			}
			heard := 0
			m := scriptedModel(func(_ context.Context, _ model.Request, say func(model.Event) bool) error {
				for say(model.Event{Kind: kinds[heard%len(kinds)], Text: text}) {
					if heard++; heard > 1<<20 {
						return errors.New("nobody stopped it")
					}
				}
				return nil
			})
			out := b.say(m)
			f := fault.Of(out.Err)
			if out.Reason != chat.EndError || f == nil ||
				f.Message != "The answer was stopped after 4 MiB, the most that one answer may have. What was said "+
					"until then is kept." || f.Hint == "" {
				t.Errorf("reason %s, %v", out.Reason, out.Err)
			}
			path := b.path()
			last := path[len(path)-1]
			size := 0
			for _, p := range last.Parts {
				size += len(p.Text)
			}
			if last.State != chat.Failed || last.Error == nil ||
				last.Error.Message != "The answer was stopped after 4 MiB, the most that one answer may have. What "+
					"was said until then is kept." ||
				size != heard*len(text) {
				t.Errorf("kept: %s, %+v, %d bytes of %d", last.State, last.Error, size, heard*len(text))
			}
			if most := limit.AnswerText; size > most || len(kinds) == 1 && size != most-len(text) ||
				len(last.Parts) > most>>10 {
				t.Errorf("it was stopped after %d bytes in %d parts", size, len(last.Parts))
			}
		})
	}
}
