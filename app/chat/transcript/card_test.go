package transcript_test

import (
	"encoding/json"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/chat/transcript"
	"conclave/app/test/testkit"
)

// A tool that reports each of a thousand steps changes its card a few times, and the card ends on the last.
func TestNotesOfProgressWaitForNewerOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		m.ask("Write it down.")
		tr := m.open(t)
		p := fresh(t, tr)
		u := begin(t, tr, m, "turn")
		r := u.propose("1", "note")
		r.Status = chat.CallRunning
		u.call(m.put(r), chat.Event{Kind: chat.EventRunning})
		before := tr.Revision()
		for n := range 1000 {
			u.call(r, chat.Event{Kind: chat.EventProgress, Note: strconv.Itoa(n + 1)})
		}
		testkit.Until(t, "the last note to be shown", func() bool {
			p.pull()
			return p.entry(2).Parts[0].Call.Progress == "1000"
		})
		if n := tr.Revision() - before; n > 3 {
			t.Errorf("1,000 notes made %d revisions", n)
		}
		u.call(r, chat.Event{Kind: chat.EventProgress, Note: "too late"})
		r.Status = chat.CallOK
		u.call(m.put(r), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{Content: said("done")}})
		u.call(r, chat.Event{Kind: chat.EventProgress, Note: "later still"})
		time.Sleep(600 * time.Millisecond)
		p.check("when a note came as the call ended")
		if c := p.entry(2).Parts[0].Call; c.State != "done" || c.Progress != "" {
			t.Errorf("a call that ended is %+v", c)
		}
	})
}

// A card says the same while its turn runs and after the chat was opened again.
func TestACardGoesThroughItsStatesAndSaysTheSameAfterReopening(t *testing.T) {
	for want, end := range map[transcript.CallState]chat.CallRecord{
		"done": {
			Status: chat.CallOK, Decision: "allow", Decider: "person", DecidedBy: "you allowed it once", ResultText: "fine",
		},
		"failed": {
			Status: chat.CallRaised, Decision: "allow", Decider: "rule 7", DecidedBy: "you always allow it",
			Error: "Error: no such file\nTraceback",
		},
		"refused": {Status: chat.CallRefused, Decision: "deny", Decider: "person", DecidedBy: "you said no"},
		"expired": {
			Status: chat.CallRefused, Decision: "deny", Decider: "nobody to ask", Expired: true,
			DecidedBy: "no answer in 10 minutes, so it was not run",
		},
		"stopped": {Status: chat.CallCancelled, Stopped: "you took back what allowed it"},
	} {
		t.Run(string(want), func(t *testing.T) {
			m := newMemory()
			m.ask("Write it down.")
			tr := m.open(t)
			p := fresh(t, tr)
			u := begin(t, tr, m, "turn")
			card := func(state transcript.CallState) *transcript.Call {
				t.Helper()
				p.check("when it is " + string(state))
				part := p.entry(2).Parts[0]
				if part.Call.State != state {
					t.Fatalf("the card is %s, want %s", part.Call.State, state)
				}
				return part.Call
			}
			u.message()
			u.call(chat.CallRecord{RequestID: "1", ToolName: "note"}, chat.Event{Kind: chat.EventAsked})
			if c := card("proposed"); c.ID != "" || c.Title != "T note" || c.Tool != "note" {
				t.Errorf("a call whose arguments come is %+v", c)
			}
			r := u.propose("1", "note")
			if c := card("proposed"); c.For != "" {
				t.Errorf("a call of the main model is %+v", c)
			}
			r.CallerName = "Ada\u202e"
			if c := card("proposed"); c.ID != "1" || c.Summary != "text: a b" || c.Tool != "p:note" || c.Plugin != "p" {
				t.Errorf("a call that was asked for is %+v", c)
			}
			u.call(r, chat.Event{Kind: chat.EventHeld, Request: "request"})
			if c := card("waiting"); c.Request != "request" {
				t.Errorf("a call that waits is %+v", c)
			}
			if want != "stopped" {
				r.Decision, r.Decider, r.DecidedBy, r.Expired = end.Decision, end.Decider, end.DecidedBy, end.Expired
				u.decided(r, "grant")
			}
			if end.Decision == "allow" {
				if c := card("running"); c.Grant != "grant" || c.Request != "" || c.ByPerson != (end.Decider == "person") {
					t.Errorf("a call that was allowed is %+v", c)
				}
				r.Status, r.Started = chat.CallRunning, time.Date(2026, 11, 22, 4, 0, 0, 0, time.UTC)
				u.call(m.put(r), chat.Event{Kind: chat.EventAsked})
				u.call(r, chat.Event{Kind: chat.EventProgress, Note: "2 of 3"})
				testkit.Until(t, "its progress to be shown", func() bool { return card("running").Progress == "2 of 3" })
				if c := card("running"); c.Started == "" || c.Grant != "grant" {
					t.Errorf("a call that runs is %+v", c)
				}
				r.MS = 1500
			}
			r.Status, r.Error, r.ResultText, r.Stopped = end.Status, end.Error, end.ResultText, end.Stopped
			u.call(m.put(r), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{Content: said("for the model")}})
			live := *card(want)
			if live.For != "Ada" {
				t.Errorf("it was called for %q", live.For)
			}
			problem := map[transcript.CallState]string{
				"failed": "no such file", "stopped": "Stopped while it ran: you took back what allowed it.",
			}[want]
			if live.Problem != problem {
				t.Errorf("its problem is %q", live.Problem)
			}
			u.results(chat.EndDone, chat.ToolResult{CallID: "1", Tool: "note", Status: r.Status})
			u.end(chat.EndDone)
			ended := *card(want)
			if !reflect.DeepEqual(ended, live) {
				t.Errorf("the card was %+v, and after the turn it is %+v", live, ended)
			}
			again := *fresh(t, m.open(t)).entry(2).Parts[0].Call
			live.Grant = "" // is kept with the rules, not with the call
			if !reflect.DeepEqual(again, live) {
				t.Errorf("the card was %+v, and after reopening it is %+v", live, again)
			}
		})
	}
}

