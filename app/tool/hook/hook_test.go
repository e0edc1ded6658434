package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// scripted is a source with the steps given.
type scripted struct {
	hook.None
	model  []hook.Step[model.Request]
	before []hook.Step[hook.Call]
	guards []hook.Step[hook.Call]
	after  []hook.Step[hook.Call]
	answer []hook.Step[chat.Message]
}

func (s *scripted) BeforeModel(context.Context, hook.TurnInfo) []hook.Step[model.Request] {
	return s.model
}

func (s *scripted) AfterModel(context.Context, hook.TurnInfo) []hook.Step[chat.Message] {
	return s.answer
}

func (s *scripted) BeforeTool(context.Context, hook.TurnInfo) []hook.Step[hook.Call] { return s.before }

func (s *scripted) Approve(context.Context, hook.TurnInfo) []hook.Step[hook.Call] { return s.guards }

func (s *scripted) AfterTool(context.Context, hook.TurnInfo) []hook.Step[hook.Call] { return s.after }

// says is a step of who that adds its name to the system text.
func says(who string, phase hook.Phase, priority int, order uint64) hook.Step[model.Request] {
	return hook.Step[model.Request]{
		Owner: hook.Owner{ID: who, Title: who}, Phase: phase, Priority: priority, Order: order,
		Do: func(_ context.Context, r model.Request) (hook.Verdict[model.Request], error) {
			r.System += who
			return hook.Verdict[model.Request]{Action: hook.Changed, Value: r}, nil
		},
	}
}

func on(who string, do func(c hook.Call) (hook.Verdict[hook.Call], error)) hook.Step[hook.Call] {
	return hook.Step[hook.Call]{
		Owner: hook.Owner{ID: who, Title: who},
		Do:    func(_ context.Context, c hook.Call) (hook.Verdict[hook.Call], error) { return do(c) },
	}
}

func TestAllSourcesShareOneOrder(t *testing.T) {
	p := hook.Points{Sources: []hook.Source{
		&scripted{
			model: []hook.Step[model.Request]{
				says("e", hook.Change, 50, 2), says("b", hook.Context, 9, 9), says("c", hook.Change, -1, 3),
			},
		},
		&scripted{model: []hook.Step[model.Request]{says("d", hook.Change, 50, 1), says("a", hook.Fill, 100, 100)}},
	}}
	r, trace, err := p.BeforeModel(t.Context(), model.Request{}, hook.TurnInfo{})
	if err != nil || r.System != "abcde" || len(trace) != 5 || trace[4].Owner.ID != "e" ||
		trace[4].Action != hook.Changed || trace[4].Point != hook.BeforeModel {
		t.Errorf("got %q, %+v, %v", r.System, trace, err)
	}
}

func TestAStepThatFailsChangesNothingAndSaysSoToItsOwner(t *testing.T) {
	var heard error
	bad := says("bad", hook.Change, 0, 0)
	bad.Do = func(_ context.Context, r model.Request) (hook.Verdict[model.Request], error) {
		r.System = "bad"
		return hook.Verdict[model.Request]{Action: hook.Changed, Value: r}, errors.New("it broke")
	}
	bad.Failed = func(err error) { heard = err }
	p := hook.Points{
		Sources: []hook.Source{&scripted{model: []hook.Step[model.Request]{bad, says("good", hook.Change, 1, 1)}}},
	}
	r, trace, err := p.BeforeModel(t.Context(), model.Request{}, hook.TurnInfo{})
	if err != nil || r.System != "good" || heard == nil || len(trace) != 2 || trace[0].Action != hook.Failed ||
		trace[0].Reason != "it broke" {
		t.Errorf("got %q, %+v, %v, %v", r.System, trace, heard, err)
	}
}

func TestAHookCanCallATurnOff(t *testing.T) {
	off := says("Stern", hook.Context, 0, 0)
	off.Do = func(context.Context, model.Request) (hook.Verdict[model.Request], error) {
		return hook.Verdict[model.Request]{Action: hook.Stop}, nil
	}
	p := hook.Points{
		Sources: []hook.Source{&scripted{model: []hook.Step[model.Request]{off, says("never", hook.Change, 0, 0)}}},
	}
	r, _, err := p.BeforeModel(t.Context(), model.Request{}, hook.TurnInfo{})
	if fault.KindOf(err) != fault.Canceled || !strings.Contains(err.Error(), "Stern called the answer off") ||
		r.System != "" {
		t.Errorf("got %q, %v", r.System, err)
	}
}

