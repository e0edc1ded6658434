package store_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/record/activity"
	"conclave/app/test/testkit"
	"conclave/store"
	"conclave/store/storetest"

	"go.etcd.io/bbolt"
)

// ended returns the record of the nth call of a chat.
func ended(n int, id chat.ConversationID) chat.CallRecord {
	at := time.Date(2026, 11, 22, 10, 0, n, 0, time.UTC)
	return chat.CallRecord{
		Conversation: id, Turn: "turn", Caller: "main", ToolName: "write_note", ToolID: "notes:write_note", Plugin: "notes",
		Digest: "def", Code: "c0de", Arguments: json.RawMessage(fmt.Sprintf(`{"text":"note %d"}`, n)), ResultText: "done",
		Status: chat.CallOK, Timestamp: at, Started: at, Ended: at.Add(20 * time.Millisecond), MS: 20,
		Decision: "allow", DecidedBy: "you allowed it once", Decider: "person", Waited: 1500,
		Path: []chat.DecisionStep{
			{Number: 0, Name: "pause switch", Why: "tools were not paused"},
			{Number: 9, Name: "default", Effect: "ask", Why: "first time this tool runs"},
		},
		Sent: []chat.Sending{{Host: "api.example.org", Bytes: 42}},
	}
}

// chained makes a store with n calls of one chat on record, closes it, and returns its folder.
func chained(t *testing.T, n int) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "a chat")
	for i := range n {
		r := ended(i+1, c.ID)
		r.Status = chat.CallRunning
		must(t, s.Calls.PutCall(t.Context(), &r))
		r.Status = chat.CallOK
		must(t, s.Calls.PutCall(t.Context(), &r))
	}
	storetest.Check(t, s)
	must(t, s.Close())
	return dir
}

func TestRecordTellsThatItHasGrown(t *testing.T) {
	t.Parallel()
	grew := 0
	s := storetest.OpenWith(t, store.Options{Dir: t.TempDir(), OnRecord: func() { grew++ }})
	c := newChat(t, s, "a chat")
	r := ended(1, c.ID)
	r.Status = chat.CallRunning
	must(t, s.Calls.PutCall(t.Context(), &r))
	must(t, s.Sync(t.Context()))
	if grew != 0 {
		t.Errorf("it grew %d times before a call ended", grew)
	}
	r.Status = chat.CallOK
	must(t, s.Calls.PutCall(t.Context(), &r))
	must(t, s.Sync(t.Context()))
	if grew != 1 {
		t.Errorf("it grew %d times with one call", grew)
	}
}

// tamper changes the closed store's file as anybody can who may write it.
func tamper(t *testing.T, dir string, change func(entries, details *bbolt.Bucket) error) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(dir, "conclave.db"), 0o600, nil)
	must(t, err)
	must(t, db.Update(func(tx *bbolt.Tx) error {
		return change(tx.Bucket([]byte("activity")), tx.Bucket([]byte("activity_details")))
	}))
	must(t, db.Close())
}