// What a tool says of its failure is one line that hides nothing, and leaves room for the rest of the chat.
func TestAttackAnErrorDrawsOnTheCardOrFillsTheChat(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	u := begin(t, tr, m, "turn")
	u.message()
	r := u.propose("1", "note")
	r.Status = chat.CallRaised
	r.Error = "Error: \x1b[2J\rno \u202esuch\u200b file " + strings.Repeat("W", 100_000) + "\nTraceback"
	u.call(m.put(r), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{Content: said("for the model")}})
	said := fresh(t, tr).entry(2).Parts[0].Call.Problem
	if !strings.HasPrefix(said, "no such file WW") || len(said) > 1000 || strings.ContainsAny(said, "\x1b\u202e\u200b\n") {
		t.Errorf("the card says %d bytes: %.60q", len(said), said)
	}
}

func TestACallWithoutARecordIsShownAsItsResultSays(t *testing.T) {
	m := newMemory()
	m.ask("one")
	asked := func(id string) chat.Part {
		call := &chat.ToolCall{ID: id, Tool: "note", Arguments: json.RawMessage(`{}`), Raw: "not\njson"}
		return chat.Part{Kind: chat.PartToolCall, Call: call}
	}
	m.add(1, chat.Message{
		Role: chat.RoleAssistant, Turn: "turn", Parts: []chat.Part{asked("1"), asked("2"), {Kind: chat.PartText}},
		Error: &chat.Failure{Kind: "provider", Message: "It broke."},
	})
	m.add(2, chat.Message{Role: chat.RoleTool, Turn: "turn", Parts: []chat.Part{
		{Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: "1", Status: chat.CallOK}},
		{Kind: chat.PartToolResult, Result: &chat.ToolResult{CallID: "3", Status: chat.CallOK}},
	}})
	e := fresh(t, m.open(t)).entry(2)
	if len(e.Parts) != 2 || e.Parts[0].Call.State != "done" || e.Parts[1].Call.State != "stopped" ||
		e.Parts[0].Call.Summary != "not json" {
		t.Errorf("the calls are %s", encode(t, e.Parts))
	}
	if e.Error == nil || e.Error.Kind != "provider" || e.Error.Message != "It broke." {
		t.Errorf("the error is %+v", e.Error)
	}
}