func TestACallIsChangedOrDeniedAndOnlyItsOwnPluginAnswersForIt(t *testing.T) {
	mine := tool.Tool{Plugin: "p", Name: "t", WireName: "t"}
	given := hook.Call{Tool: mine, Arguments: json.RawMessage(`{"n":1}`)}
	answer := func(hook.Call) (hook.Verdict[hook.Call], error) {
		return hook.Verdict[hook.Call]{Action: hook.Answer, Value: hook.Call{Result: &tool.Result{Status: chat.CallOK}}}, nil
	}
	change := func(c hook.Call) (hook.Verdict[hook.Call], error) {
		c.Arguments, c.Tool = json.RawMessage(`{"n":2}`), tool.Tool{Plugin: "other", Name: "rm"}
		return hook.Verdict[hook.Call]{Action: hook.Changed, Value: c}, nil
	}
	deny := func(hook.Call) (hook.Verdict[hook.Call], error) {
		return hook.Verdict[hook.Call]{Action: hook.Deny, Reason: "not on Sundays"}, nil
	}
	for name, c := range map[string]struct {
		steps     []hook.Step[hook.Call]
		arguments string
		refused   string
		answered  bool
	}{
		"nobody":  {nil, `{"n":1}`, "", false},
		"changed": {[]hook.Step[hook.Call]{on("h", change)}, `{"n":2}`, "", false},
		"denied after a change": {
			[]hook.Step[hook.Call]{on("h", change), on("g", deny)},
			`{"n":2}`, "Tool execution denied by hook: not on Sundays",
			false,
		},
		"answered by its own": {[]hook.Step[hook.Call]{on("p", answer), on("g", deny)}, `{"n":1}`, "", true},
		"answered by another": {
			[]hook.Step[hook.Call]{on("h", answer)}, `{"n":1}`, "h answered in place of t, which is not its tool", false,
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := hook.Points{Sources: []hook.Source{&scripted{before: c.steps}}}
			out, refused, _, err := p.BeforeTool(t.Context(), given, hook.TurnInfo{})
			if err != nil || string(out.Arguments) != c.arguments || refused != c.refused ||
				(out.Result != nil) != c.answered || out.Tool.Name != "t" {
				t.Errorf("got %s of %s, %q, %v, %v", out.Arguments, out.Tool.Name, refused, out.Result, err)
			}
		})
	}
}

