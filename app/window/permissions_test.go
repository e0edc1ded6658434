package window

import (
	"context"
	"testing"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
)

// answers is an asker.
type answers func(gate.Request) gate.Answer

// Ask implements gate.Asker.
func (a answers) Ask(_ context.Context, q gate.Request) (gate.Answer, error) { return a(q), nil }

// An answer for the whole council is a tick of its own, which only a member's request offers.
func TestAnAnswerForTheWholeCouncilHasItsOwnTick(t *testing.T) {
	g, err := gate.Open(t.Context(), gate.Options{})
	must(t, err)
	notes := gate.PluginVersion{
		Plugin: "notes", Name: "Notes", Code: "c0de", Listed: true, Isolation: "process+landlock",
		Tools: []tool.Tool{tool.Normal(tool.Tool{Plugin: "notes", Name: "read", Description: "Reads."})},
	}
	g.Approvals.Status(notes)
	must(t, g.Approvals.Approve(t.Context(), notes, gate.ApproveOptions{}))
	for _, tick := range []bool{false, true} {
		var refused error
		asker := answers(func(q gate.Request) gate.Answer {
			ticked := AnswerView{Council: tick}
			a := gate.Answer{Effect: gate.Allow, Scope: gate.Always}
			err := ticked.offered(&a, q)
			if q.Caller.IsMember() {
				must(t, err)
				return a
			}
			refused = err
			return gate.Answer{Effect: gate.Deny}
		})
		call := gate.Call{
			Caller: "member:ada", CallerName: "Ada", Tool: notes.Tools[0], Capabilities: []gate.Capability{gate.ReadFiles},
			Asker: asker,
		}
		d := g.Decide(t.Context(), call)
		rule, err := g.Rules.Revoke(t.Context(), d.Rule)
		must(t, err)
		if want := map[bool]gate.Caller{false: "member:ada", true: "member:*"}[tick]; len(rule.Callers) != 1 ||
			rule.Callers[0] != want {
			t.Errorf("ticked %v, the rule is for %v", tick, rule.Callers)
		}
		call.Caller, call.CallerName = gate.Main, ""
		g.Decide(t.Context(), call)
		if (fault.KindOf(refused) == fault.Invalid) != tick {
			t.Errorf("ticked %v for the main model: %v", tick, refused)
		}
	}
}

func TestCapabilityIsSaidAsWhatTheToolDoes(t *testing.T) {
	if got := gate.Compute.Label(); got != "keeps its own files" {
		t.Errorf("a tool with a folder of its own is said to be %q", got)
	}
	if got := gate.RunPrograms.Label(); got != "run programs" {
		t.Errorf("got %q", got)
	}
}

// changing is a store whose chats change while they are listed.
type changing struct {
	Store
	bus *bus.Bus
}

func (c changing) List(context.Context, chat.ListOptions) (chat.Page, error) {
	c.bus.Changed(bus.Chats, "")
	return chat.Page{}, nil
}

func (c changing) Days(context.Context, chat.ListOptions) ([]chat.Day, error) { return nil, nil }

// A page that has a list by an older revision pulls again; by a newer one it would miss a change.
func TestAListIsOfTheRevisionBeforeItWasRead(t *testing.T) {
	b := bus.New()
	gate, err := gate.Open(t.Context(), gate.Options{Now: func() time.Time {
		b.Changed(bus.Permissions, "") // while the rules are read
		return time.Now()
	}})
	must(t, err)
	calls := &lifecycle{}
	calls.begin(t.Context())
	core := Core{Bus: b, Gate: gate, Elicit: elicit.New(b), Store: changing{bus: b}}
	before := b.Changed(bus.Chats, "")
	chats, err := newChats(calls, core, nil, nil).List(ChatQuery{}, 0, 50)
	if err != nil || chats.Revision != before {
		t.Errorf("the chats are of revision %d, want %d, %v", chats.Revision, before, err)
	}
	before = b.Changed(bus.Permissions, "")
	rules, err := (&Permissions{lifecycle: calls, core: core}).Rules()
	if err != nil || rules.Revision != before {
		t.Errorf("the rules are of revision %d, want %d, %v", rules.Revision, before, err)
	}
}
