package deliberation_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
)

// told has steps happen a millisecond apart, and returns what is told of each.
type told struct {
	t      *testing.T
	teller deliberation.Reporter
	run    council.Run
	at     time.Time
	json   []string
	words  []string
}

// newTold begins where text returns what members said.
func newTold(t *testing.T, text func(council.Hash) string) *told {
	return &told{
		t: t, at: time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC), teller: deliberation.Reporter{Text: text},
	}
}

func (d *told) tell(e deliberation.Event) {
	for _, line := range d.teller.Report(e) {
		raw, err := json.Marshal(line)
		if err != nil {
			d.t.Fatal(err)
		}
		d.json = append(d.json, string(raw))
		if words := line.Words(); words != "" {
			d.words = append(d.words, strings.TrimSpace(line.Member+" "+words))
		}
	}
}

func (d *told) step(s council.Step) {
	d.t.Helper()
	d.at = d.at.Add(time.Second)
	s.At = d.at
	s.Number = d.run.Last.Number + 1
	if err := d.run.Apply(s); err != nil {
		d.t.Fatalf("%s %s: %v", s.Kind, s.Task, err)
	}
	d.tell(deliberation.Event{Run: d.run, Step: &s, MS: d.at.Sub(d.run.Began).Milliseconds()})
}

func (d *told) live(task string, l council.Live) {
	d.tell(deliberation.Event{Run: d.run, Task: task, Live: &l, MS: 1})
}

func (d *told) is(what string, have []string, want ...string) {
	d.t.Helper()
	if strings.Join(have, "\n") != strings.Join(want, "\n") {
		d.t.Errorf("%s:\n%s\nand not:\n%s", what, strings.Join(have, "\n"), strings.Join(want, "\n"))
	}
}

func TestTheLinesOfAToolCouncil(t *testing.T) {
	found, notes := council.HashOf([]byte("3 files")), council.HashOf([]byte("Notes"))
	texts := map[council.Hash]string{found: "3 files", notes: "Notes"}
	d := newTold(t, func(h council.Hash) string { return texts[h] })
	var c council.Council
	if err := json.Unmarshal([]byte(`{"enabled": true, "mode": "tools", "members": [
		{"name": "Ada", "tools": ["look:look"]}, {"name": "Bo", "tools": ["look:miss"]},
		{"name": "Cy", "chance": 0, "tools": ["look:look"]}]}`), &c); err != nil {
		t.Fatal(err)
	}
	d.step(council.Step{Kind: council.Begins, Begin: &council.Begin{Run: "r1", Council: c, Asks: true}})
	d.step(council.Step{Kind: council.Starts, Task: "0/ada/look:look", Attempt: 1})
	d.step(council.Step{Kind: council.Starts, Task: "0/bo/look:miss", Attempt: 1})
	d.live("0/bo/look:miss", council.Live{Phase: council.Using, Call: &chat.CallRecord{
		ID: 4, RequestID: "q1", ToolName: "look_miss", ToolID: "look:miss", Status: chat.CallRunning, Decision: "allow",
		DecidedBy: "you, once",
	}})
	d.step(council.Step{
		Kind: council.Ends, Task: "0/ada/look:look", Attempt: 1,
		End: &council.End{State: council.Done, Text: found},
	})
	d.step(council.Step{
		Kind: council.Ends, Task: "0/bo/look:miss", Attempt: 1,
		End: &council.End{
			State: council.Failed, Failure: &chat.Failure{Kind: "tool", Message: "There is no file."}, AskedMS: 1500,
		},
	})
	d.step(council.Step{Kind: council.Acts, Act: council.GoOn, By: council.Person})
	d.step(council.Step{Kind: council.Hands, Notes: notes})
	d.step(council.Step{Kind: council.Concludes, Answer: &council.Answer{Reason: chat.EndDone}})
	if len(d.json) < 12 {
		t.Fatalf("told: %s", strings.Join(d.json, "\n"))
	}
	d.is("the lines until all tools ended", d.json[:12],
		`{"type":"council","member":"","state":"started","run":"r1","mode":"tools","members":2,"calls":1}`,
		`{"type":"council","member":"Ada","state":"waiting","id":"ada"}`,
		`{"type":"council","member":"Bo","state":"waiting","id":"bo"}`,
		`{"type":"council","member":"Cy","state":"sat_out","id":"cy","text":"Cy never takes part: its chance is 0 %."}`,
		`{"type":"council","member":"Ada","state":"using","at_ms":1000,"tool":"look:look"}`,
		`{"type":"council","member":"Bo","state":"using","at_ms":2000,"tool":"look:miss"}`,
		`{"type":"permission","member":"Bo","id":"q1","at_ms":1,"tool":"look_miss","decision":"allow","why":"you, once"}`,
		`{"type":"council","member":"Ada","state":"used","at_ms":3000,"stage":1,"tool":"look:look","text":"3 files","ms":2000}`,
		`{"type":"council","member":"Ada","state":"done","id":"ada","at_ms":3000,"ms":3000,"cost":0}`,
		`{"type":"council","member":"Bo","state":"failed","at_ms":4000,"stage":1,"tool":"look:miss",`+
			`"text":"There is no file.","kind":"tool","ms":2000,"asked_ms":1500}`,
		`{"type":"council","member":"Bo","state":"failed","id":"bo","at_ms":4000,"text":"There is no file.","kind":"tool",`+
			`"ms":4000,"cost":0}`,
		`{"type":"council","member":"","state":"asking","at_ms":4000,"text":"1 of 2 tools failed.","tasks":["0/bo/look:miss"]}`,
	)
	d.is("the timeline", d.words,
		"2 members, 1 request to models, run r1", "Cy sits out: Cy never takes part: its chance is 0 %.", "Ada uses look",
		"Bo uses miss", "Ada used look: 3 files",
		"Bo miss failed (a person was asked for 1.5 s): There is no file.", "1 of 2 tools failed.", "go on", "completed",
		"answered")
}

