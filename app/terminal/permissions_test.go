package terminal

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/view"
)

// rulesOf is a gate's store with rules, and nothing else.
type rulesOf []gate.Rule

func (s rulesOf) Rules(context.Context) ([]gate.Rule, error)         { return s, nil }
func (s rulesOf) PutRule(context.Context, gate.Rule) error           { return nil }
func (s rulesOf) DeleteRule(context.Context, string) error           { return nil }
func (s rulesOf) Approvals(context.Context) ([]gate.Approval, error) { return nil, nil }
func (s rulesOf) PutApproval(context.Context, gate.Approval) error   { return nil }
func (s rulesOf) DeleteApproval(context.Context, string) error       { return nil }
func (s rulesOf) Uses(context.Context) (map[string]gate.Use, error)  { return nil, nil }
func (s rulesOf) PutUses(context.Context, map[string]gate.Use) error { return nil }
func (s rulesOf) ForgetRequests(context.Context) error               { return nil }

func TestARuleThatCannotBeReadIsListedAsOne(t *testing.T) {
	later := gate.Match{Field: "path", Op: "of-a-later-version", Value: "x"}
	kept := rulesOf{
		{ID: "1", Effect: gate.Allow, Scope: gate.Always, Match: []gate.Match{later}},
		{ID: "2", Effect: gate.Deny, Scope: gate.Always, Match: []gate.Match{later}},
		{ID: "3", Effect: gate.Allow, Scope: gate.Always},
	}
	for i := range kept {
		kept[i].Plugin, kept[i].Tool, kept[i].Made = "notes", "save", time.Now()
	}
	g, err := gate.Open(t.Context(), gate.Options{Store: kept})
	must(t, err)
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	for _, r := range rules {
		row, want := view.NewRule(r, "Notes", time.Now()), map[string]string{
			"1": " (it cannot be read, so it allows nothing)",
			"2": " (its conditions cannot be read, so it always applies)",
		}[r.ID]
		if !strings.HasSuffix(ruleWords(row), want) || row.Unreadable != (want != "") {
			t.Errorf("%s: %s", r.ID, ruleWords(row))
		}
		text, err := json.Marshal(row)
		must(t, err)
		if strings.Contains(string(text), `"unreadable":true`) != row.Unreadable {
			t.Errorf("%s: %s", r.ID, text)
		}
	}
}

func TestNeverIsOfWhatTheQuestionIsAbout(t *testing.T) {
	for fixed, want := range map[bool]string{false: "[v] never for this tool", true: "[v] never allow this"} {
		all := Answers(gate.Request{Kind: gate.KindCall, Fixed: fixed})
		if got := all[len(all)-1]; got != want {
			t.Errorf("fixed %v: %s", fixed, got)
		}
	}
}

// deleted has no call: its chat was deleted for good.
type deleted struct{ Chats }

func (deleted) Call(context.Context, uint64) (chat.CallRecord, error) {
	return chat.CallRecord{}, fault.New(fault.NotFound, "store.call", "There is no record of a call 7.", "")
}

// one is a record of activity with one entry, or none.
type one struct {
	activity.Log
	entry string
}

func (o one) ActivityOf(_ context.Context, _ uint64) (activity.Row, error) {
	if o.entry == "" {
		return activity.Row{}, fault.New(fault.NotFound, "store.activity_of", "There is no call 7.", "")
	}
	return activity.Row{Entry: json.RawMessage(o.entry)}, nil
}

func TestACallOfAChatThatIsGoneIsExplainedFromTheRecord(t *testing.T) {
	var out strings.Builder
	c := permissionCommands{newTerminal(&Session{Out: &out}, nil)}
	entry := `{"n":3,"kind":"call","call":7,"caller":"main","tool":"pad:note","effect":"allow","by":"person","outcome":"ok"}`
	must(t, c.explain(t.Context(), &App{Chats: deleted{}, Activity: one{entry: entry}}, []string{"7"}))
	want := "pad:note, called by main: allow (person)\n  How it was decided was deleted with its chat.\n" +
		"  It was allowed by you.\n"
	if out.String() != want {
		t.Errorf("got %q", out.String())
	}
	err := c.explain(t.Context(), &App{Chats: deleted{}, Activity: one{}}, []string{"7"})
	if fault.KindOf(err) != fault.NotFound {
		t.Errorf("of a call that never was: %v", err)
	}
}
