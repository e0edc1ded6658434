//go:build !windows

package store_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"
)

// elsewhere makes a store whose file is on another disk, behind a link.
func elsewhere(t *testing.T) (dir, disk string) {
	t.Helper()
	dir, disk = filepath.Join(t.TempDir(), "data"), filepath.Join(t.TempDir(), "disk")
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	newChat(t, s, "kept")
	must(t, s.Close())
	must(t, os.Mkdir(disk, 0o700))
	must(t, os.Rename(filepath.Join(dir, file), filepath.Join(disk, file)))
	must(t, os.Symlink(filepath.Join(disk, file), filepath.Join(dir, file)))
	return dir, disk
}

func isLink(t *testing.T, path string) {
	t.Helper()
	if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("%s is no link any more: %v, %v", path, info, err)
	}
}

func chatsIn(t *testing.T, dir string) int {
	t.Helper()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	page, err := s.Chats.List(t.Context(), chat.ListOptions{})
	must(t, errors.Join(err, s.Close()))
	return page.Total
}

func TestAStoreOnADiskThatIsAwayIsNotReplaced(t *testing.T) {
	dir, disk := elsewhere(t)
	equal(t, "chats behind the link", chatsIn(t, dir), 1)
	backups, err := store.Recover(t.Context(), dir)
	if err != nil || len(backups) == 0 {
		t.Fatal(backups, err)
	}
	must(t, os.Rename(disk, disk+".away"))
	refused := func(what string, err error) {
		t.Helper()
		f := kind(t, err, fault.Unavailable)
		if !strings.Contains(f.Message, disk) || !strings.Contains(f.Message, "cannot be reached now") {
			t.Errorf("%s: %s", what, f.Message)
		}
		isLink(t, filepath.Join(dir, file))
	}
	_, err = store.Open(t.Context(), store.Options{Dir: dir})
	refused("open", err)
	_, _, err = store.Compact(t.Context(), dir, time.Now())
	refused("compact", err)
	_, err = store.RestoreCopy(t.Context(), dir, backups[0].Path, time.Now(), store.RestoreOptions{})
	refused("restore", err)
	must(t, os.Rename(disk+".away", disk))
	equal(t, "chats when the disk is back", chatsIn(t, dir), 1)
}

func TestALinkedStoreStaysLinkedWhenItIsCompactedAndRestored(t *testing.T) {
	dir, disk := elsewhere(t)
	_, _, err := store.Compact(t.Context(), dir, time.Now())
	must(t, err)
	isLink(t, filepath.Join(dir, file))
	equal(t, "chats after compacting", chatsIn(t, dir), 1)
	backups, err := store.Recover(t.Context(), dir)
	must(t, err)
	done := restore(t, dir, backups[0].Path, time.Now())
	isLink(t, filepath.Join(dir, file))
	if info, err := os.Lstat(done.Replaced); err != nil || !info.Mode().IsRegular() {
		t.Errorf("what was replaced: %v, %v", info, err)
	}
	equal(t, "chats after restoring", chatsIn(t, dir), 1)
	left, err := os.ReadDir(disk)
	if err != nil || len(left) != 1 {
		t.Errorf("on the disk are %v, %v", left, err)
	}
}

func TestADataFolderThatIsAwayIsNamed(t *testing.T) {
	home := t.TempDir()
	link := filepath.Join(home, "data")
	must(t, os.Symlink(filepath.Join(home, "disk", "conclave"), link))
	for _, dir := range []string{link, filepath.Join(link, "below")} {
		_, err := store.Open(t.Context(), store.Options{Dir: dir})
		f := kind(t, err, fault.Unavailable)
		if !strings.Contains(f.Message, "cannot be reached now") || !strings.Contains(f.Message, "disk/conclave") {
			t.Errorf("%s: %s", dir, f.Message)
		}
	}
	_, _, err := store.Compact(t.Context(), filepath.Join(home, "nothing"), time.Now())
	if f := kind(t, err, fault.NotFound); !strings.Contains(f.Message, "There is no store in") {
		t.Error(f.Message)
	}
}

func TestAPipeInPlaceOfAStoreIsRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, file)
	must(t, syscall.Mkfifo(pipe, 0o600))
	_, err := store.Open(t.Context(), store.Options{Dir: dir})
	if f := kind(t, err, fault.Unavailable); !strings.Contains(f.Message, "is not an ordinary file") {
		t.Error(f.Message)
	}
	_, _, err = store.Compact(t.Context(), dir, time.Now())
	kind(t, err, fault.Unavailable)
	must(t, os.MkdirAll(filepath.Join(dir, "backups"), 0o700))
	must(t, os.Rename(pipe, filepath.Join(dir, "backups", "conclave-000001-20260101T000000Z.db")))
	copies, err := store.Recover(t.Context(), dir)
	if err != nil || len(copies) != 1 || !strings.Contains(copies[0].Problem, "not an ordinary file") {
		t.Errorf("copies: %+v, %v", copies, err)
	}
}

func TestAStoreInAFolderThatCannotBeWrittenIsRead(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("nothing is closed to root; the script of the program does it on a read-only mount")
	}
	dir := t.TempDir()
	s := storetest.OpenWith(t, store.Options{Dir: dir})
	c := newChat(t, s, "kept")
	say(t, s, c.ID, 0, chat.RoleUser, "words")
	must(t, s.Close())
	lock := filepath.Join(dir, "conclave.lock")
	must(t, errors.Join(os.Chmod(lock, 0o400), os.Chmod(filepath.Join(dir, file), 0o400), os.Chmod(dir, 0o500)))
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	_, err := store.Open(t.Context(), store.Options{Dir: dir})
	kind(t, err, fault.Unavailable)
	s, err = store.Open(t.Context(), store.Options{Dir: dir, Reads: true})
	must(t, err)
	defer s.Close()
	path, err := s.Chats.Path(t.Context(), c.ID)
	if err != nil || len(path) != 1 || !s.ReadOnly() {
		t.Errorf("read: %v, %v, %v", path, err, s.ReadOnly())
	}
	kind(t, s.Chats.CreateConversation(t.Context(), &chat.Conversation{}), fault.Unavailable)
	if problems, err := s.Check(t.Context()); err != nil || len(problems) > 0 {
		t.Errorf("checked: %v, %v", problems, err)
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if _, err := s.Backup(t.Context(), backup); err != nil {
		t.Error(err)
	}
}
