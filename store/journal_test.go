package store_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"
)

// streaming appends a streaming answer.
func streaming(t testing.TB, s *store.Store, id chat.ConversationID, parent chat.MessageSeq) chat.Message {
	t.Helper()
	m := chat.Message{
		Conversation: id, Parent: parent, Role: chat.RoleAssistant, State: chat.Streaming,
		Parts: []chat.Part{{Kind: chat.PartText}},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	return m
}

func TestAStreamingMessageReadsWithItsNewestText(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "")
	m := streaming(t, s, c.ID, 0)
	m.Parts[0].Text = "so far"
	s.Chats.Journal(m)
	m.Parts[0].Text = "the turn goes on with its own copy"
	path, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "while it streams", texts(path), []string{"so far"})
	m.State, m.Parts[0].Text = chat.Complete, "done"
	must(t, replace(t.Context(), s, m))
	late := m
	late.State, late.Parts = chat.Streaming, []chat.Part{{Kind: chat.PartText, Text: "too late"}}
	s.Chats.Journal(late)
	must(t, s.Sync(t.Context()))
	path, err = s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "once it is done", texts(path), []string{"done"})
	equal(t, "state", path[0].State, chat.Complete)
}

// TestTheJournalIsWrittenEvery250Milliseconds counts commits by the revision of bbolt's
// transactions in a bubble where time is free: none is late, and there are no more than needed.
func TestTheJournalIsWrittenEvery250Milliseconds(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s, err := store.Open(t.Context(), store.Options{Dir: dir})
		must(t, err)
		c := newChat(t, s, "")
		m := streaming(t, s, c.ID, 0)
		before, last, written := s.Commits(), s.Commits(), time.Now()
		var text strings.Builder
		for i := range 1000 {
			fmt.Fprintf(&text, "%d ", i)
			m.Parts[0].Text = text.String()
			s.Chats.Journal(m)
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
			if now := s.Commits(); now > last {
				last, written = now, time.Now()
			} else if late := time.Since(written); late >= 250*time.Millisecond {
				t.Fatalf("after %d calls nothing was written for %s", i+1, late)
			}
		}
		if n := s.Commits() - before; n < 40 || n > 50 {
			t.Errorf("10 s of a thousand journal calls made %d commits, want 40 to 50", n)
		}
		must(t, s.Close())
	})
}

func TestWhatStreamedAtTheEndIsInterruptedAtTheNextStart(t *testing.T) {
	now := newClock()
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	c := newChat(t, s, "")
	withText, bare := streaming(t, s, c.ID, 0), streaming(t, s, c.ID, 0)
	withText.Parts[0].Text = "half an ans"
	s.Chats.Journal(withText)
	if err := s.Close(); err != nil { // it writes the journal; nothing ends the message
		t.Fatal(err)
	}
	ended := now.at
	now.add(time.Hour)
	s = storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	got, err := s.Chats.Messages(t.Context(), c.ID, []chat.MessageSeq{withText.Seq, bare.Seq})
	must(t, err)
	equal(t, "texts", texts(got), []string{"half an ans", ""})
	for _, m := range got {
		equal(t, "state", m.State, chat.Interrupted)
		equal(t, "ended", m.Ended, ended)
	}
	o, err := s.Chats.Outline(t.Context(), c.ID)
	must(t, err)
	equal(t, "state in the outline", o.Items[0].State, chat.Interrupted)
}

func TestNotesOfAnAnswerSurviveAKill(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "")
	m := streaming(t, s, c.ID, 0)
	for i, notes := range [][]chat.Note{
		nil, {{Text: "one"}}, {{Text: "one", Count: 2}}, {{Text: "one", Count: 2}, {Text: "two"}},
	} {
		m.Parts[0].Text, m.Notes = strings.Repeat("x", i+1), notes
		s.Chats.Journal(m)
		must(t, s.Sync(t.Context()))
	}
	must(t, s.Close()) // nothing ends the message
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	got, err := s.Chats.Message(t.Context(), c.ID, m.Seq)
	must(t, err)
	equal(t, "state", got.State, chat.Interrupted)
	equal(t, "text", chat.TextOf(got.Parts), "xxxx")
	equal(t, "notes", fmt.Sprint(got.Notes), fmt.Sprint([]chat.Note{{Text: "one", Count: 2}, {Text: "two"}}))
}