func key(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

// verified opens the store, verifies the record, and closes it again.
func verified(t *testing.T, dir string) activity.Report {
	t.Helper()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	report, err := s.Activity.VerifyActivity(t.Context())
	must(t, err)
	must(t, s.Close())
	return report
}

func flip(b *bbolt.Bucket, n uint64, find string) error {
	raw := []byte(strings.Clone(string(b.Get(key(n)))))
	at := strings.Index(string(raw), find)
	if at < 0 {
		return fmt.Errorf("entry %d has no %q: %s", n, find, raw)
	}
	raw[at] ^= 1
	return b.Put(key(n), raw)
}

func TestTheRecordHoldsEachCallOnceWithTheDecisionAsItWent(t *testing.T) {
	dir := chained(t, 3)
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	rows, err := s.Activity.Activity(t.Context(), activity.Filter{})
	must(t, err)
	equal(t, "entries", len(rows), 3)
	e, d, err := rows[0].Read() // the newest first
	must(t, err)
	equal(t, "call", e.Call, 3)
	equal(t, "who", e.Caller+" "+e.Tool+" "+e.By, "main notes:write_note person")
	equal(t, "outcome", e.Outcome, chat.CallOK)
	equal(t, "output", e.Output, int64(len("done")))
	equal(t, "sent", fmt.Sprint(e.Sent), "[{api.example.org 42 false}]")
	equal(t, "arguments", string(d.Arguments), `{"text":"note 3"}`)
	equal(t, "link", e.Prev, rows[1].Hash)
	equal(t, "why", strings.Join(activity.Sentences(e, d), "\n"), "Step 0, pause switch: tools were not paused.\n"+
		"Step 9, default: you had to be asked, first time this tool runs.\n"+
		"It was allowed by you, after 1.5 s: you allowed it once.")

	row, err := s.Activity.ActivityOf(t.Context(), 2)
	must(t, err)
	equal(t, "the entry of call 2", row.Hash, rows[1].Hash)
	if _, err := s.Activity.ActivityOf(t.Context(), 9); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the entry of a call that is not there: %v", err)
	}
	equal(t, "verified", verifiedNow(t, s).Sentence(),
		"All 3 entries are as they were written. The last is entry 3; its digest is "+rows[0].Hash+".")
}

func verifiedNow(t *testing.T, s *store.Store) activity.Report {
	t.Helper()
	report, err := s.Activity.VerifyActivity(t.Context())
	must(t, err)
	return report
}

func TestEntriesAreFoundByChatAndPlugin(t *testing.T) {
	s := storetest.Open(t)
	one, two := newChat(t, s, "one"), newChat(t, s, "two")
	for i := range 6 {
		r := ended(i, one.ID)
		if i%2 == 1 {
			r.Conversation = two.ID
		}
		if i >= 4 {
			r.Plugin, r.ToolID = "web", "web:get"
		}
		putCall(t, s, r)
	}
	for f, want := range map[activity.Filter]string{
		{}:                                       "6 5 4 3 2 1",
		{Limit: 2}:                               "6 5",
		{Before: 5, Limit: 2}:                    "4 3",
		{After: 4, Oldest: true}:                 "5 6",
		{Oldest: true, Limit: 2}:                 "1 2",
		{Chat: two.ID}:                           "6 4 2",
		{Chat: two.ID, Before: 6, Limit: 1}:      "4",
		{Plugin: "web"}:                          "6 5",
		{Plugin: "notes", Oldest: true}:          "1 2 3 4",
		{Chat: one.ID, Plugin: "web"}:            "5",
		{Chat: one.ID, After: 1, Oldest: true}:   "3 5",
		{Plugin: "notes", Before: 4, Limit: 100}: "3 2 1",
		{Chat: "nobody"}:                         "",
		{Plugin: "note"}:                         "",
	} {
		rows, err := s.Activity.Activity(t.Context(), f)
		must(t, err)
		var got []string
		for _, row := range rows {
			e, _, err := row.Read()
			must(t, err)
			got = append(got, fmt.Sprint(e.N))
		}
		equal(t, fmt.Sprintf("%+v", f), strings.Join(got, " "), want)
	}
}

