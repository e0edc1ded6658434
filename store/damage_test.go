package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/test/testkit"
	"conclave/store"
	"conclave/store/storetest"
)

var must = testkit.Must

const file = "conclave.db"

// filled makes a store with a few chats, closes it (which makes the daily copy
// when withCopy is set) and returns its folder.
func filled(t *testing.T, now *clock, withCopy bool) string {
	t.Helper()
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	for i := range 3 {
		c := newChat(t, s, fmt.Sprint("chat ", i))
		for j := range 40 {
			say(t, s, c.ID, chat.MessageSeq(j), chat.RoleUser, strings.Repeat("words ", 20))
		}
	}
	storetest.Check(t, s)
	must(t, s.Close())
	if !withCopy {
		must(t, os.RemoveAll(filepath.Join(dir, "backups")))
	}
	return dir
}

// damages are ways a file goes bad.
var damages = map[string]func([]byte) []byte{
	"random bytes":     func(b []byte) []byte { return randomBytes(len(b)) },
	"a text":           func([]byte) []byte { return []byte("hello") },
	"empty":            func([]byte) []byte { return nil },
	"cut to one page":  func(b []byte) []byte { return b[:4096] },
	"cut in half":      func(b []byte) []byte { return b[:usedPages(b)*4096/2] },
	"cut by one page":  func(b []byte) []byte { return b[:usedPages(b)*4096-4096] },
	"both heads gone":  func(b []byte) []byte { return append(make([]byte, 8192), b[8192:]...) },
	"zeros in between": func(b []byte) []byte { clear(b[8192:]); return b },
	"noise in between": func(b []byte) []byte { copy(b[8192:], randomBytes(len(b)-8192)); return b },
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(b)
	return b
}

// usedPages returns the number of pages that the newer head says there are.
func usedPages(b []byte) int {
	return max(int(b[16+40])|int(b[16+41])<<8, int(b[4096+16+40])|int(b[4096+16+41])<<8)
}

func TestADamagedFileIsSetAsideAndTheNewestGoodCopyOffered(t *testing.T) {
	for name, damage := range damages {
		t.Run(name, func(t *testing.T) {
			now := newClock()
			dir := filled(t, now, true)
			path := filepath.Join(dir, file)
			whole, err := os.ReadFile(path)
			must(t, err)
			bad := damage(bytes.Clone(whole))
			must(t, os.WriteFile(path, bad, 0o600))
			now.add(time.Hour)
			var aside string
			for range 2 { // the choice stays open
				_, err = store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
				f := kind(t, err, fault.Damaged)
				aside = filepath.Join(dir, "conclave.db.damaged-20261121T100000Z")
				if !strings.Contains(f.Message, filepath.Base(aside)) || !strings.Contains(f.Hint, "conclave restore") {
					t.Errorf("the error offers nothing: %s %s", f.Message, f.Hint)
				}
			}
			kept, err := os.ReadFile(aside)
			if err != nil || !bytes.Equal(kept, bad) {
				t.Errorf("what was set aside differs from what was there: %v", err)
			}
			copies, err := store.Recover(t.Context(), dir)
			if err != nil || len(copies) != 1 || copies[0].Problem != "" || copies[0].Conversations != 3 {
				t.Fatalf("copies: %+v, %v", copies, err)
			}
			restore(t, dir, copies[0].Path, now.at)
			s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
			page, err := s.Chats.List(t.Context(), chat.ListOptions{})
			if err != nil || page.Total != 3 {
				t.Errorf("chats in the restored store: %d, %v", page.Total, err)
			}
		})
	}
}

func TestWithoutACopyTheNextStartIsEmptyAndTheDamagedFileStays(t *testing.T) {
	now := newClock()
	dir := filled(t, now, false)
	must(t, os.WriteFile(filepath.Join(dir, file), []byte("gone"), 0o600))
	_, err := store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
	if f := kind(t, err, fault.Damaged); !strings.Contains(f.Hint, "empty store") {
		t.Errorf("hint: %s", f.Hint)
	}
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	newChat(t, s, "a new beginning")
	if kept, err := os.ReadFile(filepath.Join(dir, "conclave.db.damaged-20261121T090000Z")); err != nil ||
		string(kept) != "gone" {
		t.Errorf("the damaged file: %q, %v", kept, err)
	}
}

