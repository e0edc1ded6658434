package turn

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"
)

// beside changes every prompt, and remembers what it heard.
type beside struct {
	hook.None
	off   bool // it calls the answer off
	asked int
	about hook.TurnInfo
	heard []chat.EventKind
	words string // what it makes of answers; empty leaves them
}

func (b *beside) BeforeModel(_ context.Context, info hook.TurnInfo) []hook.Step[model.Request] {
	return []hook.Step[model.Request]{{
		Owner: hook.Owner{ID: "sample", Title: "Sample"},
		Do: func(_ context.Context, r model.Request) (hook.Verdict[model.Request], error) {
			b.asked++
			b.about = info
			if b.off {
				return hook.Verdict[model.Request]{Action: hook.Stop}, nil
			}
			r.System = "changed"
			r.Messages = append([]model.Message{
				{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("first")}},
				{Role: chat.RoleAssistant, Parts: []chat.Part{chat.TextPart("ok")}},
			}, r.Messages...)
			return hook.Verdict[model.Request]{Action: hook.Changed, Value: r, Notes: []string{"It was changed."}}, nil
		},
	}}
}

func (b *beside) AfterModel(context.Context, hook.TurnInfo) []hook.Step[chat.Message] {
	return []hook.Step[chat.Message]{{
		Owner: hook.Owner{ID: "sample", Title: "Sample"},
		Do: func(_ context.Context, m chat.Message) (hook.Verdict[chat.Message], error) {
			if b.words == "" {
				return hook.Verdict[chat.Message]{}, nil
			}
			m.Parts = []chat.Part{chat.TextPart(b.words)}
			return hook.Verdict[chat.Message]{Action: hook.Changed, Value: m, Notes: []string{"Sample changed the answer."}}, nil
		},
	}}
}

func (b *beside) hear(e chat.Event) { b.heard = append(b.heard, e.Kind) }

// with are the options that have b beside every turn.
func (b *beside) with(log Log) Options {
	return Options{Log: log, Calls: calling(log), Points: &hook.Points{Sources: []hook.Source{b}}, OnEvent: b.hear}
}

// calling makes calls that are all allowed.
func calling(log Log) *call.Runner { return call.New(call.Options{Gate: yes{}, Log: log}) }

// yes releases every call.
type yes struct{}

func (yes) Decide(context.Context, gate.Call) gate.Decision {
	return gate.Decision{Effect: gate.Allow}
}

func (yes) Begin(
	_ context.Context, _ gate.Call, d gate.Decision, _ func(gate.Decision),
) (gate.Decision, func()) {
	return d, func() {}
}
func (yes) TurnEnded(string) {}

// echoes is an invoker that answers with a word.
type echoes struct{}

func (echoes) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("echo")}}, nil
}

func TestHooksAreAskedOnceAndWhatTheyChangedStays(t *testing.T) {
	log := NewMemoryLog(chat.Conversation{ID: "c", System: "rules"})
	hooks := &beside{}
	registry := tool.NewRegistry()
	registry.Publish("p",
		[]tool.Tool{tool.Normal(tool.Tool{Plugin: "p", Name: "t", Parameters: []byte(`{"type":"object"}`)})}, echoes{})
	model := modeltest.New([]modeltest.Step{modeltest.Call("c1", "t", `{}`)}, []modeltest.Step{modeltest.Say("done")})
	var notes []string
	outcome, err := New(hooks.with(log)).Run(t.Context(), Request{
		Conversation: "c", Text: "hi", Model: model, Tools: registry.Set(),
	}, func(e chat.Event) {
		if e.Kind == chat.EventNoted {
			notes = append(notes, e.Note)
		}
	})
	if err != nil || outcome.Reason != chat.EndDone || hooks.asked != 1 || hooks.about.Kind != "normal" ||
		strings.Join(notes, "") != "It was changed." {
		t.Fatalf("it ended %+v, %v, asked %d times, notes %q", outcome, err, hooks.asked, notes)
	}
	requests := model.Requests()
	if len(requests) != 2 {
		t.Fatalf("%d requests", len(requests))
	}
	for i, want := range []string{"user:first assistant:ok user:hi", "user:first assistant:ok user:hi assistant: tool:"} {
		var got []string
		for _, m := range requests[i].Messages {
			got = append(got, string(m.Role)+":"+chat.TextOf(m.Parts))
		}
		if strings.Join(got, " ") != want || requests[i].System != "changed" {
			t.Errorf("request %d was %q under %q", i, got, requests[i].System)
		}
	}
	if n := len(hooks.heard); n == 0 || hooks.heard[0] != chat.EventStarted || hooks.heard[n-1] != chat.EventEnded {
		t.Errorf("heard %v", hooks.heard)
	}
}

// abouts remembers what the hooks of requests and of calls were told they run for.
type abouts struct {
	hook.None
	model, tool []hook.TurnInfo
}