func TestAPathIsReadMessageByMessage(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "")
	var parent chat.MessageSeq
	for i := range 600 { // more than are read at once
		m := chat.Message{
			Conversation: c.ID, Parent: parent, Role: chat.RoleUser, State: chat.Complete,
			Parts: []chat.Part{chat.TextPart(fmt.Sprint(i))},
		}
		must(t, s.Chats.Append(t.Context(), &m))
		parent = m.Seq
	}
	whole, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	var read []chat.Message
	must(t, s.Chats.EachOnPath(t.Context(), c.ID, func(m chat.Message) error {
		read = append(read, m)
		return nil
	}))
	equal(t, "the path", texts(read), texts(whole))
	stop := errors.New("enough")
	if err := s.Chats.EachOnPath(t.Context(), c.ID, func(chat.Message) error { return stop }); !errors.Is(err, stop) {
		t.Errorf("a walk that is stopped ends with %v", err)
	}
	if err := s.Chats.EachOnPath(t.Context(), "nobody", nil); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a chat that is not there: %v", err)
	}
}

func TestLF38ACallUnderWayIsDiedAfterARestart(t *testing.T) {
	now := newClock()
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	asked := putCall(t, s, chat.CallRecord{ToolName: "a", Status: chat.CallAsked, Timestamp: now.at})
	running := putCall(t, s, chat.CallRecord{ToolName: "b", Status: chat.CallRunning, Started: now.at, Timestamp: now.at})
	paused := putCall(t, s, chat.CallRecord{ToolName: "c", Status: chat.CallPaused, Timestamp: now.at})
	now.add(2 * time.Second)
	must(t, s.Close())
	now.add(time.Hour)
	s = storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	for id, want := range map[uint64]chat.CallStatus{
		asked: chat.CallDied, running: chat.CallDied, paused: chat.CallPaused,
	} {
		r, err := s.Calls.Call(t.Context(), id)
		must(t, err)
		equal(t, r.ToolName, r.Status, want)
		if want == chat.CallDied && r.Error == "" {
			t.Errorf("%s: nothing says why it died", r.ToolName)
		}
		if id == running {
			equal(t, "milliseconds while it is known to have run", r.MS, 2000.0)
		}
	}
	errs, err := s.Calls.Calls(t.Context(), chat.CallFilter{Errors: true})
	must(t, err)
	equal(t, "errors", ids(errs), []uint64{running, asked})
}

func TestAClosedStoreSaysSo(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "")
	must(t, s.Close())
	if err := s.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
	_, err := s.Chats.Path(t.Context(), c.ID)
	kind(t, err, fault.Unavailable)
	kind(t, s.Chats.Append(t.Context(), &chat.Message{Conversation: c.ID}), fault.Unavailable)
	kind(t, s.Calls.PutCall(t.Context(), &chat.CallRecord{ToolName: "t"}), fault.Unavailable)
	kind(t, s.Media.PutMedia(t.Context(), &chat.Media{Data: []byte("x")}), fault.Unavailable)
	s.Chats.Journal(chat.Message{})
}

func TestALongAnswerIsWrittenInProportionToItsLength(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "")
	m := streaming(t, s, c.ID, 0)
	m.Parts = []chat.Part{{Kind: chat.PartReasoning, Text: "hm"}, {Kind: chat.PartText}}
	const pieces, size = 256, 4 << 10
	var text strings.Builder
	before := s.Allocated()
	for i := range pieces {
		fmt.Fprintf(&text, "%*d", size, i)
		m.Parts[1].Text = text.String()
		s.Chats.Journal(m)
		must(t, s.Sync(t.Context()))
	}
	// Each write has its own pages beside the text: some of the tree, and the free list.
	if wrote, most := s.Allocated()-before, int64(3*pieces*size+pieces*64<<10); wrote > most {
		t.Errorf("an answer of %d bytes cost %d bytes on the disk, want at most %d", text.Len(), wrote, most)
	} else {
		t.Logf("an answer of %d bytes cost %d bytes on the disk", text.Len(), wrote)
	}
	m.Parts = append(m.Parts, chat.Part{
		Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "1", Tool: "t", Arguments: []byte("{}")},
	})
	s.Chats.Journal(m)
	if err := s.Close(); err != nil { // nothing ends the message
		t.Fatal(err)
	}
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	got, err := s.Chats.Message(t.Context(), c.ID, m.Seq)
	must(t, err)
	equal(t, "state", got.State, chat.Interrupted)
	equal(t, "parts", got.Parts, m.Parts)
	got.State = chat.Streaming
	must(t, replace(t.Context(), s, got))
	got.Parts = got.Parts[:1] // no continuation of what was written
	s.Chats.Journal(got)
	got.Parts[0].Text = "another"
	s.Chats.Journal(got)
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	if got, err = s.Chats.Message(t.Context(), c.ID, m.Seq); err != nil || len(got.Parts) != 1 ||
		got.Parts[0].Text != "another" {
		t.Errorf("after a change of what was said: %+v, %v", got.Parts, err)
	}
}

