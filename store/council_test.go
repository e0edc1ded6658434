package store_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/store"
	"conclave/store/storetest"

	"go.etcd.io/bbolt"
)

var _ interface {
	council.Log
	council.Settings
} = (*store.Councils)(nil)

// stepsOf returns the steps of a run of so many members through every stage of a review
// with four rounds, with its texts.
func stepsOf(t testing.TB, id council.RunID, in chat.ConversationID, members int) ([]council.Step,
	map[council.Hash][]byte, council.Run,
) {
	t.Helper()
	steps, texts, run, err := councilRun(id, in, members)
	if err != nil {
		t.Fatal(err)
	}
	return steps, texts, run
}

// textsOf returns the texts that a step names, of all those of its run.
func textsOf(s council.Step, all map[council.Hash][]byte) map[council.Hash][]byte {
	names := []council.Hash{s.Notes}
	if s.End != nil {
		names = append(names, s.End.Text)
		for _, r := range s.End.Requests {
			names = append(names, r.Body, r.Given)
		}
	}
	texts := map[council.Hash][]byte{}
	for _, h := range names {
		if h != "" {
			texts[h] = all[h]
		}
	}
	return texts
}

func councilRun(id council.RunID, in chat.ConversationID, members int) (steps []council.Step,
	texts map[council.Hash][]byte, run council.Run, err error,
) {
	c := council.Default()
	c.Mode, c.Rounds, c.Enabled, c.Parallel = council.Review, 4, true, members
	models := map[string]string{}
	for i := range members {
		name := fmt.Sprintf("Member %d", i)
		c.Members = append(c.Members, council.Member{
			ID: fmt.Sprint("member-", i), Name: name, Role: "Looks for what nobody has looked for.", Chance: 100, Weight: 1,
			Tools: []string{"look:look", "desk:read_file"}, Model: "openai/gpt-5.1",
			Persona: council.Persona{
				Definition: strings.Repeat("Careful with numbers. ", 10),
				Behavior:   strings.Repeat("Speaks in short sentences. ", 6),
			},
		})
		models[fmt.Sprint("member-", i)] = "openai/gpt-5.1"
	}
	texts = map[council.Hash][]byte{}
	at := time.Date(2026, 11, 22, 9, 0, 0, 123456789, time.UTC)
	do := func(s council.Step) {
		at = at.Add(731 * time.Millisecond)
		s.At = at
		s.Number = run.Last.Number + 1
		err = errors.Join(err, run.Apply(s))
		steps = append(steps, s)
	}
	text := func(words string) council.Hash {
		h := council.HashOf([]byte(words))
		texts[h] = []byte(words)
		return h
	}
	do(council.Step{Kind: council.Begins, Begin: &council.Begin{
		Run: id, Conversation: in, Turn: "0195d7a4-0000-7000-8000-000000000001", Question: 3, Council: c, Seed: 1 << 60,
		Models: models,
	}})
	for next := run.Next().Start; len(next) > 0; next = run.Next().Start {
		for _, task := range next {
			do(council.Step{Kind: council.Starts, Task: task, Attempt: 1})
		}
		for _, task := range next {
			body := text("the request of " + task)
			do(council.Step{Kind: council.Ends, Task: task, Attempt: 1, End: &council.End{
				State: council.Done, Text: text("the words of " + task), Bytes: 4000,
				Usage: chat.Usage{Input: 12000, Output: 800, Cached: 8000, Reasoning: 300, Cost: 0.0123456},
				Turn:  "0195d7a4-0000-7000-8000-0000000000" + fmt.Sprint(10+len(steps)),
				Calls: []uint64{1000, 1001},
				Requests: []council.Request{{
					Model: "openai/gpt-5.1", Body: body, Bytes: 40000, Given: text("the blocks of " + task), Tokens: 12000, AtMS: 12,
				}},
			}})
		}
	}
	do(council.Step{Kind: council.Hands, Notes: text("notes")})
	do(council.Step{Kind: council.Concludes, Answer: &council.Answer{
		Reason: chat.EndDone, Seq: 4, Usage: chat.Usage{Input: 9000, Output: 900, Cost: 0.03},
	}})
	return steps, texts, run, err
}

func headerOf(r council.Run) council.Header {
	return council.Header{
		Run: r.Run, Conversation: r.Conversation, Turn: r.Turn, Question: r.Question, Mode: r.Council.Mode, State: r.State,
		Members: len(r.Seats), Usage: r.Spent(""), Began: r.Began, Ended: r.Ended,
	}
}