func (a *abouts) BeforeModel(_ context.Context, info hook.TurnInfo) []hook.Step[model.Request] {
	a.model = append(a.model, info)
	return nil
}

func (a *abouts) BeforeTool(_ context.Context, info hook.TurnInfo) []hook.Step[hook.Call] {
	a.tool = append(a.tool, info)
	return nil
}

func TestHooksOfRequestsAndOfCallsGetTheSameFactsOfTheirTurn(t *testing.T) {
	log := NewMemoryLog(chat.Conversation{ID: "c"})
	registry := tool.NewRegistry()
	registry.Publish("p",
		[]tool.Tool{tool.Normal(tool.Tool{Plugin: "p", Name: "t", Parameters: []byte(`{"type":"object"}`)})}, echoes{})
	for _, m := range []chat.Message{
		{
			Conversation: "c", Turn: "earlier", Role: chat.RoleUser, State: chat.Complete,
			Parts: []chat.Part{chat.TextPart("hi")},
		},
		{Conversation: "c", Turn: "earlier", Role: chat.RoleAssistant, State: chat.Complete, Parts: []chat.Part{
			{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "c1", Tool: "t", Arguments: []byte(`{}`)}},
		}},
	} {
		if err := log.Append(t.Context(), &m); err != nil {
			t.Fatal(err)
		}
	}
	hooks := &abouts{}
	points := &hook.Points{Sources: []hook.Source{hooks}}
	r := New(Options{Log: log, Calls: call.New(call.Options{Gate: yes{}, Log: log, Points: points}), Points: points})
	model := modeltest.New([]modeltest.Step{modeltest.Call("c2", "t", `{}`)}, []modeltest.Step{modeltest.Say("done")})
	if outcome, err := r.Run(t.Context(), Request{Conversation: "c", Model: model, Tools: registry.Set()},
		nil); err != nil || outcome.Reason != chat.EndDone {
		t.Fatalf("it ended %+v, %v", outcome, err)
	}
	want := hook.TurnInfo{
		Turn: "earlier", Conversation: "c", Model: model.Info().Name(), Kind: "continue", Caller: gate.Main,
	}
	if all := append(hooks.model, hooks.tool...); len(hooks.tool) != 2 ||
		slices.ContainsFunc(all, func(a hook.TurnInfo) bool { a.Round = 0; return a != want }) {
		t.Errorf("requests were told %+v, calls %+v; want %+v", hooks.model, hooks.tool, want)
	}
	for _, c := range log.Calls() {
		if c.Turn != "earlier" {
			t.Errorf("%s is on record in the turn %q", c.RequestID, c.Turn)
		}
	}
}

func TestHooksThatCallTheAnswerOffEndTheTurnWithTheirSentence(t *testing.T) {
	log := NewMemoryLog(chat.Conversation{ID: "c"})
	hooks := &beside{off: true}
	model := modeltest.New()
	temporary := NewMemoryLog(chat.Conversation{ID: "c"})
	outcome, err := New(hooks.with(log)).Run(t.Context(),
		Request{Conversation: "c", Text: "hi", Model: model, Log: temporary}, nil)
	if err != nil || outcome.Err == nil || fault.Of(outcome.Err).Message != "Sample called the answer off." ||
		len(model.Requests()) != 0 {
		t.Errorf("it ended %+v, %v", outcome, err)
	}
	if len(hooks.heard) != 0 {
		t.Errorf("a chat that is not kept was told of: %v", hooks.heard)
	}
}

func TestWhatHooksMakeOfAnAnswerIsKeptAndItsCallsStay(t *testing.T) {
	log := NewMemoryLog(chat.Conversation{ID: "c"})
	hooks := &beside{words: "in other words"}
	registry := tool.NewRegistry()
	registry.Publish("p",
		[]tool.Tool{tool.Normal(tool.Tool{Plugin: "p", Name: "t", Parameters: []byte(`{"type":"object"}`)})}, echoes{})
	model := modeltest.New([]modeltest.Step{modeltest.Say("calling"), modeltest.Call("c1", "t", `{}`)},
		[]modeltest.Step{modeltest.Say("done")})
	outcome, err := New(hooks.with(log)).Run(t.Context(),
		Request{Conversation: "c", Text: "hi", Model: model, Tools: registry.Set()}, nil)
	if err != nil || outcome.Reason != chat.EndDone {
		t.Fatalf("it ended %+v, %v", outcome, err)
	}
	path, err := log.Path(t.Context(), "c")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range path {
		line := string(m.Role) + ":" + chat.TextOf(m.Parts)
		if n := len(callsOf(&m)); n > 0 {
			line += fmt.Sprintf("+%d call", n)
		}
		got = append(got, line)
	}
	if want := "user:hi assistant:in other words+1 call tool: assistant:in other words"; strings.Join(got, " ") != want {
		t.Errorf("kept %q, want %q", strings.Join(got, " "), want)
	}
}