// A provider that counts the calls of each request from the beginning does not get
// two calls onto one card.
func TestCallsOfTwoRequestsHaveTwoCards(t *testing.T) {
	m := newMemory()
	m.ask("one")
	tr := m.open(t)
	p := fresh(t, tr)
	u := begin(t, tr, m, "turn")
	for range 2 {
		r := u.propose("call_0", "note")
		r.Status = chat.CallOK
		u.call(m.put(r), chat.Event{Kind: chat.EventAnswered, Result: &chat.ToolResult{}})
		u.results("", chat.ToolResult{CallID: "call_0", Status: chat.CallOK})
	}
	p.check("before the end")
	if calls := p.entry(2).Parts; len(calls) != 2 || calls[0].Call.ID != "1" || calls[1].Call.ID != "2" {
		t.Errorf("the cards are %s", encode(t, calls))
	}
	u.end(chat.EndDone)
	p.check("at the end")
	reopened(t, tr, m)
}

// shown is the card of a record, as a page that opens the chat shows it.
func shown(t *testing.T, r chat.CallRecord) transcript.Call {
	t.Helper()
	m := newMemory()
	m.put(r)
	m.add(0, chat.Message{Role: chat.RoleAssistant, Turn: "turn", Parts: []chat.Part{
		{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "1", Sequence: 1}},
	}})
	return *fresh(t, m.open(t)).entry(1).Parts[0].Call
}

func TestACardSaysTheSameOfADecisionAfterReopening(t *testing.T) {
	for want, r := range map[transcript.CallState]chat.CallRecord{
		"expired": {
			Status: chat.CallRefused, Decision: "deny", Decider: "nobody to ask", Expired: true,
			DecidedBy: "no answer in 10 minutes, so it was not run",
		},
		"refused":  {Status: chat.CallRefused, Decision: "deny", Decider: "person", DecidedBy: "you said no"},
		"done":     {Status: chat.CallOK},
		"proposed": {Status: chat.CallAsked},
		"running":  {Status: chat.CallPaused},
		"stopped":  {Status: chat.CallLimit},
		"failed":   {Status: chat.CallTimeout},
	} {
		if got := shown(t, r).State; got != want {
			t.Errorf("%+v is %s, want %s", r, got, want)
		}
	}
	for name, c := range map[string]struct {
		record chat.CallRecord
		want   bool
	}{
		"a person":                {chat.CallRecord{Decider: "person", DecidedBy: "allowed in the window"}, true},
		"a rule about you":        {chat.CallRecord{Decider: "rule 7", DecidedBy: "you allowed it once, as a rule"}, false},
		"a record of before that": {chat.CallRecord{DecidedBy: "you allowed it once"}, true},
	} {
		if got := shown(t, c.record).ByPerson; got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestACardsLineIsItsArgumentsInTheOrderOfTheModel(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"text":"a\n b","times":2,"deep":{"x":[1]}}`: `text: a b, times: 2, deep: {"x":[1]}`,
		`{}`:                "",
		``:                  "",
		`[1]`:               "",
		`{"a":1,"b"`:        "a: 1",
		`{"a":1,"b":tru`:    "a: 1",
		`{"a":1,`:           "a: 1",
		`{"a":"\u200bhid"}`: "a: hid",
		`{"a":"` + strings.Repeat("é", 200) + `"}`: "a: " + strings.Repeat("é", 116) + "…",
	} {
		if got := shown(t, chat.CallRecord{Arguments: json.RawMessage(arguments)}).Summary; got != want {
			t.Errorf("%s is shown as %q, want %q", arguments, got, want)
		}
	}
	if got := showing.Sentence("état"); got != "État" {
		t.Errorf("a sentence begins %q", got)
	}
}