func TestARunIsReadAsItWasWrittenAndGoesWithItsChat(t *testing.T) {
	s := storetest.Open(t)
	ctx := t.Context()
	c, other := newChat(t, s, "a"), newChat(t, s, "b")
	if headers, err := s.Councils.Runs(ctx, c.ID); err != nil || len(headers) != 0 {
		t.Fatalf("before the first: %v, %v", headers, err)
	}
	_, err := s.Councils.Steps(ctx, "r1")
	kind(t, err, fault.NotFound)
	for id, in := range map[council.RunID]chat.ConversationID{"r1": c.ID, "r2": c.ID, "r3": other.ID} {
		steps, texts, run := stepsOf(t, id, in, 3)
		h := headerOf(run)
		kind(t, s.Councils.AppendSteps(ctx, h, steps[1:], nil), fault.Invalid)
		for _, part := range [][]council.Step{steps[:5], steps[5:]} {
			must(t, s.Councils.AppendSteps(ctx, h, part, texts))
		}
		kind(t, s.Councils.AppendSteps(ctx, h, steps[len(steps)-1:], nil), fault.Invalid)
		kept, err := s.Councils.Steps(ctx, id)
		if err != nil {
			t.Fatal(err)
		}
		asJSON := func(v any) string {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return string(raw)
		}
		equal(t, "the steps", asJSON(kept), asJSON(steps))
		again, err := council.Replay(kept)
		if err != nil {
			t.Fatal(err)
		}
		equal(t, "the run", asJSON(again), asJSON(run))
		for hash, want := range texts {
			if got, err := s.Councils.Text(ctx, id, hash); err != nil || string(got) != string(want) {
				t.Fatalf("the text %s is %q, %v", hash, got, err)
			}
		}
	}
	steps, _, run := stepsOf(t, "r9", "nowhere", 1)
	kind(t, s.Councils.AppendSteps(ctx, headerOf(run), steps, nil), fault.NotFound)

	one := council.Default()
	one.Members = []council.Member{{ID: "ada", Name: "Ada", Chance: 100, Weight: 1, Tools: []string{}}}
	for _, scope := range []council.Scope{
		council.Global, council.OfChat(c.ID), council.OfPreset("Three"),
		council.OfProject("/home/ada"),
	} {
		one.Name = string(scope)
		must(t, s.Councils.PutCouncil(ctx, scope, &one))
	}
	kind(t, s.Councils.PutCouncil(ctx, council.OfChat("nowhere"), &one), fault.NotFound)
	kind(t, s.Councils.PutCouncil(ctx, "", &one), fault.Invalid)
	if got, there, err := s.Councils.Council(ctx, council.OfChat(c.ID)); err != nil || !there ||
		got.Members[0].Name != "Ada" {
		t.Errorf("the council of the chat: %+v, %v, %v", got, there, err)
	}
	if presets, err := s.Councils.Presets(ctx); err != nil || len(presets) != 1 ||
		presets["Three"].Name != "preset Three" {
		t.Errorf("the presets: %+v, %v", presets, err)
	}
	must(t, s.Councils.PutCouncil(ctx, council.Global, nil))
	if _, there, err := s.Councils.Council(ctx, council.Global); err != nil || there {
		t.Errorf("what was forgotten is there: %v, %v", there, err)
	}

	token, err := s.Chats.DeleteConversation(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	// A run under way goes on while its chat lies in the trash, and is there when it is brought back.
	more, texts, late := stepsOf(t, "r4", c.ID, 1)
	if err := s.Councils.AppendSteps(ctx, headerOf(late), more, texts); err != nil {
		t.Errorf("in the trash: %v", err)
	}
	must(t, s.Chats.Purge(ctx, token))
	for _, gone := range []council.RunID{"r1", "r2", "r4"} {
		_, err := s.Councils.Steps(ctx, gone)
		kind(t, err, fault.NotFound)
		_, err = s.Councils.Text(ctx, gone, council.HashOf([]byte("notes")))
		kind(t, err, fault.NotFound)
	}
	if _, there, err := s.Councils.Council(ctx, council.OfChat(c.ID)); err != nil || there {
		t.Errorf("the council of a chat that is gone: %v, %v", there, err)
	}
	if headers, err := s.Councils.Runs(ctx, other.ID); err != nil || len(headers) != 1 || headers[0].Run != "r3" {
		t.Errorf("the runs of the other chat: %+v, %v", headers, err)
	}
	if text, err := s.Councils.Text(ctx, "r3", council.HashOf([]byte("notes"))); err != nil || string(text) != "notes" {
		t.Errorf("a text of the other chat: %q, %v", text, err)
	}
}

// A run that ends while its chat lies in the trash was paid for too: the chat tells it when
// it is brought back.
func TestWhatARunUsedInTheTrashIsOfItsChatToo(t *testing.T) {
	s := storetest.Open(t)
	ctx := t.Context()
	c := newChat(t, s, "a")
	must(t, s.Chats.UpdateConversation(ctx, c.ID, func(c *chat.Conversation) { c.Spent = &chat.Usage{Input: 1, Cost: 1} }))
	other := newChat(t, s, "b")
	if _, err := s.Chats.DeleteConversation(ctx, other.ID); err != nil {
		t.Fatal(err)
	}
	token, err := s.Chats.DeleteConversation(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	steps, texts, run := stepsOf(t, "r", c.ID, 2)
	must(t, s.Councils.AppendSteps(ctx, headerOf(run), steps, texts))
	if _, err := s.Chats.Undelete(ctx, token); err != nil {
		t.Fatal(err)
	}
	back, err := s.Chats.Conversation(ctx, c.ID)
	if err != nil {
		t.Fatal(err)
	}
	used, got := run.Spent(""), *back.Spent
	if used.Input == 0 || got.Input != 1+used.Input || got.Output != used.Output ||
		math.Abs(got.Cost-1-used.Cost) > 1e-9 {
		t.Errorf("the run took %+v, and the chat %+v", used, got)
	}
}

// What a run used is added to what its chat used as it is written, once.
func TestWhatARunUsedIsOfItsChatAtOnce(t *testing.T) {
	s := storetest.Open(t)
	ctx := t.Context()
	c := newChat(t, s, "a")
	must(t, s.Chats.UpdateConversation(ctx, c.ID, func(c *chat.Conversation) { c.Spent = &chat.Usage{Input: 1, Cost: 1} }))
	steps, texts, run := stepsOf(t, "r", c.ID, 2)
	for i := range steps {
		so, err := council.Replay(steps[:i+1])
		if err != nil {
			t.Fatal(err)
		}
		must(t, s.Councils.AppendSteps(ctx, headerOf(so), steps[i:i+1], texts))
		now, err := s.Chats.Conversation(ctx, c.ID)
		if err != nil {
			t.Fatal(err)
		}
		used := so.Spent("")
		got := *now.Spent
		if got.Input != 1+used.Input || got.Output != used.Output || math.Abs(got.Cost-1-used.Cost) > 1e-9 {
			t.Fatalf("after step %d the chat used %+v, the run %+v", i+1, got, used)
		}
	}
	must(t, s.Councils.AppendSteps(ctx, headerOf(run), nil, nil)) // a header that is written again
	if now, err := s.Chats.Conversation(ctx, c.ID); err != nil || now.Spent.Output != run.Spent("").Output {
		t.Errorf("the chat used %+v, %v", now.Spent, err)
	}
}

// A run of 12 members and 4 rounds takes less than 200 KB beside its texts, however its
// steps are gathered.
func TestALongRunTakesLittleRoom(t *testing.T) {
	for _, batch := range []int{1, 7, 1000} {
		dir := t.TempDir()
		s := storetest.OpenWith(t, store.Options{Dir: dir})
		c := newChat(t, s, "a")
		steps, texts, run := stepsOf(t, "0195d7a4-0000-7000-8000-00000000000a", c.ID, 12)
		for from := 0; from < len(steps); from += batch {
			part := steps[from:min(from+batch, len(steps))]
			must(t, s.Councils.AppendSteps(t.Context(), headerOf(run), part, texts))
			texts = nil
		}
		must(t, s.Close())
		db, err := bbolt.Open(filepath.Join(dir, "conclave.db"), 0o600, &bbolt.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		size := 0
		err = db.View(func(tx *bbolt.Tx) error {
			for _, name := range []string{"council_runs", "council_steps"} {
				stats := tx.Bucket([]byte(name)).Stats()
				size += stats.LeafAlloc + stats.BranchAlloc + stats.InlineBucketInuse
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		must(t, db.Close())
		t.Logf("%d steps, %d at a time: %d bytes", len(steps), batch, size)
		if size > 200_000 {
			t.Errorf("%d steps, %d at a time, take %d bytes", len(steps), batch, size)
		}
	}
}

// BenchmarkOpenAStoredRun reads a run of 12 members and 4 rounds, and makes it of its steps.
func BenchmarkOpenAStoredRun(b *testing.B) {
	s := storetest.Open(b)
	c := newChat(b, s, "a")
	steps, texts, run := stepsOf(b, "r", c.ID, 12)
	must(b, s.Councils.AppendSteps(b.Context(), headerOf(run), steps, texts))
	for b.Loop() {
		kept, err := s.Councils.Steps(b.Context(), "r")
		if err != nil {
			b.Fatal(err)
		}
		if _, err := council.Replay(kept); err != nil {
			b.Fatal(err)
		}
	}
}