// TestDamageInALargeStoreStopsItBeforeAnythingIsWrittenOverIt meets the damage
// while the store is in use, since a large file is not read whole at the start.
func TestDamageInALargeStoreStopsItBeforeAnythingIsWrittenOverIt(t *testing.T) {
	now := newClock()
	dir := filled(t, now, true)
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	c := newChat(t, s, "large")
	for i := range 8 {
		say(t, s, c.ID, chat.MessageSeq(i), chat.RoleUser, string(bytes.Repeat([]byte("x"), store.InspectLimit/4)))
	}
	must(t, s.Close())
	path := filepath.Join(dir, file)
	b, err := os.ReadFile(path)
	must(t, err)
	for at := 8192; at+4096 <= len(b); at += 4096 { // leaf pages (flag 2) that go on in others: the long messages
		if b[at+8] == 2 && b[at+12]|b[at+13] != 0 {
			copy(b[at:at+16], randomBytes(16))
		}
	}
	must(t, os.WriteFile(path, b, 0o600))
	s, err = store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
	if err != nil {
		t.Fatalf("a large store is opened without reading it all: %v", err)
	}
	_, err = s.Chats.Path(t.Context(), c.ID)
	kind(t, err, fault.Damaged)
	kind(t, s.Chats.Append(t.Context(), &chat.Message{Conversation: c.ID}), fault.Damaged)
	kind(t, s.Calls.PutCall(t.Context(), &chat.CallRecord{ToolName: "t"}), fault.Damaged)
	if err := s.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, b) {
		t.Errorf("the damaged file was written to: %v", err)
	}
	_, err = store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
	if f := kind(t, err, fault.Damaged); !strings.Contains(f.Message, "set aside") {
		t.Errorf("the next start: %s", f.Message)
	}
}

