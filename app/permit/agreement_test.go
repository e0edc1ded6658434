package permit_test

import (
	"math/rand/v2"
	"testing"

	"conclave/app/permit"
	"conclave/app/tool"
)

// setup makes one step of the order decide about a call.
type setup struct {
	rule *permit.Rule
	call func(*permit.Call)
	gate func(*permit.Gate)
	mode permit.Mode
}

// able adds capabilities to those that a call has.
func able(more ...permit.Capability) func(*permit.Call) {
	return func(c *permit.Call) { c.Capabilities = append(c.Capabilities, more...) }
}

// setups has one for each step, by its number.
var setups = [...]setup{
	{gate: func(g *permit.Gate) { g.Modes.SetPaused(true) }},
	{call: func(c *permit.Call) {
		able(permit.WriteFiles)(c)
		c.Arguments = arguments("~/.ssh/id_ed25519")
	}},
	{rule: &permit.Rule{Effect: permit.Deny, Plugin: "notes", Tool: "*", Scope: permit.Always}},
	{call: func(c *permit.Call) {
		c.Tool.Description += " And more."
		c.Tool = tool.Normal(c.Tool)
	}},
	{call: func(c *permit.Call) {
		able(permit.WriteFiles)(c)
		c.Taint = fromExample
	}},
	{call: able(permit.RunPrograms)},
	{rule: &permit.Rule{Effect: permit.Ask, Plugin: "notes", Tool: "write_note", Scope: permit.Always}},
	{rule: &permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "write_note", Callers: []permit.Caller{permit.Main},
		Scope: permit.Always,
	}},
	{mode: permit.Careful, call: able(permit.ReadChat)},
	{},
}

// decides returns the step that decides about a call that all of these steps are set up for.
func decides(t *testing.T, steps ...int) (explained, decided int) {
	t.Helper()
	mode := permit.Standard
	g, c := trusted(t, permit.Options{Mode: func() permit.Mode { return mode }})
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
	mode := pick(r, permit.Standard, permit.Careful)
	g, c := trusted(t, permit.Options{
		Mode:    func() permit.Mode { return mode },
		Project: projects{"chat-1": "/home/me/notes"}.of,
	})
	for range r.IntN(6) {
		_, err := g.Rules.Add(t.Context(), r.rule(pick(r, permit.Deny, permit.Ask, permit.Allow)))
		must(t, err)
	}
	call := r.call(c)
	past := []permit.Past{{Call: call}}
	explained := decisive(g, call)
	trial := permit.Trial{
		Add:  []permit.Rule{r.rule(pick(r, permit.Deny, permit.Ask, permit.Allow))},
		Mode: pick(r, permit.Standard, permit.Careful),
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
	if d.Step != then.Number || then.Effect != permit.Ask && d.Effect != then.Effect ||
		then.Effect == permit.Ask && d.Effect != permit.Deny {
		t.Errorf("seed %d: explained is %s, decided %+v", seed, then, d)
	}
}

func count(e permit.Effect) permit.Outcome {
	switch e {
	case permit.Allow:
		return permit.Outcome{Allowed: 1}
	case permit.Deny:
		return permit.Outcome{Refused: 1}
	}
	return permit.Outcome{Asked: 1}
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
