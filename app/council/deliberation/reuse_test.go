package deliberation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/council"
)

// keepRun runs a council of mode tools with given results by task, and keeps it in log:
// tasks without one fail. begin says what differs from a first answer.
func keepRun(t *testing.T, log council.Log, b council.Begin, at time.Time, results map[string]string) council.Run {
	t.Helper()
	var r council.Run
	var steps []council.Step
	texts := map[council.Hash][]byte{}
	step := func(s council.Step) {
		t.Helper()
		s.At = at
		s.Number = r.Last.Number + 1
		if err := r.Apply(s); err != nil {
			t.Fatalf("%+v: %v", s, err)
		}
		steps = append(steps, s)
	}
	step(council.Step{Kind: council.Begins, Begin: &b})
	for next := r.Next(); len(next.Start) > 0; next = r.Next() {
		for _, id := range next.Start {
			step(council.Step{Kind: council.Starts, Task: id, Attempt: 1})
			work := failedWork("raised", "It broke.", "")
			if results[id] != "" {
				work = doneWork(results[id])
			}
			for h, text := range work.Texts {
				texts[h] = text
			}
			work.End.Usage = chat.Usage{Input: 5}
			step(council.Step{Kind: council.Ends, Task: id, Attempt: 1, End: &work.End})
		}
	}
	step(council.Step{Kind: council.Hands})
	h := council.Header{
		Run: b.Run, Conversation: b.Conversation, Question: b.Question, Mode: b.Council.Mode, State: r.State,
	}
	if err := log.AppendSteps(t.Context(), h, steps, texts); err != nil {
		t.Fatal(err)
	}
	return r
}

// sittingCouncil is a council of mode tools with Ada, who looks and rolls, and Bo, who
// looks too.
func sittingCouncil() council.Council {
	c := council.Default()
	c.Enabled, c.Mode = true, council.Tools
	c.Members = []council.Member{
		{ID: "ada", Name: "Ada", Chance: 100, Tools: []string{"p:look", "p:roll"}, Retention: map[string]int{"p:look": 2}},
		{ID: "bo", Name: "Bo", Chance: 100, Tools: []string{"p:look"}},
	}
	return c
}

func TestSP55HistoryShowsTheMainModelAtMostWhatIsRetained(t *testing.T) {
	log, c := council.NewMemory(), sittingCouncil()
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	long := strings.Repeat("ä", retainedText) + "END"
	for i, result := range []string{"first", long, "third"} {
		keepRun(t, log, council.Begin{Run: council.RunID(fmt.Sprint("r", i)), Conversation: "c", Council: c, Seed: 1},
			now.Add(time.Duration(i-3)*time.Hour), map[string]string{
				"0/ada/p:look": result, "0/ada/p:roll": "7", "0/bo/p:look": "Bo's " + result,
			})
	}
	failed := council.Begin{Run: "r3", Conversation: "c", Council: c, Seed: 1}
	keepRun(t, log, failed, now.Add(-time.Minute), nil)
	r := council.Run{Begin: council.Begin{
		Run: "now", Conversation: "c", Council: c, Seed: 1, Titles: map[string]string{"p:look": "Look"},
	}, Seats: []council.Seat{{Member: c.Members[0], In: true}, {Member: c.Members[1], In: true}}}
	got, _ := older(t.Context(), log, r, now)
	for _, part := range []string{
		"For reference only", "**Ada, Look:**", "(1 hour ago) third", "(2 hours ago) äää", "ä…",
	} {
		if !strings.Contains(got, part) {
			t.Errorf("%q is not in %.300s", part, got)
		}
	}
	for _, part := range []string{"first", "END", "Bo", "7"} {
		if strings.Contains(got, part) {
			t.Errorf("%q is in %.300s", part, got)
		}
	}
	if strings.Index(got, "third") > strings.Index(got, "äää") {
		t.Error("the newest is not first")
	}
	r.Seats[0].Member.Retention = map[string]int{"p:look": 0}
	if got, _ := older(t.Context(), log, r, now); got != "" {
		t.Errorf("where nothing is retained it is %q", got)
	}
	r.Seats[0].Member.Retention = map[string]int{"p:roll": 99}
	for i := range 14 {
		keepRun(t, log, council.Begin{Run: council.RunID(fmt.Sprint("s", i)), Conversation: "c", Council: c, Seed: 1},
			now, map[string]string{"0/ada/p:roll": fmt.Sprint("rolled ", i)})
	}
	if got, _ := older(t.Context(), log, r, now); strings.Count(got, "rolled") != mostRetained {
		t.Errorf("of 14 it shows %d", strings.Count(got, "rolled"))
	}
}

