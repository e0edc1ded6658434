package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/test/testkit"

	"go.etcd.io/bbolt"
)

var must = testkit.Must

// writeV1 writes a store as layout 1 was: records, and no index beside them.
func writeV1(t *testing.T, dir string) {
	t.Helper()
	db, err := bbolt.Open(filepath.Join(dir, fileName), 0o600, nil)
	must(t, err)
	err = db.Update(func(tx *bbolt.Tx) error {
		put := func(name, key string, value []byte) {
			b, err := tx.CreateBucketIfNotExists([]byte(name))
			if err == nil {
				err = b.Put([]byte(key), value)
			}
			must(t, err)
		}
		put("meta", "version", []byte{0, 0, 0, 0, 0, 0, 0, 1})
		put("from_a_plugin_nobody_knows", "k", []byte("v"))
		for c := range 3 {
			id := fmt.Sprintf("chat-%d", c)
			put("conversations", id, fmt.Appendf(nil,
				`{"id":%q,"title":"Chat %d","head":3,"last":3,"created":"2026-01-01T00:00:00Z","updated":"2026-01-0%dT00:00:00Z","revision":4,"pinned":%t}`,
				id, c, c+1, c == 1))
			for seq := range 3 {
				state := "complete"
				if c == 2 && seq == 2 {
					state = "streaming"
				}
				put("messages", id+"\x00\x00\x00\x00\x00\x00\x00\x00"+string(rune(seq+1)), fmt.Appendf(nil,
					`{"conversation":%q,"seq":%d,"parent":%d,"turn":"t","role":"user","state":%q,"parts":[{"kind":"text","text":"words %d"}],"created":"2026-01-01T00:00:00Z"}`,
					id, seq+1, seq, state, seq+1))
			}
		}
		put("tool_calls", "\x00\x00\x00\x00\x00\x00\x00\x05", []byte(
			`{"id":5,"conversation":"chat-0","turn":"t","tool_name":"add","tool_id":"math:add","status":"running","timestamp_utc":"2026-01-01T00:00:00Z","arguments":{}}`))
		put("settings", "settings", []byte(`{"revision":3,"value":{"theme":"dark"}}`))
		put("grants", "g", []byte(`{"id":"g","effect":"allow","plugin":"p"}`))
		return nil
	})
	must(t, errors.Join(err, db.Close()))
}

func TestAStoreOfLayout1IsBroughtForwardAfterACopy(t *testing.T) {
	dir := t.TempDir()
	writeV1(t, dir)
	before, err := os.ReadFile(filepath.Join(dir, fileName))
	must(t, err)
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	s, err := Open(t.Context(), Options{Dir: dir, Now: func() time.Time { return now }})
	must(t, err)
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("after the migration: %v, %v", problems, err)
	}
	page, err := s.Chats.List(t.Context(), chat.ListOptions{Pinned: chat.Without})
	if err != nil || page.Total != 2 || page.Conversations[0].ID != "chat-2" {
		t.Errorf("list: %+v, %v", page, err)
	}
	path, err := s.Chats.Path(t.Context(), "chat-2")
	if err != nil || len(path) != 3 || path[2].State != chat.Interrupted || chat.TextOf(path[0].Parts) != "words 1" {
		t.Errorf("path: %+v, %v", path, err)
	}
	calls, err := s.Calls.Calls(t.Context(), chat.CallFilter{Tool: "math:add"})
	if err != nil || len(calls) != 1 || calls[0].Status != chat.CallDied {
		t.Errorf("calls: %+v, %v", calls, err)
	}
	next := chat.CallRecord{ToolName: "t"}
	if err := s.Calls.PutCall(t.Context(), &next); err != nil || next.ID != 6 {
		t.Errorf("the next call has the id %d, %v", next.ID, err)
	}
	value, revision, err := s.Settings.Settings(t.Context())
	if err != nil || string(value) != `{"theme":"dark"}` || revision != 3 {
		t.Errorf("settings: %s, %d, %v", value, revision, err)
	}
	grants, err := s.Permissions.Rules(t.Context())
	if err != nil || len(grants) != 1 {
		t.Errorf("grants: %v, %v", grants, err)
	}
	unknown, err := s.Plugins.rawRecord(t.Context(), kind("from_a_plugin_nobody_knows"), "k")
	if err != nil || string(unknown) != "v" {
		t.Errorf("a bucket that nobody knows: %q, %v", unknown, err)
	}
	must(t, s.Close())

	backup := filepath.Join(dir, "backups", "conclave-v1-000001-20261121T090000Z.db")
	if c := checkCopy(backup); c.Problem != "" || c.Version != 1 || c.Conversations != 3 {
		t.Errorf("the copy: %+v", c)
	}
	after, err := os.ReadFile(backup)
	if err != nil || len(after) == 0 || !strings.Contains(string(after), "words 3") || len(after) > len(before) {
		t.Errorf("the copy has %d bytes, the store had %d: %v", len(after), len(before), err)
	}
}

func TestAFailedMigrationLeavesTheStoreAsItWas(t *testing.T) {
	dir := t.TempDir()
	writeV1(t, dir)
	good := migrations
	defer func() { migrations = good }()
	migrations = append([]migration{}, good...)
	migrations = append(migrations, migration{1, "fail", func(*bbolt.Tx) error { return errors.New("no") }})
	if _, err := Open(t.Context(), Options{Dir: dir}); err == nil || !strings.Contains(err.Error(), "as before") {
		t.Errorf("opened with a step that fails: %v", err)
	}
	if c := checkCopy(filepath.Join(dir, fileName)); c.Version != 1 || c.Problem != "" || c.Conversations != 3 {
		t.Errorf("the store: %+v", c)
	}
}