func TestVerifyingNamesTheFirstBrokenLink(t *testing.T) {
	swap := func(b *bbolt.Bucket, n, m uint64) error {
		a, c := strings.Clone(string(b.Get(key(n)))), strings.Clone(string(b.Get(key(m))))
		if err := b.Put(key(n), []byte(c)); err != nil {
			return err
		}
		return b.Put(key(m), []byte(a))
	}
	again := func(b *bbolt.Bucket, n uint64, change func(*activity.Entry)) error {
		var e activity.Entry
		if err := json.Unmarshal(b.Get(key(n)), &e); err != nil {
			return err
		}
		change(&e)
		raw, err := activity.Encode(e)
		if err != nil {
			return err
		}
		return b.Put(key(e.N), raw)
	}
	at := func(n int) string { return ended(n, "").Ended.Local().Format("2 January 2006, 15:04:05") }
	for name, c := range map[string]struct {
		change func(entries, details *bbolt.Bucket) error
		broken uint64
		says   string
	}{
		"a bit of an entry": {
			func(b, _ *bbolt.Bucket) error { return flip(b, 2, "person") }, 2,
			"Entry 2 (" + at(2) + ", notes:write_note) and entry 3 (" + at(3) + ", notes:write_note) do not fit together",
		},
		"a bit that leaves no JSON": {
			func(b, _ *bbolt.Bucket) error { return flip(b, 2, `{"n"`) }, 2, "Entry 2 cannot be read",
		},
		"a bit of the last entry": {
			func(b, _ *bbolt.Bucket) error { return flip(b, 5, "person") }, 5,
			"found: the record ends with entry 5, which is not as it was written.",
		},
		"a bit of the arguments": {
			func(_, d *bbolt.Bucket) error { return flip(d, 4, "note 4") }, 4,
			"The arguments or the decision of entry 4 (" + at(4) + ", notes:write_note) were changed",
		},
		"the arguments of another": {
			func(_, d *bbolt.Bucket) error { return swap(d, 2, 3) }, 2, "The arguments or the decision of entry 2",
		},
		"no arguments": {
			func(_, d *bbolt.Bucket) error { return d.Delete(key(3)) }, 3,
			"The arguments and the decision of entry 3 (" + at(3) + ", notes:write_note) are missing",
		},
		"an entry less": {
			func(b, _ *bbolt.Bucket) error { return b.Delete(key(3)) }, 3, "Entry 3 is missing: after entry 2",
		},
		"entries that moved up": {
			func(b, _ *bbolt.Bucket) error {
				for n := uint64(3); n < 5; n++ {
					if err := again(b, n+1, func(e *activity.Entry) { e.N = n }); err != nil {
						return err
					}
				}
				return b.Delete(key(5))
			}, 2, "do not fit together",
		},
		"an order that changed": {
			func(b, _ *bbolt.Bucket) error { return swap(b, 2, 3) }, 2, "In the place of entry 2 stands entry 3",
		},
		"an entry more, in between": {
			func(b, _ *bbolt.Bucket) error {
				for n := uint64(5); n > 2; n-- {
					if err := again(b, n, func(e *activity.Entry) { e.N = n + 1 }); err != nil {
						return err
					}
				}
				return again(b, 2, func(e *activity.Entry) { e.N, e.By = 3, "rule grant_1" })
			}, 2, "do not fit together",
		},
		"an entry more, at the end": {
			func(b, _ *bbolt.Bucket) error {
				return again(b, 5, func(e *activity.Entry) { e.N, e.Prev = 6, activity.Hash(b.Get(key(5))) })
			}, 6, "found: the record ends with entry 6, but the last that was written is 5.",
		},
		"an entry once more, far behind the end": {
			func(b, _ *bbolt.Bucket) error { return b.Put(key(200), []byte(strings.Clone(string(b.Get(key(2)))))) }, 200,
			"In the place of entry 200 stands entry 2",
		},
		"an end that is missing": {
			func(b, _ *bbolt.Bucket) error {
				if err := b.Delete(key(4)); err != nil {
					return err
				}
				return b.Delete(key(5))
			}, 4, "Entries 4 to 5 are missing: after entry 3",
		},
		"a beginning that is missing": {
			func(b, _ *bbolt.Bucket) error {
				if err := b.Delete(key(1)); err != nil {
					return err
				}
				return b.Delete(key(2))
			}, 1, "The beginning is missing: the record begins with entry 3",
		},
		"nothing left": {
			func(b, _ *bbolt.Bucket) error {
				for n := uint64(1); n <= 5; n++ {
					if err := b.Delete(key(n)); err != nil {
						return err
					}
				}
				return nil
			}, 1, "The beginning is missing",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := chained(t, 5)
			tamper(t, dir, c.change)
			report := verified(t, dir)
			if report.OK || report.Broken != c.broken || !strings.Contains(report.Problem, c.says) ||
				!strings.HasPrefix(report.Sentence(), "The record was changed outside Conclave.") {
				t.Errorf("it says of link %d: %s", report.Broken, report.Sentence())
			}
			// The chain goes on behind it, and what is wrong is still said.
			s := storetest.OpenWith(t, store.Options{Dir: dir})
			r := ended(9, "")
			must(t, s.Calls.PutCall(t.Context(), &r))
			must(t, s.Close())
			if later := verified(t, dir); later.Problem != report.Problem {
				t.Errorf("after another call it says: %s", later.Problem)
			}
		})
	}
}

