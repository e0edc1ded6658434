package store_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"

	"go.etcd.io/bbolt"
)

func TestAStoreThatWasLargeOnceIsCompacted(t *testing.T) {
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	keep := newChat(t, s, "kept")
	m := chat.Message{
		Conversation: keep.ID, Role: chat.RoleUser, Parts: []chat.Part{{Kind: chat.PartText, Text: "what was said"}},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	large := newChat(t, s, "large")
	for i := range 20 {
		m := chat.Message{
			Conversation: large.ID, Parent: chat.MessageSeq(i), Role: chat.RoleUser,
			Parts: []chat.Part{{Kind: chat.PartText, Text: strings.Repeat("much", 1<<20)}},
		}
		must(t, s.Chats.Append(t.Context(), &m))
	}
	token, err := s.Chats.DeleteConversation(t.Context(), large.ID)
	must(t, errors.Join(err, s.Chats.Purge(t.Context(), token)))
	space, err := s.Space(t.Context())
	if err != nil || !space.Wasteful() {
		t.Errorf("it does not say that compacting would help: %+v, %v", space, err)
	}
	lineage, _ := s.Search.Lineage(t.Context())
	_, _, err = store.Compact(t.Context(), dir, time.Now())
	kind(t, err, fault.Locked)
	must(t, s.Close())
	before, after, err := store.Compact(t.Context(), dir, time.Now())
	if err != nil || before < 80<<20 || after > 2<<20 {
		t.Errorf("compacted from %d to %d, %v", before, after, err)
	}
	if info, err := os.Stat(filepath.Join(dir, file)); err != nil || info.Size() != after || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	s = storetest.OpenWith(t, store.Options{Dir: dir})
	if path, err := s.Chats.Path(t.Context(), keep.ID); err != nil || len(path) != 1 ||
		chat.TextOf(path[0].Parts) != "what was said" {
		t.Errorf("what was kept: %v, %v", path, err)
	}
	if now, _ := s.Search.Lineage(t.Context()); now != lineage {
		t.Error("the search index would be made anew")
	}
	if space, err := s.Space(t.Context()); err != nil || space.Wasteful() {
		t.Errorf("it still says that compacting would help: %+v, %v", space, err)
	}
}

func TestTheFirstDayHasAUsefulCopy(t *testing.T) {
	now := newClock()
	dir := t.TempDir()
	copies := func() (chats []int) {
		t.Helper()
		found, err := store.Recover(t.Context(), dir)
		must(t, err)
		for _, c := range found {
			chats = append(chats, c.Conversations)
		}
		return chats
	}
	// run opens the store, has do work in it, and closes it, as a command does.
	run := func(do func(s *store.Store)) {
		t.Helper()
		s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
		do(s)
		must(t, s.Close())
		now.add(time.Minute)
	}
	run(func(s *store.Store) {
		if _, err := s.Settings.PutSettings(t.Context(), json.RawMessage(`{}`), 0); err != nil {
			t.Fatal(err)
		}
	})
	equal(t, "with settings alone", copies(), []int(nil))
	var c chat.Conversation
	run(func(s *store.Store) { c = newChat(t, s, "first") })
	equal(t, "with the first chat", copies(), []int{1})
	run(func(s *store.Store) { newChat(t, s, "second") })
	equal(t, "soon after", copies(), []int{1})
	run(func(s *store.Store) {
		for i := range 20 {
			m := chat.Message{
				Conversation: c.ID, Parent: chat.MessageSeq(i), Role: chat.RoleUser,
				Parts: []chat.Part{{Kind: chat.PartText, Text: "x"}},
			}
			must(t, s.Chats.Append(t.Context(), &m))
		}
	})
	equal(t, "after 20 messages", copies(), []int{2, 1})
	now.add(2 * time.Hour)
	run(func(s *store.Store) { newChat(t, s, "third") })
	equal(t, "later that day", copies(), []int{2, 1})

	dir = t.TempDir()
	run(func(s *store.Store) { newChat(t, s, "first") })
	now.add(time.Hour)
	run(func(s *store.Store) { newChat(t, s, "second") })
	equal(t, "after the first hour", copies(), []int{2, 1})
}

// names are those of the copies in dir, newest first.
func names(t *testing.T, dir string) (all []string) {
	t.Helper()
	copies, err := store.Recover(t.Context(), dir)
	must(t, err)
	for _, c := range copies {
		all = append(all, filepath.Base(c.Path))
	}
	return all
}

func TestCopiesWithADateToComeDoNotEndTheDailyCopies(t *testing.T) {
	now := newClock()
	dir := filled(t, now, true)
	copies, err := store.Recover(t.Context(), dir)
	must(t, err)
	raw, err := os.ReadFile(copies[0].Path)
	must(t, errors.Join(err, os.Remove(copies[0].Path)))
	for n := range 5 {
		name := fmt.Sprintf("conclave-2031010%dT000000Z.db", n+1)
		must(t, os.WriteFile(filepath.Join(dir, "backups", name), raw, 0o600))
	}
	for range 3 {
		s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
		newChat(t, s, "more")
		must(t, s.Close())
		now.add(time.Minute)
	}
	all := names(t, dir)
	if len(all) != 5 || !strings.HasPrefix(all[0], "conclave-000001-20261121") || strings.Contains(all[1], "000002") {
		t.Errorf("copies: %q", all)
	}
	if c, err := store.Recover(t.Context(), dir); err != nil || c[0].Conversations != 4 {
		t.Errorf("the newest: %+v, %v", c, err)
	}
}

func TestCopiesAreInOrderThoughTheClockWasSetBack(t *testing.T) {
	now := newClock()
	dir := filled(t, now, true)
	for _, shift := range []time.Duration{10 * 365 * 24 * time.Hour, -10 * 365 * 24 * time.Hour, 24 * time.Hour} {
		now.add(shift)
		s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
		newChat(t, s, "more")
		must(t, s.Close())
	}
	copies, err := store.Recover(t.Context(), dir)
	must(t, err)
	var chats []int
	for _, c := range copies {
		chats = append(chats, c.Conversations)
	}
	equal(t, "chats of the copies, newest first", chats, []int{6, 5, 4, 3})
}

// breakMessage makes one message of the store in dir one that cannot be read.
func breakMessage(t *testing.T, path string) {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, nil)
	must(t, err)
	must(t, errors.Join(db.Update(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte("messages"))
		k, _ := b.Cursor().First()
		return b.Put(k, []byte(`{"conversation":`))
	}), db.Close()))
}