func TestADamagedRecordDoesNotStopTheOthers(t *testing.T) {
	now := newClock()
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	c := newChat(t, s, "one bad message")
	say(t, s, c.ID, 0, chat.RoleUser, "good")
	say(t, s, c.ID, 1, chat.RoleAssistant, "ZZZZ bad")
	say(t, s, c.ID, 2, chat.RoleUser, "good again")
	must(t, s.Close())
	path := filepath.Join(dir, file)
	b, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, bytes.ReplaceAll(b, []byte(`"ZZZZ bad"`), []byte(`"ZZZZ bad\`)), 0o600))
	s, err = store.Open(t.Context(), store.Options{Dir: dir, Now: now.now})
	must(t, err)
	defer s.Close()
	got, err := s.Chats.Path(t.Context(), c.ID)
	must(t, err)
	equal(t, "texts", texts(got), []string{"good", "", "good again"})
	if got[1].State != chat.Failed || got[1].Error == nil || got[1].Role != chat.RoleAssistant {
		t.Errorf("the damaged message: %+v", got[1])
	}
	if problems, err := s.Check(t.Context()); err != nil || len(problems) == 0 {
		t.Errorf("Check found %v, %v", problems, err)
	}
}

func TestADailyCopyIsMadeOnceADayAndFiveAreKept(t *testing.T) {
	now := newClock()
	dir := filled(t, now, true)
	for day := range 8 {
		for range 2 {
			s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
			newChat(t, s, fmt.Sprint("day ", day))
			must(t, s.Close())
			now.add(time.Hour)
		}
		now.add(22 * time.Hour)
	}
	copies, err := store.Recover(t.Context(), dir)
	must(t, err)
	if len(copies) != 5 {
		t.Fatalf("got %d copies, want 5", len(copies))
	}
	for i, c := range copies {
		if c.Problem != "" || i > 0 && !c.Made.Before(copies[i-1].Made) {
			t.Errorf("copy %d: %+v", i, c)
		}
		if info, err := os.Stat(c.Path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s: %v, %v", c.Path, info.Mode(), err)
		}
	}
}

// restore restores a copy.
func restore(t *testing.T, dir, path string, now time.Time) store.Restored {
	t.Helper()
	done, err := store.RestoreCopy(t.Context(), dir, path, now, store.RestoreOptions{})
	must(t, err)
	return done
}

func TestABackupIsAWholeStoreThatCanBeRestored(t *testing.T) {
	now := newClock()
	s := storetest.OpenWith(t, now.options())
	c := newChat(t, s, "old")
	s.Chats.SaveDraft(c.ID, "pending")
	backup := filepath.Join(t.TempDir(), "backup.db")
	_, err := s.Backup(t.Context(), backup)
	must(t, err)
	newChat(t, s, "new")
	must(t, s.Close())
	restore(t, s.Dir(), backup, now.at)
	kept, err := filepath.Glob(filepath.Join(s.Dir(), "conclave.db.replaced-*"))
	if err != nil || len(kept) != 1 {
		t.Errorf("the store that was replaced: %v, %v", kept, err)
	}
	s = storetest.OpenWith(t, store.Options{Dir: s.Dir(), Now: now.now})
	page, err := s.Chats.List(t.Context(), chat.ListOptions{})
	if err != nil || page.Total != 1 || page.Conversations[0].Draft != "pending" {
		t.Errorf("restored: %+v, %v", page, err)
	}
	must(t, s.Close())
	must(t, os.WriteFile(backup, []byte("no store"), 0o600))
	_, err = store.RestoreCopy(t.Context(), s.Dir(), backup, now.at, store.RestoreOptions{})
	kind(t, err, fault.Damaged)
}

func TestFoldersThatCannotHoldAStoreAreNamed(t *testing.T) {
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	must(t, os.WriteFile(taken, nil, 0o600))
	odd := filepath.Join(dir, "odd")
	must(t, os.MkdirAll(filepath.Join(odd, file), 0o700))
	for name, folder := range map[string]string{
		"a file": taken, "below a file": filepath.Join(taken, "x"), "the store is a folder": odd,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := store.Open(t.Context(), store.Options{Dir: folder})
			if f := kind(t, err, fault.Unavailable); !strings.Contains(f.Message, folder) || f.Hint == "" {
				t.Errorf("the error does not help: %s %s", f.Message, f.Hint)
			}
		})
	}
	_, err := store.Open(t.Context(), store.Options{})
	kind(t, err, fault.Invalid)
}

func TestWhatTheStoreMakesIsForItsOwnerAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no such modes")
	}
	now := newClock()
	dir := filepath.Join(t.TempDir(), "new", "data")
	s := storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	newChat(t, s, "")
	must(t, s.Media.PutMedia(t.Context(), &chat.Media{Data: []byte("x")}))
	must(t, s.Close())
	must(t, os.Chmod(filepath.Join(dir, file), 0o644))
	storetest.OpenWith(t, store.Options{Dir: dir, Now: now.now})
	n := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		n++
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has the mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || n < 6 {
		t.Errorf("%d files, %v", n, err)
	}
}

func TestAFolderWithWhatARestoreLeftIsNotTakenForANewOne(t *testing.T) {
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	fresh := func(t *testing.T) (dir, backup string) {
		dir = t.TempDir()
		s := storetest.OpenWith(t, store.Options{Dir: dir})
		must(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{ID: "c", Title: "kept"}))
		backup = filepath.Join(t.TempDir(), "copy.db")
		_, err := s.Backup(t.Context(), backup)
		must(t, errors.Join(err, s.Close()))
		return dir, backup
	}
	t.Run("a restore keeps what it replaces", func(t *testing.T) {
		dir, backup := fresh(t)
		restore(t, dir, backup, now)
		if _, err := os.Stat(filepath.Join(dir, "conclave.db.replaced-20261121T090000Z")); err != nil {
			t.Error(err)
		}
	})
	t.Run("only the replaced store is there", func(t *testing.T) {
		dir, _ := fresh(t)
		kept := filepath.Join(dir, "conclave.db.replaced-20261121T090000Z")
		must(t, os.Rename(filepath.Join(dir, "conclave.db"), kept))
		_, err := store.Open(t.Context(), store.Options{Dir: dir})
		f := kind(t, err, fault.Damaged)
		if !strings.Contains(f.Message, "with 1 chat ") || !strings.HasSuffix(f.Hint, "conclave restore "+kept) {
			t.Errorf("it says %q, %q", f.Message, f.Hint)
		}
		restore(t, dir, kept, now) // as the hint says
		s := storetest.OpenWith(t, store.Options{Dir: dir})
		if _, err := s.Chats.Conversation(t.Context(), "c"); err != nil {
			t.Error(err)
		}
	})
	t.Run("only a copy that was being restored is there", func(t *testing.T) {
		dir := t.TempDir()
		restoring := filepath.Join(dir, "conclave.db.restoring")
		must(t, os.WriteFile(restoring, []byte("half"), 0o600))
		_, err := store.Open(t.Context(), store.Options{Dir: dir})
		if f := kind(t, err, fault.Damaged); !strings.Contains(f.Hint, "conclave restore") ||
			!strings.Contains(f.Hint, restoring) {
			t.Errorf("it says %q, %q", f.Message, f.Hint)
		}
		if err := os.Remove(restoring); err != nil { // as the hint says
			t.Fatal(err)
		}
		storetest.OpenWith(t, store.Options{Dir: dir})
	})
	t.Run("what was half-made beside a store is removed", func(t *testing.T) {
		dir, _ := fresh(t)
		for _, name := range []string{
			"conclave.db.restoring", "conclave.db.new", "backups/conclave-20260102T030405Z.db.new",
		} {
			must(t, errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700),
				os.WriteFile(filepath.Join(dir, name), nil, 0o600)))
		}
		storetest.OpenWith(t, store.Options{Dir: dir})
		for _, pattern := range []string{"*.restoring", "*.new", "backups/*.new"} {
			if left, _ := filepath.Glob(filepath.Join(dir, pattern)); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		}
	})
}