func TestAChatThatIsDeletedTakesWhatItsCallsSaidAndLeavesThatTheyWereMade(t *testing.T) {
	s := storetest.Open(t)
	gone, stays := newChat(t, s, "gone"), newChat(t, s, "stays")
	for i := range 4 {
		putCall(t, s, ended(i, []chat.ConversationID{gone.ID, stays.ID}[i%2]))
	}
	token, err := s.Chats.DeleteConversation(t.Context(), gone.ID)
	must(t, err)
	must(t, s.Chats.Purge(t.Context(), token))
	rows, err := s.Activity.Activity(t.Context(), activity.Filter{})
	must(t, err)
	for i, want := range []string{"erased", "call with detail", "call", "call with detail", "call"} {
		e, d, err := rows[i].Read()
		must(t, err)
		got := string(e.Kind)
		if d != nil {
			got += " with detail"
		}
		equal(t, fmt.Sprint("entry ", e.N), got, want)
	}
	e, d, err := rows[2].Read()
	must(t, err)
	equal(t, "why", strings.Join(activity.Sentences(e, d), " "),
		"How it was decided was deleted with its chat. It was allowed by you, after 1.5 s.")
	report := verifiedNow(t, s)
	if !report.OK || report.Erased != 2 {
		t.Errorf("got %+v", report)
	}
}

func TestTheRecordIsCutAtItsBoundAndTheRestIsStillVerified(t *testing.T) {
	defer store.BoundActivity(10, 4)()
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	var first uint64
	for i := range 31 {
		putCall(t, s, ended(i, ""))
		report := verifiedNow(t, s)
		if !report.OK || report.Entries > 10 || report.First != report.Cut+1 || report.First < first {
			t.Fatalf("after call %d: %+v", i+1, report)
		}
		first = report.First
	}
	if first == 1 {
		t.Fatal("nothing was removed")
	}
	if _, err := s.Activity.ActivityOf(t.Context(), 1); fault.KindOf(err) != fault.NotFound {
		t.Errorf("the entry of the first call: %v", err)
	}
	must(t, s.Close())
	tamper(t, dir, func(b, _ *bbolt.Bucket) error { return b.Delete(key(first)) })
	if report := verified(t, dir); report.OK || !strings.Contains(report.Problem, "The beginning is missing") {
		t.Errorf("with one more removed by hand: %+v", report)
	}
}

func TestARecordThatIsReadWhileNothingIsOnIt(t *testing.T) {
	s := storetest.Open(t)
	rows, err := s.Activity.Activity(t.Context(), activity.Filter{})
	if err != nil || rows == nil || len(rows) != 0 {
		t.Errorf("got %v, %v", rows, err)
	}
	if report := verifiedNow(t, s); !report.OK || report.Sentence() != "Nothing is on record yet." {
		t.Errorf("got %+v", report)
	}
}