func TestACopyWithADamagedRecordDoesNotReplaceTheWholeOnes(t *testing.T) {
	now := newClock()
	dir := filled(t, now, true)
	whole := names(t, dir)[0]
	breakMessage(t, filepath.Join(dir, file))
	for range 7 {
		now.add(24 * time.Hour)
		s, err := store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
		must(t, err)
		must(t, s.Close())
	}
	copies, err := store.Recover(t.Context(), dir)
	must(t, err)
	if len(copies) != 5 || copies[0].Whole() || copies[0].Unreadable != 1 || filepath.Base(copies[4].Path) != whole ||
		!copies[4].Whole() {
		t.Fatalf("copies: %+v", copies)
	}
	_, err = store.RestoreCopy(t.Context(), dir, copies[0].Path, now.at, store.RestoreOptions{})
	f := kind(t, err, fault.Damaged)
	if !strings.HasSuffix(f.Hint, "conclave restore "+copies[4].Path) ||
		!strings.Contains(f.Message, "1 record cannot be read") {
		t.Errorf("it says %s %s", f.Message, f.Hint)
	}
	must(t, os.Remove(copies[4].Path))
	equal(t, "unreadable, where no copy is whole", restore(t, dir, copies[0].Path, now.at).Unreadable, 1)
}

func TestABackupBringsTheMediaWithIt(t *testing.T) {
	now := newClock()
	s := storetest.OpenWith(t, now.options())
	c := newChat(t, s, "pictures")
	var ids []string
	for _, data := range []string{"a picture", "a lost one"} {
		m := chat.Media{Name: "p.png", MIME: "image/png", Data: []byte(data)}
		must(t, s.Media.PutMedia(t.Context(), &m))
		part := chat.Part{Kind: chat.PartMedia, Media: &m}
		message := chat.Message{Conversation: c.ID, Role: chat.RoleUser, Parts: []chat.Part{part}}
		must(t, s.Chats.Append(t.Context(), &message))
		ids = append(ids, m.ID)
	}
	lost, err := s.Media.MediaPath(ids[1])
	must(t, errors.Join(err, os.Remove(lost)))
	want := store.MediaReport{Files: 1, Missing: 1, Chats: 1}
	r, err := s.Media.CheckMedia(t.Context())
	must(t, err)
	equal(t, "checked", r, want)
	if n, err := s.Media.MissingMedia(t.Context(), c.ID); err != nil || n != 1 {
		t.Errorf("%d missing of the chat, %v", n, err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	r, err = s.Backup(t.Context(), backup)
	must(t, err)
	equal(t, "backed up", r, want)
	dir := filepath.Join(t.TempDir(), "data")
	done := restore(t, dir, backup, now.at)
	equal(t, "restored", done.Media, want)
	other := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	if data, err := other.Media.Media(t.Context(), ids[0]); err != nil || string(data) != "a picture" {
		t.Errorf("the picture: %q, %v", data, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "conclave.db.restoring")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil || bytes.Contains(raw, []byte("a picture")) {
		t.Errorf("the store holds the picture, too: %v", err)
	}
	equal(t, "missing, in words", r.Sentence(), "1 attached file of 1 chat is missing")
}

func TestDamageThatACheckFoundIsNotWrittenOver(t *testing.T) {
	now := newClock()
	dir := filled(t, now, true)
	path := filepath.Join(dir, file)
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	must(t, s.CreateMany(t.Context(), 8000)) // so large that not every page is looked at when it is opened
	must(t, s.Close())
	raw, err := os.ReadFile(path)
	must(t, err)
	if len(raw) <= 2<<20 {
		t.Fatalf("the store has %d bytes", len(raw))
	}
	clear(raw[1<<20 : 1<<20+4*os.Getpagesize()])
	must(t, os.WriteFile(path, raw, 0o600))
	s, err = store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
	if err == nil { // the pages are those that opening does not touch
		_, err = s.Check(t.Context())
		f := kind(t, err, fault.Damaged)
		if strings.Contains(f.Message+f.Err.Error(), "panic") {
			t.Errorf("it says %s: %v", f.Message, f.Err)
		}
		kind(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{}), fault.Damaged)
		must(t, s.Close())
		_, err = store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
	}
	if f := kind(t, err, fault.Damaged); !strings.Contains(f.Hint, "conclave restore") {
		t.Errorf("the next start says %s %s", f.Message, f.Hint)
	}
}
