package store_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"
)

func ids(calls []chat.CallRecord) []uint64 {
	all := []uint64{}
	for _, c := range calls {
		all = append(all, c.ID)
	}
	return all
}

// putCall writes a record and returns its id.
func putCall(t testing.TB, s *store.Store, r chat.CallRecord) uint64 {
	t.Helper()
	r.ID = 0
	must(t, s.Calls.PutCall(t.Context(), &r))
	return r.ID
}

// fullRecord returns a record with every field set.
func fullRecord(t *testing.T) chat.CallRecord {
	t.Helper()
	at := time.Date(2026, 11, 21, 10, 0, 0, 123e6, time.UTC)
	r := chat.CallRecord{
		ResponseID: 3, Turn: "turn", Conversation: "c", Round: 2, Index: 1, RequestID: "call_9",
		Caller: "main", CallerName: "Ada",
		ToolName: "word_count", ToolID: "text:word_count", Plugin: "text", Digest: "d", Instance: "Box(n=1)",
		Arguments: json.RawMessage(`{"text":"a <b> c"}`), RawArguments: "{", Result: json.RawMessage(`{"n":3}`),
		ResultText:  "3",
		Attachments: []chat.Media{{ID: "m", MIME: "image/png", Name: "p.png", Size: 4}}, Meta: json.RawMessage(`{"a":1}`),
		Links: []chat.ResourceLink{{URI: "note://1", Title: "One", Size: 4}},
		Error: "e", ErrorType: "ValueError", Traceback: "tb", Printed: "out",
		Status: chat.CallRaised, Timestamp: at, Started: at, Ended: at.Add(time.Second), MS: 1000, Decision: "allow",
		DecidedBy: "you", Decider: "person", Expired: true,
		Hooks: []chat.HookStep{{Point: chat.HookAfterTool, Plugin: "p", Title: "P", Action: chat.HookChanged, MS: 1}},
		Path:  []chat.DecisionStep{{Number: 9, Name: "default", Effect: "ask", Why: "first"}}, Rule: "grant_1", Waited: 2,
		Origins: []chat.Origin{{Kind: chat.FromWeb, Name: "example.org"}},
		Brought: []chat.Origin{{Kind: chat.FromTool, Name: "web"}},
		Because: []string{"the hook Guard changed it"},
		Code:    "c0de", Sent: []chat.Sending{{Host: "api.example.org", Bytes: 12}},
		Undo: "u1", Changes: []chat.FileChange{{Path: "/home/ada/a.txt", What: "changed", NotKept: "larger than 64 MiB"}},
		Changed: 2, Unkept: "A folder could not be read.", Stopped: "you paused all tools",
		Mended: &chat.Mended{What: []string{"its name"}, Tool: "functions.echo", Arguments: "{}"},
	}
	v := reflect.ValueOf(r)
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "ID" && v.Field(i).IsZero() {
			t.Fatalf("the test leaves CallRecord.%s empty", name)
		}
	}
	return r
}

func TestLF39OneRowPerCallWithAllFieldsForEveryStatus(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	statuses := []chat.CallStatus{
		chat.CallOK, chat.CallRaised, chat.CallRefused, chat.CallCancelled, chat.CallUnknown, chat.CallBadArguments,
		chat.CallTimeout, chat.CallDied, chat.CallPaused, chat.CallLimit,
	}
	var want []chat.CallRecord
	for i, status := range statuses {
		r := fullRecord(t)
		r.Status = chat.CallAsked
		must(t, s.Calls.PutCall(t.Context(), &r))
		equal(t, "id", r.ID, uint64(i+1))
		r.Status = status
		must(t, s.Calls.PutCall(t.Context(), &r))
		want = append([]chat.CallRecord{r}, want...)
	}
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	got, err := s.Calls.Calls(t.Context(), chat.CallFilter{})
	must(t, err)
	equal(t, "rows", got, want)
	equal(t, "next id", putCall(t, s, chat.CallRecord{ToolName: "t"}), uint64(len(statuses)+1))
}