func TestAReviewSaysWhoseItsLettersAre(t *testing.T) {
	said := "I agree with a.\n\n```council\n{\"position\":\"rain\",\"points\":[]}\n```\n"
	d := newTold(t, func(council.Hash) string { return said })
	c := council.Default()
	c.Mode = council.Review
	c.Members = []council.Member{{ID: "ada", Name: "Ada", Chance: 100}, {ID: "bo", Name: "Bo", Chance: 100}}
	for i := range c.Members {
		c.Members[i].Tools = []string{}
	}
	d.step(council.Step{Kind: council.Begins, Begin: &council.Begin{Run: "r1", Council: c, Places: true}})
	end := &council.End{State: council.Done, Text: council.HashOf([]byte(said))}
	for _, id := range []string{"0/ada/answer", "0/bo/answer", "1/ada/review"} {
		d.step(council.Step{Kind: council.Starts, Task: id, Attempt: 1})
		d.json, d.words = nil, nil
		d.step(council.Step{Kind: council.Ends, Task: id, Attempt: 1, End: end})
	}
	d.is("the lines", d.json[:1],
		`{"type":"council","member":"Ada","state":"said","at_ms":6000,"stage":2,"text":"I agree with a.","kind":"review",`+
			`"drawn":[{"letter":"a","name":"Bo"}],"ms":1000}`)
	d.is("the timeline", d.words[:1], "Ada reviewed the answers (a is Bo): I agree with a.")
}

func TestWhatAMemberSaysIsToldOnce(t *testing.T) {
	said := "It rains.\n\n```council\n{\"position\":\"rain\",\"points\":[]}\n```\n"
	d := newTold(t, func(council.Hash) string { return said })
	c := council.Default()
	c.Members = []council.Member{{ID: "ada", Name: "Ada", Chance: 100}, {ID: "bo", Name: "Bo", Chance: 100}}
	d.step(council.Step{Kind: council.Begins, Begin: &council.Begin{Run: "r1", Council: c}})
	for _, id := range []string{"0/ada/answer", "0/bo/answer"} {
		d.step(council.Step{Kind: council.Starts, Task: id, Attempt: 1})
	}
	d.json = nil
	d.live("0/ada/answer", council.Live{Phase: council.Reading})
	d.live("0/ada/answer", council.Live{Phase: council.Writing, Text: "It "})
	d.live("0/ada/answer", council.Live{Phase: council.Writing, Text: "rains."})
	end := &council.End{State: council.Done, Text: council.HashOf([]byte(said))}
	d.step(council.Step{Kind: council.Ends, Task: "0/ada/answer", Attempt: 1, End: end})
	d.step(council.Step{Kind: council.Ends, Task: "0/bo/answer", Attempt: 1, End: end})
	d.is("the lines", d.json,
		`{"type":"council","member":"Ada","state":"reading","at_ms":1,"stage":1}`,
		`{"type":"council","member":"Ada","state":"writing","at_ms":1,"stage":1,"text":"It "}`,
		`{"type":"council","member":"Ada","state":"writing","at_ms":1,"stage":1,"text":"rains."}`,
		`{"type":"council","member":"Ada","state":"said","at_ms":3000,"stage":1,"kind":"answer","ms":2000}`,
		`{"type":"council","member":"Ada","state":"done","id":"ada","at_ms":3000,"ms":3000,"cost":0}`,
		`{"type":"council","member":"Bo","state":"said","at_ms":4000,"stage":1,"text":"It rains.","kind":"answer","ms":2000}`,
		`{"type":"council","member":"Bo","state":"done","id":"bo","at_ms":4000,"ms":4000,"cost":0}`,
	)
}

func TestASummaryThatFailedIsSaid(t *testing.T) {
	d := newTold(t, nil)
	c := council.Default()
	c.Members = []council.Member{{
		ID: "ada", Name: "Ada", Chance: 100, Context: council.ContextPolicy{Span: council.Summary},
	}}
	d.step(council.Step{Kind: council.Begins, Begin: &council.Begin{Run: "r1", Council: c, Asks: true}})
	d.step(council.Step{Kind: council.Starts, Task: "0//summary", Attempt: 1})
	d.step(council.Step{Kind: council.Acts, Act: council.Skip, Member: "ada", By: council.Person})
	d.json = nil
	d.step(council.Step{
		Kind: council.Ends, Task: "0//summary", Attempt: 1,
		End: &council.End{State: council.Failed, Failure: &chat.Failure{Kind: "provider", Message: "It is down."}},
	})
	d.is("the lines", d.json,
		`{"type":"council","member":"","state":"failed","at_ms":3000,"stage":1,"text":"It is down.","kind":"provider","ms":2000}`,
		`{"type":"council","member":"","state":"asking","at_ms":3000,"text":"The summary of the chat failed.",`+
			`"tasks":["0//summary"]}`,
	)
}
