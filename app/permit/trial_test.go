package permit_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/app/activity"
	"conclave/app/chat"
	"conclave/app/limit"
	"conclave/app/permit"
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
	add(strings.Repeat("x", limit.ActivityArguments.Int()), mask)
	add("of a call that was running when Conclave was ended", nil)
	past, err := permit.PastCalls(t.Context(), log, now, func(string) (tool.Tool, bool) { return notes().Tools[0], true })
	must(t, err)
	if len(past) != 3 || past[0].Unknown || !past[1].Unknown || !past[2].Unknown {
		t.Errorf("read %+v", past)
	}
}

func TestATrialOfCallsThatCannotBeTriedSaysSoAlone(t *testing.T) {
	for unknown, want := range []string{
		"No call of the last 7 days is on record to try it on.",
		"The one call in the last 7 days could not be tried: what it was asked with is not on record, or not whole.",
		"None of the 2 calls in the last 7 days could be tried: what they were asked with is not on record, or not whole.",
	} {
		if got := (permit.Trialed{Unknown: unknown}).Sentence(); got != want {
			t.Errorf("of %d: %q", unknown, got)
		}
	}
}