func TestLF39ReturnedNoneDiffersFromNoResult(t *testing.T) {
	s := storetest.Open(t)
	null := putCall(t, s, chat.CallRecord{ToolName: "t", Result: json.RawMessage("null"), Status: chat.CallOK})
	none := putCall(t, s, chat.CallRecord{ToolName: "t", Status: chat.CallRunning})
	for name, read := range map[string]func(){"in memory": func() {}, "on the disk": func() {
		must(t, s.Sync(t.Context()))
	}} {
		read()
		a, err := s.Calls.Call(t.Context(), null)
		must(t, err)
		equal(t, "a returned null, "+name, string(a.Result), "null")
		b, err := s.Calls.Call(t.Context(), none)
		must(t, err)
		if b.Result != nil || b.Arguments != nil {
			t.Errorf("nothing returned, %s: got %q and %q", name, b.Result, b.Arguments)
		}
	}
}

func TestWhatIsNoJSONIsKeptAsText(t *testing.T) {
	s := storetest.Open(t)
	id := putCall(t, s, chat.CallRecord{
		ToolName: "t", Arguments: json.RawMessage("{oops"), Result: json.RawMessage("\xff"), Status: chat.CallOK,
	})
	r, err := s.Calls.Call(t.Context(), id)
	must(t, err)
	equal(t, "arguments", string(r.Arguments)+" "+r.RawArguments, "{} {oops")
	equal(t, "result", string(r.Result)+r.ResultText, "\xff")
}

func TestCallsAreFilteredByEveryField(t *testing.T) {
	s := storetest.Open(t)
	start := time.Date(2026, 11, 20, 23, 0, 0, 0, time.UTC)
	for i := range 24 {
		r := chat.CallRecord{
			ToolName: []string{"add", "sub"}[i%2], ToolID: []string{"math:add", "math:sub"}[i%2],
			Conversation: chat.ConversationID(fmt.Sprintf("c%d", i%3)), Turn: fmt.Sprintf("t%d", i%4),
			Status:    []chat.CallStatus{chat.CallOK, chat.CallRaised, chat.CallRunning}[i%3],
			Timestamp: start.Add(time.Duration(i) * time.Hour),
		}
		putCall(t, s, r)
		if i == 15 { // the rest stays in memory
			must(t, s.Sync(t.Context()))
		}
	}
	all, err := s.Calls.Calls(t.Context(), chat.CallFilter{})
	if err != nil || len(all) != 24 {
		t.Fatalf("got %d calls, %v", len(all), err)
	}
	cases := map[string]chat.CallFilter{
		"conversation":            {Conversation: "c1"},
		"turn of a conversation":  {Conversation: "c1", Turn: "t1"},
		"turn alone":              {Turn: "t3"},
		"wire name":               {Tool: "sub"},
		"tool id":                 {Tool: "math:add"},
		"tool and conversation":   {Tool: "add", Conversation: "c2"},
		"errors":                  {Errors: true},
		"errors of a tool":        {Errors: true, Tool: "add"},
		"since":                   {Since: start.Add(5 * time.Hour)},
		"until":                   {Until: start.Add(3 * time.Hour)},
		"between":                 {Since: start.Add(2 * time.Hour), Until: start.Add(20 * time.Hour)},
		"the last 3":              {Limit: 3},
		"a page":                  {Before: 20, Limit: 7},
		"a page of errors":        {Before: 20, Limit: 2, Errors: true},
		"a page of a chat's tool": {Conversation: "c0", Tool: "sub", Limit: 2},
		"no such tool":            {Tool: "mul"},
	}
	for name, f := range cases {
		t.Run(name, func(t *testing.T) {
			want := []uint64{}
			for _, r := range all { // the rule, in the plainest words
				if f.Conversation != "" && r.Conversation != f.Conversation || f.Turn != "" && r.Turn != f.Turn ||
					f.Tool != "" && f.Tool != r.ToolName && f.Tool != r.ToolID || f.Errors && r.Status != chat.CallRaised ||
					!f.Since.IsZero() && r.Timestamp.Before(f.Since) || !f.Until.IsZero() && !r.Timestamp.Before(f.Until) ||
					f.Before != 0 && r.ID >= f.Before || f.Limit > 0 && len(want) == f.Limit {
					continue
				}
				want = append(want, r.ID)
			}
			got, err := s.Calls.Calls(t.Context(), f)
			must(t, err)
			equal(t, "ids", ids(got), want)
		})
	}
	_, err = s.Calls.Call(t.Context(), 99)
	kind(t, err, fault.NotFound)
}