// BenchmarkRecord measures what the record of activity adds to a call of a tool, in the
// batches of a turn: its entry, without secrets, and its place in the chain.
func BenchmarkRecord(b *testing.B) {
	s := storetest.OpenWith(b, store.Options{
		Mask: func(text string) string { return model.Mask(text, "sesame-open-1234", "another-secret") },
	})
	c := newChat(b, s, "many calls")
	path := make([]chat.DecisionStep, 10)
	for i := range path {
		path[i] = chat.DecisionStep{Number: i, Name: "a step of the order", Why: "no rule of yours has you asked about it"}
	}
	path[9].Effect = "ask"
	const batch = 8
	var took []time.Duration // by call, of each batch
	n := 0
	for b.Loop() {
		calls := make([]chat.CallRecord, batch)
		for i := range calls {
			n++
			calls[i] = ended(n, c.ID)
			calls[i].ID, calls[i].Path = uint64(n), path
			calls[i].Arguments = json.RawMessage(`{"path":"/home/ada/Documents/Notes/today.md","text":"` +
				strings.Repeat("A few words of a note. ", 20) + `","append":true}`)
			calls[i].ResultText = strings.Repeat("The note was written. ", 100)
		}
		d, err := s.RecordActivity(context.WithoutCancel(b.Context()), calls)
		must(b, err)
		took = append(took, d/batch)
	}
	b.ReportMetric(float64(testkit.Percentile(took, 50).Nanoseconds())/1e3, "µs-call-p50")
}

func TestUndoingACallIsOnRecordAndItsFilesGoWithTheChat(t *testing.T) {
	dir := chained(t, 2)
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	rows, err := s.Activity.Activity(t.Context(), activity.Filter{})
	must(t, err)
	first, _, err := rows[1].Read()
	must(t, err)
	undone := activity.Reversal{
		Kind: activity.Undone, Time: time.Now(), Undo: "1-x", Call: 1, Turn: "turn", Changed: 1,
		Changes: []chat.FileChange{{Path: "/notes/a", What: "changed"}},
	}
	other := undone
	other.Turn = "of a temporary chat, whose call has the same number"
	must(t, s.Activity.RecordReversal(t.Context(), undone))
	must(t, s.Activity.RecordReversal(t.Context(), other))

	rows, err = s.Activity.Activity(t.Context(), activity.Filter{Chat: first.Chat, Plugin: "notes", Limit: 1})
	must(t, err)
	e, d, err := rows[0].Read()
	must(t, err)
	equal(t, "the entry", fmt.Sprintf("%d %s %s %d %s", e.N, e.Kind, e.Caller, e.Call, e.Tool),
		"3 undo person 1 notes:write_note")
	equal(t, "its file", d.Changes[0].Path, "/notes/a")
	rows, err = s.Activity.Activity(t.Context(), activity.Filter{Limit: 1})
	must(t, err)
	equal(t, "the other tells nothing", string(rows[0].Detail), "")
	e, _, err = rows[0].Read()
	must(t, err)
	equal(t, "nor of which call", fmt.Sprintf("%s %d %q %q", e.Kind, e.Call, e.Tool, e.Chat), `undo 0 "" ""`)

	row, err := s.Activity.ActivityOf(t.Context(), 1)
	must(t, err)
	e, _, err = row.Read()
	must(t, err)
	equal(t, "a call is found as it was made", fmt.Sprintf("%d %s", e.N, e.Kind), "1 call")
	equal(t, "verified", verifiedNow(t, s).OK, true)

	token, err := s.Chats.DeleteConversation(t.Context(), first.Chat)
	must(t, err)
	must(t, s.Chats.Purge(t.Context(), token))
	rows, err = s.Activity.Activity(t.Context(), activity.Filter{Chat: first.Chat, Limit: 1})
	must(t, err)
	e, _, err = rows[0].Read()
	must(t, err)
	equal(t, "erased", fmt.Sprintf("%s %d", e.Kind, e.Entries), "erased 2")
	must(t, s.Activity.RecordReversal(t.Context(), undone))
	rows, err = s.Activity.Activity(t.Context(), activity.Filter{})
	must(t, err)
	for _, row := range rows {
		equal(t, "what is left of the chat's calls", string(row.Detail), "")
	}
	equal(t, "verified", verifiedNow(t, s).OK, true)
}