func TestSP54AnAnswerMadeAgainRetainsWhatFits(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	base := func() council.Begin {
		c := sittingCouncil()
		c.Tool.Retain = true
		return council.Begin{
			Run: "second", Conversation: "c", Question: 3, Council: c, Seed: 99, Window: "w",
			Models: map[string]string{"ada": "m/1", "": "m/main"},
		}
	}
	first := base()
	first.Run, first.Seed = "first", 7
	log := council.NewMemory()
	keepRun(t, log, first, now, map[string]string{"0/ada/p:look": "3 files", "0/bo/p:look": "4 files"})

	again := base()
	again.Models[""] = "m/other" // that answers this time
	from, err := retained(t.Context(), log, &again)
	if err != nil || from != "first" || again.Seed != 7 || len(again.Kept) != 2 ||
		again.Kept["0/ada/p:look"].Usage.Input != 0 {
		t.Fatalf("of %q, %v, it keeps %+v", from, err, again.Kept)
	}
	var r council.Run
	if err := r.Apply(council.Step{Number: 1, Kind: council.Begins, At: now, Begin: &again}); err != nil {
		t.Fatal(err)
	}
	if start := r.Next().Start; len(start) != 1 || start[0] != "0/ada/p:roll" {
		t.Errorf("what failed is to be done again, and that is %v", start)
	}
	for name, change := range map[string]func(*council.Begin){
		"another question":  func(b *council.Begin) { b.Question = 5 },
		"an edited message": func(b *council.Begin) { b.Window = "v" },
		"another member":    func(b *council.Begin) { b.Council.Members[1].Role = "Critic" },
		"another setting":   func(b *council.Begin) { b.Council.Tool.MaxWords = 10 },
		"another helper":    func(b *council.Begin) { b.Council.Helper.Model = "m/2" },
		"another model":     func(b *council.Begin) { b.Models = map[string]string{"ada": "m/2", "": "m/main"} },
		"retaining nothing": func(b *council.Begin) { b.Council.Tool.Retain = false },
	} {
		b := base()
		change(&b)
		if from, err := retained(t.Context(), log, &b); err != nil || from != "" || len(b.Kept) > 0 || b.Seed != 99 {
			t.Errorf("with %s it keeps %+v of %q, %v", name, b.Kept, from, err)
		}
	}
}

func TestSP54NobodyTakingPartIsRetainedToo(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	c := sittingCouncil()
	c.Tool.Retain = true
	for i := range c.Members {
		c.Members[i].Chance = 1
	}
	log := council.NewMemory()
	b := council.Begin{Run: "first", Conversation: "c", Question: 3, Council: c, Seed: 7}
	if r := keepRun(t, log, b, now, nil); len(r.Tasks) != 0 {
		t.Fatalf("with the seed 7 there are %d tasks", len(r.Tasks))
	}
	for seed := range uint64(50) {
		b.Run, b.Seed = "again", seed
		if _, err := retained(t.Context(), log, &b); err != nil || b.Seed != 7 {
			t.Fatalf("thrown again with %d: %v", b.Seed, err)
		}
	}
}

func TestTheWindowIsAnotherWhenAMessageIs(t *testing.T) {
	given := func(text, picture string) []council.Given {
		return []council.Given{{System: "s", Path: []chat.Message{{Role: chat.RoleUser, Seq: 1, Parts: []chat.Part{
			chat.TextPart(text), {Kind: chat.PartMedia, Media: &chat.Media{ID: picture}},
		}}}}}
	}
	base := windowOf(given("a", "x"))
	if base != windowOf(given("a", "x")) || base == windowOf(given("b", "x")) || base == windowOf(given("a", "y")) {
		t.Error("it does not tell what is given apart")
	}
}
