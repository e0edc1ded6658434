package gate_test

import (
	"fmt"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
)

// severity orders what may become of a call, the mildest first.
var severity = map[gate.Effect]int{gate.Allow: 0, gate.Ask: 1, gate.Deny: 2}

func TestAMemberIsAskedAtLeastWheneverTheMainModelWouldBe(t *testing.T) {
	page := []chat.Origin{chat.NewOrigin(chat.FromWeb, "example.org")}
	sets := [][]gate.Capability{nil}
	for i, one := range gate.Capabilities {
		sets = append(sets, []gate.Capability{one})
		for _, other := range gate.Capabilities[i+1:] {
			sets = append(sets, []gate.Capability{one, other})
		}
	}
	for _, mode := range []gate.Mode{gate.Standard, gate.Careful} {
		for _, away := range []bool{false, true} {
			for _, rule := range []gate.Effect{"", gate.Allow, gate.Ask, gate.Deny} {
				g, c := trusted(t, gate.Options{Mode: func() gate.Mode { return mode }})
				if away {
					must(t, g.Modes.StartUnattended(15*time.Minute, 100, 1))
				}
				if rule != "" {
					_, err := g.Rules.Add(t.Context(), gate.Rule{
						Effect: rule, Plugin: "notes", Tool: "write_note", Scope: gate.Always,
						Callers: []gate.Caller{gate.Main, gate.AnyMember},
					})
					must(t, err)
				}
				for _, can := range sets {
					for _, taint := range [][]chat.Origin{nil, page} {
						r := request(c)
						r.Capabilities, r.Taint = can, taint
						main := decisive(g, r)
						r.Caller = "member:sceptic"
						if member := decisive(g, r); severity[member.Effect] < severity[main.Effect] {
							t.Errorf("%s, away %v, rule %q, %v, %v: the main model's is %s, a member's %s",
								mode, away, rule, can, taint, main, member)
						}
					}
				}
			}
		}
	}
}

// A default, a member's use by it, a person's own hand and --approve always allow calls too; the card
// counts only what a person said.
func TestTheCardCountsOnlyWhatAPersonAllowed(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	last := func() string {
		a := &asker{answer: gate.Answer{Effect: gate.Deny}}
		r := request(c)
		r.Asker = a
		g.Decide(t.Context(), r)
		return a.asked[0].History
	}
	for _, one := range []struct {
		by   gate.Caller
		from gate.Asker
	}{{gate.Person, nil}, {gate.Main, gate.AlwaysAsker{}}, {"member:sceptic", gate.AlwaysAsker{}}} {
		r := request(c)
		r.Caller, r.Asker = one.by, one.from
		if d := g.Decide(t.Context(), r); d.Effect != gate.Allow {
			t.Errorf("%s with %T is decided %+v", one.by, one.from, d)
		}
		if got := last(); got != "Not allowed before." {
			t.Errorf("after a call of %s with %T the card says %q", one.by, one.from, got)
		}
	}
	for i, want := range []string{"Allowed once", "Allowed 2 times"} {
		r := request(c)
		r.Caller = "member:sceptic"
		r.Asker = &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
		g.Decide(t.Context(), r)
		if got := last(); got[:len(want)] != want {
			t.Errorf("after %s the card says %q", fmt.Sprint(i+1, " yes of a person"), got)
		}
	}
}

// A hook's answer in place of a tool is no call of that tool: a person reads who would answer, and
// what, before it counts.
func TestAttackApproveAlwaysPassesAHooksAnswer(t *testing.T) {
	g, c := trusted(t, gate.Options{})
	r := request(c)
	r.Instead, r.Asker = "exec", gate.AlwaysAsker{}
	d := g.Decide(t.Context(), r)
	if d.Effect != gate.Deny ||
		d.Why != "--approve always speaks for calls; this is an answer in place of exec" {
		t.Errorf("with --approve always it is %+v", d)
	}
	a := &asker{answer: gate.Answer{Effect: gate.Allow, Scope: gate.Once}}
	r.Asker = a
	if d := g.Decide(t.Context(), r); d.Effect != gate.Allow || len(a.asked) != 1 ||
		a.asked[0].Reason != "Asked because: it would answer for exec, which is not its tool." {
		t.Errorf("a person is asked %+v, and it is %+v", a.asked, d)
	}
}
