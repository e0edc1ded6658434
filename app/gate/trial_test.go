package gate_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/tool"
)

// onRecord is a record of activity of one page.
type onRecord struct {
	activity.Log
	rows []activity.Row
}

func (r onRecord) Activity(context.Context, activity.Filter) ([]activity.Row, error) {
	return r.rows, nil
}

func TestACallWhoseArgumentsAreNotOnRecordIsNotTried(t *testing.T) {
	now := time.Now()
	mask := func(s string) string { return s }
	var log onRecord
	add := func(text string, mask func(string) string) {
		e, detail, err := activity.Of(chat.CallRecord{
			ID: uint64(len(log.rows) + 1), Ended: now, ToolID: "notes:write_note", Decision: "allow", Caller: "main",
			Arguments: json.RawMessage(`{"text":"` + text + `"}`),
		}, mask)
		must(t, err)
		written, err := activity.Encode(e)
		must(t, err)
		log.rows = append(log.rows, activity.Row{Entry: written, Detail: detail})
	}
	add("short", mask)
	add(strings.Repeat("x", limit.ActivityArguments), mask)
	add("of a call that was running when Conclave was ended", nil)
	past, err := gate.PastCalls(t.Context(), log, now, func(string) (tool.Tool, bool) { return notes().Tools[0], true })
	must(t, err)
	if len(past) != 3 || past[0].Unknown || !past[1].Unknown || !past[2].Unknown {
		t.Errorf("read %+v", past)
	}
}

// What hooks made of a call is on record, so that it is asked about under the trial too.
func TestACallThatHooksChangedIsTriedAsOne(t *testing.T) {
	now := time.Now()
	g, c := trusted(t, gate.Options{})
	past := func(because ...string) []gate.Past {
		e, detail, err := activity.Of(chat.CallRecord{
			ID: 1, Ended: now, ToolID: "notes:write_note", Decision: "allow", Caller: "main", Because: because,
			Arguments: json.RawMessage(`{"text":"a"}`),
		}, func(s string) string { return strings.ReplaceAll(s, "secret", "***") })
		must(t, err)
		written, err := activity.Encode(e)
		must(t, err)
		read, err := gate.PastCalls(t.Context(), onRecord{rows: []activity.Row{{Entry: written, Detail: detail}}}, now,
			func(string) (tool.Tool, bool) { return c.Tools[0], true })
		must(t, err)
		return read
	}
	trial := gate.Trial{Add: []gate.Rule{{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Scope: gate.Always,
		Callers: []gate.Caller{gate.Main},
	}}}
	got, err := g.Decisions.Try(trial, past())
	must(t, err)
	if got.After.Allowed != 1 {
		t.Errorf("one that no hook changed: %+v", got)
	}
	hooked := past("the hook Guard changed it", "it has a secret")
	if got, err = g.Decisions.Try(trial, hooked); err != nil || got.After.Asked != 1 || len(got.Changed) != 0 {
		t.Errorf("one that a hook changed: %+v, %v", got, err)
	}
	if why := decisive(g, hooked[0].Call).Why; why != "the hook Guard changed it; and it has a ***" {
		t.Errorf("it would be asked about because %s", why)
	}
}

func TestATrialOfCallsThatCannotBeTriedSaysSoAlone(t *testing.T) {
	for unknown, want := range []string{
		"No call of the last 7 days is on record to try it on.",
		"The one call in the last 7 days could not be tried: what it was asked with is not on record, or not whole.",
		"None of the 2 calls in the last 7 days could be tried: what they were asked with is not on record, or not whole.",
	} {
		if got := (gate.Trialed{Unknown: unknown}).Sentence(); got != want {
			t.Errorf("of %d: %q", unknown, got)
		}
	}
}