// newerStore makes a store that a Conclave of the next layout wrote, and which says that
// programs of the layout writer may write it; 0 says nothing of that.
func newerStore(t *testing.T, dir string, writer uint64) {
	t.Helper()
	s, err := Open(t.Context(), Options{Dir: dir})
	must(t, err)
	err = s.write(t.Context(), "test", func(tx *bbolt.Tx) error {
		meta := bucket(tx, bucketMeta)
		must(t, meta.Put(keyVersion, number(Layout+1)))
		if writer == 0 {
			return meta.Delete(keyWriter)
		}
		return meta.Put(keyWriter, number(writer))
	})
	must(t, errors.Join(err, s.Close()))
}

func TestAStoreOfANewerConclaveIsRefusedAndNotTouched(t *testing.T) {
	for _, writer := range []uint64{0, Layout + 1} {
		dir := t.TempDir()
		newerStore(t, dir, writer)
		path := filepath.Join(dir, fileName)
		before, err := os.ReadFile(path)
		must(t, err)
		_, err = Open(t.Context(), Options{Dir: dir})
		if f := fault.Of(err); f == nil || f.Kind != fault.Unavailable || !strings.Contains(f.Message, "newer Conclave") {
			t.Errorf("got %v", err)
		}
		if c := checkCopy(path); !strings.Contains(c.Problem, "a newer Conclave made it") {
			t.Errorf("as a copy: %+v", c)
		}
		after, err := os.ReadFile(path)
		if err != nil || string(after) != string(before) {
			t.Errorf("it was changed: %v", err)
		}
	}
}

func TestANewerConclaveCanLetAnOlderOneWrite(t *testing.T) {
	dir := t.TempDir()
	newerStore(t, dir, Layout)
	s, err := Open(t.Context(), Options{Dir: dir})
	must(t, err)
	must(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{}))
	must(t, s.Close())
	if c := checkCopy(filepath.Join(dir, fileName)); c.Problem != "" || c.Version != Layout+1 || c.Conversations != 1 {
		t.Errorf("the store: %+v", c)
	}
}

func TestAnotherProgramsFileIsRefusedAndNotTouched(t *testing.T) {
	dir := t.TempDir()
	db, err := bbolt.Open(filepath.Join(dir, fileName), 0o600, nil)
	if err == nil {
		err = db.Close()
	}
	must(t, err)
	_, err = Open(t.Context(), Options{Dir: dir})
	if f := fault.Of(err); f == nil || f.Kind != fault.Damaged || !strings.Contains(f.Hint, "not changed") {
		t.Errorf("got %v", err)
	}
}

func TestIndexesAreRebuiltAndMended(t *testing.T) {
	dir := t.TempDir()
	writeV1(t, dir)
	s, err := Open(t.Context(), Options{Dir: dir})
	must(t, err)
	defer s.Close()
	last, err := s.Search.LastChange(t.Context())
	must(t, err)
	err = s.write(t.Context(), "test", func(tx *bbolt.Tx) error {
		return errors.Join(
			bucket(tx, bucketOutline).Delete(messageKey{"chat-1", 2}.bytes()),
			bucket(tx, bucketByTool).Put(below("no such tool", 9), nil),
			bucket(tx, bucketByUpdated).Put(append(number(1), "chat-9"...), []byte{0}),
		)
	})
	must(t, err)
	problems, err := s.Check(t.Context())
	if err != nil || len(problems) < 4 {
		t.Errorf("Check found only %q, %v", problems, err)
	}
	must(t, s.write(t.Context(), "test", deriveIndexes))
	problems, err = s.Check(t.Context())
	if err != nil || len(problems) > 0 {
		t.Errorf("made anew: %q, %v", problems, err)
	}
	n := 0
	if _, err := s.Search.Changes(t.Context(), last, 1000,
		func(uint64, chat.ConversationID, chat.MessageSeq) error { n++; return nil }); err != nil || n != 12 {
		t.Errorf("%d changes for the full-text index, want 12: %v", n, err)
	}
}

func TestAPanicThatIsNotDamageGoesOn(t *testing.T) {
	s, err := Open(t.Context(), Options{Dir: t.TempDir()})
	must(t, err)
	c := chat.Conversation{}
	must(t, s.Chats.CreateConversation(t.Context(), &c))
	draft := "kept"
	s.Chats.SaveDraft(c.ID, draft)
	func() {
		defer func() {
			if r := recover(); r != "a bug" {
				t.Errorf("recovered %v", r)
			}
		}()
		_ = s.Chats.UpdateConversation(t.Context(), c.ID, func(*chat.Conversation) { panic("a bug") })
	}()
	if err := s.Chats.UpdateConversation(t.Context(), c.ID, func(c *chat.Conversation) { c.Title = "on" }); err != nil {
		t.Errorf("the store after a bug in a caller: %v", err)
	}
	if c, err := s.Chats.Conversation(t.Context(), c.ID); err != nil || c.Draft != draft || c.Title != "on" {
		t.Errorf("what was pending: %+v, %v", c, err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}
