package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"
)

// inRounds is a store with a chat whose turn has made some rounds: the message of each asks for a call that
// has ended by the next one.
type inRounds struct {
	*store.Store
	t    *testing.T
	chat chat.ConversationID
	made []string // the texts of its messages
	call chat.CallRecord
}

// withRounds runs a test where time stands still, so that nothing is committed because time passed.
func withRounds(t *testing.T, test func(t *testing.T, r *inRounds)) {
	synctest.Test(t, func(t *testing.T) {
		s := storetest.Open(t)
		test(t, &inRounds{Store: s, t: t, chat: newChat(t, s, "").ID})
	})
}

func (r *inRounds) round(text string) {
	r.t.Helper()
	if r.call.ID != 0 {
		r.call.Status, r.call.Ended = chat.CallOK, time.Now()
		must(r.t, r.Calls.PutCall(r.t.Context(), &r.call))
	}
	r.call = chat.CallRecord{Conversation: r.chat, ToolName: "t", Status: chat.CallAsked, Timestamp: time.Now()}
	must(r.t, r.Calls.PutCall(r.t.Context(), &r.call))
	must(r.t, r.Chats.Append(r.t.Context(), &chat.Message{
		Conversation: r.chat, Parent: chat.MessageSeq(len(r.made)), Role: chat.RoleAssistant, State: chat.Complete,
		Parts: []chat.Part{{Kind: chat.PartText, Text: text}}, Open: true,
	}))
	r.made = append(r.made, text)
}

// files returns a folder with the files as they are now, as a kill would leave them. change may change those
// that were written ahead.
func (r *inRounds) files(change func(ahead []byte)) string {
	r.t.Helper()
	dir := r.t.TempDir()
	for _, name := range []string{"conclave.db", "conclave.db.ahead"} {
		raw, err := os.ReadFile(filepath.Join(r.Dir(), name))
		must(r.t, err)
		if change != nil && strings.HasSuffix(name, ".ahead") {
			change(raw)
		}
		must(r.t, os.WriteFile(filepath.Join(dir, name), raw, 0o600))
	}
	return dir
}

// killed returns a store that is opened with these files.
func (r *inRounds) killed(change func(ahead []byte)) *store.Store {
	r.t.Helper()
	return storetest.OpenWith(r.t, store.Options{Dir: r.files(change)})
}

// has compares the messages of a store with those that were made, and looks for a call to each.
func (r *inRounds) has(s *store.Store, made []string) {
	r.t.Helper()
	path, err := s.Chats.Path(r.t.Context(), r.chat)
	must(r.t, err)
	equal(r.t, "messages", texts(path), made)
	calls, err := s.Calls.Calls(r.t.Context(), chat.CallFilter{Conversation: r.chat})
	must(r.t, err)
	equal(r.t, "calls", len(calls), len(made))
}

func TestRoundsWrittenAheadOfTheStoreAreThereAfterAKill(t *testing.T) {
	withRounds(t, func(t *testing.T, r *inRounds) {
		before := r.Commits()
		for i := range 3 {
			r.round(strconv.Itoa(i))
		}
		equal(t, "commits of three rounds", r.Commits()-before, 0)
		r.has(r.killed(nil), r.made)
		last := func(ahead []byte) int { return bytes.LastIndex(ahead, []byte(`"text":"2"`)) }
		r.has(r.killed(func(ahead []byte) { ahead[last(ahead)]++ }), r.made[:2])
		r.has(r.killed(func(ahead []byte) { clear(ahead[last(ahead):]) }), r.made[:2])

		_, err := r.Chats.Path(t.Context(), r.chat)
		must(t, err)
		equal(t, "commits once somebody has read", r.Commits()-before, 1)
		r.has(r.killed(nil), r.made) // not a second time
		r.round("after a commit")
		r.has(r.killed(nil), r.made)
		r.round(strings.Repeat("long ", 100_000))
		equal(t, "commits after a round that does not fit", r.Commits()-before, 2)
		r.has(r.Store, r.made)
	})
}

func TestAWriteThatFailsTakesNoRoundWithIt(t *testing.T) {
	withRounds(t, func(t *testing.T, r *inRounds) {
		r.round("first")
		nowhere := chat.Message{Conversation: "none", Role: chat.RoleUser, Open: true}
		kind(t, r.Chats.Append(t.Context(), &nowhere), fault.NotFound)
		r.round("second")
		nowhere.Open = false
		kind(t, r.Chats.Append(t.Context(), &nowhere), fault.NotFound)
		r.has(r.killed(nil), r.made)
		r.has(r.Store, r.made)
	})
}

func TestACopyThatIsRestoredGetsNoRoundsOfTheStoreThatItReplaces(t *testing.T) {
	withRounds(t, func(t *testing.T, r *inRounds) {
		r.round("in the copy")
		path := filepath.Join(t.TempDir(), "copy.db")
		_, err := r.Backup(t.Context(), path)
		must(t, err)
		copied := r.made
		r.round("after it")
		compacted := r.files(nil)
		_, _, err = store.Compact(t.Context(), compacted, time.Now())
		must(t, err)
		r.has(storetest.OpenWith(t, store.Options{Dir: compacted}), r.made)
		dir := r.files(nil)
		done, err := store.RestoreCopy(t.Context(), dir, path, time.Now(), store.RestoreOptions{})
		must(t, err)
		r.has(storetest.OpenWith(t, store.Options{Dir: dir}), copied)
		back := t.TempDir()
		_, err = store.RestoreCopy(t.Context(), back, done.Replaced, time.Now(), store.RestoreOptions{})
		must(t, err)
		r.has(storetest.OpenWith(t, store.Options{Dir: back}), r.made)
	})
}

func TestWhereNothingCanBeWrittenAheadEachRoundIsCommitted(t *testing.T) {
	withRounds(t, func(t *testing.T, r *inRounds) {
		must(t, os.Mkdir(filepath.Join(r.Dir(), "conclave.db.ahead"), 0o700))
		before := r.Commits()
		r.round("first")
		r.round("second")
		equal(t, "commits", r.Commits()-before, 2)
		r.has(r.Store, r.made)
	})
}