func TestAnAnswerWhoseToolWasRunningIsMarkedAsInterrupted(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "")
	m := chat.Message{
		Conversation: c.ID, Role: chat.RoleAssistant, State: chat.Complete, Open: true,
		Parts: []chat.Part{{Kind: chat.PartToolCall, Call: &chat.ToolCall{ID: "1", Tool: "slow", Arguments: []byte("{}")}}},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	before, err := s.Chats.Conversation(t.Context(), c.ID)
	must(t, err)
	putCall(t, s, chat.CallRecord{
		ToolName: "slow", Conversation: c.ID, ResponseID: m.Seq, Status: chat.CallRunning, Started: time.Now(),
		Timestamp: time.Now(),
	})
	putCall(t, s, chat.CallRecord{ToolName: "a plugin's own", Status: chat.CallRunning, Timestamp: time.Now()})
	must(t, s.Close())
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	got, err := s.Chats.Message(t.Context(), c.ID, m.Seq)
	must(t, err)
	equal(t, "reason", got.Reason, chat.EndInterrupted)
	equal(t, "state, so that a model still hears of the call", got.State, chat.Complete)
	after, err := s.Chats.Conversation(t.Context(), c.ID)
	if err != nil || after.Revision == before.Revision {
		t.Errorf("a window would not see it: revision %d, %v", after.Revision, err)
	}
}

func TestATurnCutOffBetweenItsMessagesIsMarkedAtTheLastOfThem(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	add := func(c chat.Conversation, m chat.Message) chat.Message {
		t.Helper()
		m.Conversation, m.State = c.ID, chat.Complete
		must(t, s.Chats.Append(t.Context(), &m))
		return m
	}
	asked, answered, stopped, other := newChat(t, s, "asked"), newChat(t, s,
		"answered"), newChat(t, s, "stopped"), newChat(t, s, "other")
	question := add(asked, chat.Message{Role: chat.RoleUser, Open: true})

	said := add(answered, chat.Message{Role: chat.RoleUser, Open: true})
	call := add(answered, chat.Message{Role: chat.RoleAssistant, Parent: said.Seq, Open: true})
	result := add(answered, chat.Message{Role: chat.RoleTool, Parent: call.Seq, Open: true})

	unsaid := add(stopped, chat.Message{Role: chat.RoleUser, Open: true})
	unsaid.Open, unsaid.Reason = false, chat.EndStopped
	must(t, replace(t.Context(), s, unsaid))
	first := add(other, chat.Message{Role: chat.RoleUser, Open: true})
	done := add(other, chat.Message{Role: chat.RoleAssistant, Parent: first.Seq, Reason: chat.EndDone})
	note := add(other, chat.Message{Role: chat.RoleUser, Parent: done.Seq}) // a plugin's, that no turn answers
	must(t, s.Close())

	for range 2 { // the second finds nothing more to mark
		s = storetest.OpenWith(t, store.Options{Dir: dir})
		for name, want := range map[string]struct {
			m      chat.Message
			reason chat.EndReason
		}{
			"a question without its first word": {question, chat.EndInterrupted},
			"results that nothing came after":   {result, chat.EndInterrupted},
			"a call that has its results":       {call, ""},
			"one stopped before its first word": {unsaid, chat.EndStopped},
			"a question that was answered":      {first, ""},
			"an answer that was done":           {done, chat.EndDone},
			"a message of no turn":              {note, ""},
		} {
			got, err := s.Chats.Message(t.Context(), want.m.Conversation, want.m.Seq)
			must(t, err)
			equal(t, name, got.Reason, want.reason)
		}
		must(t, s.Close())
	}
}