func TestAttackAHookTakesNoCallPastTheGuardsThatAnotherMadeAnothersTool(t *testing.T) {
	given := hook.Call{Tool: tool.Tool{Plugin: "p", Name: "t", WireName: "t"}, Arguments: json.RawMessage(`{}`)}
	rename := func(to string) hook.Step[hook.Call] {
		return on("g", func(c hook.Call) (hook.Verdict[hook.Call], error) {
			c.Renamed = to
			return hook.Verdict[hook.Call]{Action: hook.Changed, Value: c}, nil
		})
	}
	own := on("p", func(hook.Call) (hook.Verdict[hook.Call], error) {
		return hook.Verdict[hook.Call]{Action: hook.Own}, nil
	})
	for name, c := range map[string]struct {
		steps []hook.Step[hook.Call]
		own   bool
	}{
		"its own":           {[]hook.Step[hook.Call]{own}, true},
		"with its own name": {[]hook.Step[hook.Call]{rename("t"), own}, true},
		"made another":      {[]hook.Step[hook.Call]{rename("x"), own}, false},
	} {
		p := hook.Points{Sources: []hook.Source{&scripted{before: c.steps}}}
		out, _, _, err := p.BeforeTool(t.Context(), given, hook.TurnInfo{})
		if err != nil || out.Own != c.own {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

func TestAGuardThatFailsOrChangesDeniesAndTheNextIsNotAsked(t *testing.T) {
	var asked []string
	guard := func(name string, v hook.Verdict[hook.Call], err error) hook.Step[hook.Call] {
		return on(name, func(hook.Call) (hook.Verdict[hook.Call], error) { asked = append(asked, name); return v, err })
	}
	yes := hook.Verdict[hook.Call]{}
	for name, c := range map[string]struct {
		steps   []hook.Step[hook.Call]
		refused string
		asked   []string
	}{
		"all agree": {[]hook.Step[hook.Call]{guard("a", yes, nil), guard("b", yes, nil)}, "", []string{"a", "b"}},
		"one denies": {
			[]hook.Step[hook.Call]{
				guard("a", hook.Verdict[hook.Call]{Action: hook.Deny, Reason: "no"}, nil), guard("b", yes, nil),
			},
			"Tool execution denied by approval hook: no",
			[]string{"a"},
		},
		"one fails": {
			[]hook.Step[hook.Call]{guard("a", yes, errors.New("x")), guard("b", yes, nil)},
			"Tool execution denied by approval hook: a could not say whether it may run",
			[]string{"a"},
		},
		"one changes": {
			[]hook.Step[hook.Call]{guard("a", hook.Verdict[hook.Call]{Action: hook.Changed}, nil)},
			"Tool execution denied by approval hook: a could not say whether it may run",
			[]string{"a"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			asked = nil
			p := hook.Points{Sources: []hook.Source{&scripted{guards: c.steps}}}
			refused, _, err := p.Approve(t.Context(), hook.Call{}, hook.TurnInfo{})
			if err != nil || refused != c.refused || !slices.Equal(asked, c.asked) {
				t.Errorf("got %q, %q, %v", refused, asked, err)
			}
		})
	}
}

func TestResultsAndAnswersAreChangedAndCallsAreNot(t *testing.T) {
	p := hook.Points{Sources: []hook.Source{&scripted{
		after: []hook.Step[hook.Call]{on("h", func(c hook.Call) (hook.Verdict[hook.Call], error) {
			r := *c.Result
			r.Error = "hidden"
			c.Result = &r
			return hook.Verdict[hook.Call]{Action: hook.Changed, Value: c}, nil
		})},
		answer: []hook.Step[chat.Message]{{Do: func(_ context.Context, m chat.Message) (hook.Verdict[chat.Message], error) {
			m.Parts = []chat.Part{{Kind: chat.PartText, Text: "new"}}
			return hook.Verdict[chat.Message]{Action: hook.Changed, Value: m}, nil
		}}},
	}}}
	was := tool.Result{Status: chat.CallRaised, Error: "secret"}
	if r, _, err := p.AfterTool(t.Context(), hook.Call{Result: &was}, hook.TurnInfo{}); err != nil ||
		r.Error != "hidden" ||
		was.Error != "secret" {
		t.Errorf("got %+v, %v", r, err)
	}
	m := chat.Message{Parts: []chat.Part{
		{Kind: chat.PartReasoning, Text: "hm"},
		{Kind: chat.PartText, Text: "old"},
		{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "1", Tool: "t"}},
		{Kind: chat.PartText, Text: "er"},
	}}
	got, _, err := p.AfterModel(t.Context(), m, hook.TurnInfo{})
	if err != nil || len(got.Parts) != 3 || got.Parts[1].Text != "new" || got.Parts[2].Call.ID != "1" ||
		m.Parts[1].Text != "old" {
		t.Errorf("got %+v, %v", got.Parts, err)
	}
}

func TestTheEndOfATurnEndsItsHooks(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	end := func(context.Context, model.Request) (hook.Verdict[model.Request], error) {
		cancel(stop)
		return hook.Verdict[model.Request]{}, nil
	}
	steps := []hook.Step[model.Request]{{Do: end}, says("never", hook.Change, 0, 0)}
	p := hook.Points{Sources: []hook.Source{&scripted{model: steps}}}
	if r, _, err := p.BeforeModel(ctx, model.Request{}, hook.TurnInfo{}); !errors.Is(err, stop) || r.System != "" {
		t.Errorf("got %q, %v", r.System, err)
	}
}

// BenchmarkNoHooks measures what a turn pays where nobody hooks: five points.
func BenchmarkNoHooks(b *testing.B) {
	p := &hook.Points{Sources: []hook.Source{&scripted{}}}
	c, r := hook.Call{Result: &tool.Result{}}, model.Request{}
	for b.Loop() {
		_, _, _ = p.BeforeModel(b.Context(), r, hook.TurnInfo{})
		_, _, _ = p.AfterModel(b.Context(), chat.Message{}, hook.TurnInfo{})
		_, _, _, _ = p.BeforeTool(b.Context(), c, hook.TurnInfo{})
		_, _, _ = p.Approve(b.Context(), c, hook.TurnInfo{})
		_, _, _ = p.AfterTool(b.Context(), c, hook.TurnInfo{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/1000, "µs-p50")
	b.ReportMetric(50, "budget")
}
