package activity_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/record/activity"
)

// detail returns what is kept of a call with these arguments.
func detail(t *testing.T, r chat.CallRecord) (activity.Entry, activity.Detail, string) {
	t.Helper()
	mask := func(text string) string { return strings.ReplaceAll(text, "open sesame", "•••") }
	e, raw, err := activity.Of(r, mask)
	if err != nil {
		t.Fatal(err)
	}
	var d activity.Detail
	if err := json.Unmarshal(raw, &d); err != nil {
		t.Fatal(err)
	}
	return e, d, string(raw)
}

func TestArgumentsAreKeptWithoutSecretsAndUpToABound(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"b":1.50,"a":"<x>"}`:                                    `{"a":"<x>","b":1.50}`,
		`{"text":"say open sesame now"}`:                          `{"text":"say ••• now"}`,
		`{"text":"say open\u0020sesame"}`:                         `{"text":"say •••"}`,
		`{"list":[{"deep":"open sesame"}],"n":12}`:                `{"list":[{"deep":"•••"}],"n":12}`,
		`{"open sesame":1}`:                                       `{"•••":1}`,
		`{"password":"p","API-Key":"k","access_token":"t"}`:       `{"API-Key":"•••","access_token":"•••","password":"•••"}`,
		`{"max_tokens":"9","tokens":5,"authorization":"x y z"}`:   `{"authorization":"•••","max_tokens":"9","tokens":5}`,
		`{"cookie":["open sesame"],"secret":{"keep":"no words"}}`: `{"cookie":["•••"],"secret":{"keep":"no words"}}`,
	} {
		_, d, raw := detail(t, chat.CallRecord{Arguments: json.RawMessage(arguments)})
		if string(d.Arguments) != want || d.Size != len(arguments) || strings.Contains(raw, "open sesame") {
			t.Errorf("of %s is kept %s", arguments, raw)
		}
	}

	most := limit.ActivityArguments
	exact := fmt.Sprintf(`{"text":"%s"}`, strings.Repeat("é", (most-len(`{"text":""}`))/2)+"x")
	if _, d, _ := detail(t, chat.CallRecord{Arguments: json.RawMessage(exact)}); len(exact) != most || d.Arguments == nil {
		t.Errorf("%d bytes are not kept whole", len(exact))
	}
	for _, more := range []int{3, 9 * most} {
		long := fmt.Sprintf(`{"text":"open sesame %s"}`, strings.Repeat("x", most-len(`{"text":"open sesame "}`)+more))
		_, d, raw := detail(t, chat.CallRecord{Arguments: json.RawMessage(long)})
		if d.Arguments != nil || len(d.Beginning) == 0 || len(d.Beginning) > most || d.Size != len(long) ||
			strings.Contains(raw, "open sesame") {
			t.Errorf("of %d bytes are kept %d and the beginning %.40q of %d", d.Size, len(d.Arguments), d.Beginning,
				len(d.Beginning))
		}
	}
}

func TestReasonsAreKeptWithoutSecretsAndOnOneLine(t *testing.T) {
	_, d, raw := detail(t, chat.CallRecord{
		DecidedBy: "you did not allow it:\nopen sesame " + strings.Repeat("x", 10_000),
		Path:      []chat.DecisionStep{{Number: 5, Effect: "ask", Why: "the hook changed it to open sesame"}},
	})
	if strings.Contains(raw, "open sesame") || len([]rune(d.Why)) != 500 || strings.Contains(d.Why, "\n") ||
		d.Path[0].Why != "the hook changed it to •••" {
		t.Errorf("kept %s", raw)
	}
}

func TestADigestOfTheOutputTellsItApartAndNotWhatItWas(t *testing.T) {
	one, d, _ := detail(t, chat.CallRecord{ResultText: "yes"})
	_, again, _ := detail(t, chat.CallRecord{ResultText: "yes"})
	if one.Output != 3 || d.Output == "" || d.Output == again.Output {
		t.Errorf("two equal outputs have the digests %s and %s", d.Output, again.Output)
	}
	if activity.Hash([]byte(d.Salt+"yes")) != d.Output {
		t.Error("who has the output cannot check it")
	}
}

func TestWhyACallWasRefusedIsToldAsItWas(t *testing.T) {
	for want, r := range map[string]chat.CallRecord{
		"Step 2, your refusals: refused, rule: Notes may not run write_note.|" +
			"It was refused by a rule of yours: Notes may not run write_note.": {
			Decision: "deny", Decider: "rule grant_1", DecidedBy: "rule: Notes may not run write_note",
			Path: []chat.DecisionStep{{
				Number: 2, Name: "your refusals", Effect: "deny", Why: "rule: Notes may not run write_note", Rule: "grant_1",
			}},
		},
		"Nothing was decided about it: its arguments did not fit.": {Status: chat.CallBadArguments},
		"It was refused by a hook: not on Sundays.": {
			Decision: "deny", Decider: "hook", DecidedBy: "not on Sundays",
		},
	} {
		e, d, _ := detail(t, r)
		if got := strings.Join(activity.Sentences(e, &d), "|"); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