func TestWhatAPluginWasLetDoIsOnRecordAndGoesWithTheChat(t *testing.T) {
	dir := chained(t, 1)
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	rows, err := s.Activity.Activity(t.Context(), activity.Filter{})
	must(t, err)
	first, _, err := rows[0].Read()
	must(t, err)
	use := activity.Use{
		Time: time.Now(), Permission: "start", Plugin: "notes", Tool: "notes:(programs)", Chat: first.Chat, Effect: "allow",
		By: "person", Arguments: json.RawMessage(`{"command":"git push","folder":"/x"}`),
	}
	outside, temporary := use, use
	outside.Chat, temporary.Chat = "", "a chat that is nowhere"
	for _, u := range []activity.Use{use, outside, temporary} {
		s.Activity.RecordUse(u)
	}
	tells := func(f activity.Filter) (all []string) {
		rows, err := s.Activity.Activity(t.Context(), f)
		must(t, err)
		for _, row := range rows {
			e, d, err := row.Read()
			must(t, err)
			if e.Kind == activity.Used {
				all = append(all, activity.UsedWords(e, d))
			}
		}
		return all
	}
	const said = "was let start “git push” in /x"
	equal(t, "of the plugin", strings.Join(tells(activity.Filter{Plugin: "notes"}), "|"), said+"|"+said)
	equal(t, "of the chat", strings.Join(tells(activity.Filter{Chat: first.Chat}), "|"), said)
	equal(t, "verified", verifiedNow(t, s).OK, true)

	token, err := s.Chats.DeleteConversation(t.Context(), first.Chat)
	must(t, err)
	s.Activity.RecordUse(use)
	equal(t, "while the chat is in the trash", strings.Join(tells(activity.Filter{Chat: first.Chat}), "|"), said+"|"+said)
	must(t, s.Chats.Purge(t.Context(), token))
	s.Activity.RecordUse(use)
	equal(t, "once the chat is gone", strings.Join(tells(activity.Filter{Plugin: "notes"}), "|"),
		"was let start a program|"+said+"|was let start a program")
	equal(t, "verified then", verifiedNow(t, s).OK, true)
}

func TestWhatPluginsMakeWaitForTheDiskIsBounded(t *testing.T) {
	defer store.BoundWaiting(64 << 10)()
	s := storetest.Open(t)
	release, err := s.Hold(t.Context())
	must(t, err)
	use := activity.Use{
		Time: time.Now(), Permission: "start", Plugin: "notes", Tool: "notes:(programs)", Effect: "allow", By: "person",
		Arguments: json.RawMessage(`{"command":"` + strings.Repeat("x", 7<<10) + `"}`),
	}
	for range 20 {
		s.Activity.RecordUse(use)
	}
	for range 20 {
		s.Activity.RecordSent(time.Now(), "notes", []chat.Sending{{Host: strings.Repeat("x", 7<<10)}})
	}
	release()
	rows, err := s.Activity.Activity(t.Context(), activity.Filter{})
	must(t, err)
	waited := 0
	for _, row := range rows {
		waited += len(row.Entry) + len(row.Detail)
	}
	if waited < 32<<10 || waited > 64<<10 {
		t.Errorf("of 40 entries, %d of %d bytes waited", len(rows), waited)
	}
	s.Activity.RecordUse(use)
	rows, err = s.Activity.Activity(t.Context(), activity.Filter{Limit: 1})
	must(t, err)
	if e, _, err := rows[0].Read(); err != nil || e.Kind != activity.Used {
		t.Errorf("once the disk has room again, the newest is %+v: %v", e, err)
	}
}

// BenchmarkUse puts decisions about permissions in use on record, for which nobody waits for a disk.
func BenchmarkUse(b *testing.B) {
	s := storetest.Open(b)
	use := activity.Use{
		Time: time.Now(), Permission: "filesystem", Plugin: "notes", Tool: "notes:(files)", Effect: "allow",
		By:        "rule grant_1",
		Arguments: json.RawMessage(`{"path":"/home/me/Documents/Letters","file":"a.txt","access":"read"}`),
	}
	for n := range 10 {
		use.Path = append(use.Path, chat.DecisionStep{Number: n, Name: "default", Why: "nothing that it can do is asked"})
	}
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		s.Activity.RecordUse(use)
		took = append(took, time.Since(began))
	}
	b.ReportMetric(float64(testkit.Percentile(took, 50).Nanoseconds())/1e3, "µs-use-p50")
}
