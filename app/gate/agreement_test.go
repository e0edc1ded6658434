package gate_test

import (
	"math/rand/v2"
	"testing"

	"conclave/app/gate"
	"conclave/app/tool"
)

// setup makes one step of the order decide about a call.
type setup struct {
	rule *gate.Rule
	call func(*gate.Call)
	gate func(*gate.Gate)
	mode gate.Mode
}

// able adds capabilities to those that a call has.
func able(more ...gate.Capability) func(*gate.Call) {
	return func(c *gate.Call) { c.Capabilities = append(c.Capabilities, more...) }
}

// setups has one for each step, by its number.
var setups = [...]setup{
	{gate: func(g *gate.Gate) { g.Modes.SetPaused(true) }},
	{call: func(c *gate.Call) {
		able(gate.WriteFiles)(c)
		c.Arguments = arguments("~/.ssh/id_ed25519")
	}},
	{rule: &gate.Rule{Effect: gate.Deny, Plugin: "notes", Tool: "*", Scope: gate.Always}},
	{call: func(c *gate.Call) {
		c.Tool.Description += " And more."
		c.Tool = tool.Normal(c.Tool)
	}},
	{call: func(c *gate.Call) {
		able(gate.WriteFiles)(c)
		c.Taint = fromExample
	}},
	{call: able(gate.RunPrograms)},
	{rule: &gate.Rule{Effect: gate.Ask, Plugin: "notes", Tool: "write_note", Scope: gate.Always}},
	{rule: &gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{gate.Main},
		Scope: gate.Always,
	}},
	{mode: gate.Careful, call: able(gate.ReadChat)},
	{},
}

// decides returns the step that decides about a call that all of these steps are set up for.
func decides(t *testing.T, steps ...int) (explained, decided int) {
	t.Helper()
	mode := gate.Standard
	g, c := trusted(t, gate.Options{Mode: func() gate.Mode { return mode }})
	call := request(c)
	for _, i := range steps {
		s := setups[i]
		if s.rule != nil {
			_, err := g.Rules.Add(t.Context(), *s.rule)
			must(t, err)
		}
		if s.call != nil {
			s.call(&call)
		}
		if s.gate != nil {
			s.gate(g)
		}
		if s.mode != "" {
			mode = s.mode
		}
	}
	return decisive(g, call).Number, g.Decide(t.Context(), call).Step
}

func TestEachStepDecidesBeforeEveryLaterOne(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	for i := range setups {
		later := []int{i}
		for j := i; j < len(setups); j++ {
			if j > i {
				later = append(later, j)
			}
			for _, steps := range [][]int{{i, j}, later} {
				if explained, decided := decides(t, steps...); explained != i || decided != i {
					t.Errorf("of the steps %v, %d is said to decide and %d did", steps, explained, decided)
				}
			}
		}
	}
}

// agree checks that gate, explanation and trial say the same of a call, and that a trial of a
// rule or a mode says what making it does.
func agree(t *testing.T, seed uint64) {
	t.Helper()
	r := random{rand.New(rand.NewPCG(seed, 3))}
	mode := pick(r, gate.Standard, gate.Careful)
	g, c := trusted(t, gate.Options{
		Mode:    func() gate.Mode { return mode },
		Project: projects{"chat-1": "/home/me/notes"}.of,
	})
	for range r.IntN(6) {
		_, err := g.Rules.Add(t.Context(), r.rule(pick(r, gate.Deny, gate.Ask, gate.Allow)))
		must(t, err)
	}
	call := r.call(c)
	past := []gate.Past{{Call: call}}
	explained := decisive(g, call)
	trial := gate.Trial{
		Add:  []gate.Rule{r.rule(pick(r, gate.Deny, gate.Ask, gate.Allow))},
		Mode: pick(r, gate.Standard, gate.Careful),
	}
	got, err := g.Decisions.Try(trial, past)
	must(t, err)
	if n := count(explained.Effect); got.Before != n {
		t.Errorf("seed %d: explained is %s, tried %+v", seed, explained, got.Before)
	}
	mode = trial.Mode
	_, err = g.Rules.Add(t.Context(), trial.Add[0])
	must(t, err)
	then := decisive(g, call)
	if got.After != count(then.Effect) || len(got.Changed) == 1 != (explained.Effect != then.Effect) {
		t.Errorf("seed %d: the trial said %+v, and it is %s", seed, got, then)
	}
	d := g.Decide(t.Context(), call)
	if d.Step != then.Number || then.Effect != gate.Ask && d.Effect != then.Effect ||
		then.Effect == gate.Ask && d.Effect != gate.Deny {
		t.Errorf("seed %d: explained is %s, decided %+v", seed, then, d)
	}
}

func count(e gate.Effect) gate.Outcome {
	switch e {
	case gate.Allow:
		return gate.Outcome{Allowed: 1}
	case gate.Deny:
		return gate.Outcome{Refused: 1}
	}
	return gate.Outcome{Asked: 1}
}

func TestGateExplanationAndTrialAgreeIn1000Calls(t *testing.T) {
	withoutHome(t)
	for seed := range uint64(1000) {
		agree(t, seed)
	}
}

func FuzzGateExplanationAndTrialAgree(f *testing.F) {
	f.Add(uint64(1))
	f.Fuzz(agree)
}
