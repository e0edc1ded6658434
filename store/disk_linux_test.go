package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/store"
)

// smallDisk mounts a file system of 4 MiB, which only root may.
func smallDisk(t *testing.T, flags uintptr) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", flags, "size=4m,mode=700"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func TestNothingIsLostWhenTheDiskIsFullForAWhile(t *testing.T) {
	dir := smallDisk(t, 0)
	ballast := filepath.Join(dir, "ballast")
	err := fullDisk(t.Context(), filepath.Join(dir, "data"), "is full", func() error {
		f, err := os.Create(ballast)
		if err != nil {
			return err
		}
		for err == nil { // until there is no room
			_, err = f.Write(make([]byte, 4096))
		}
		return f.Close()
	}, func() error {
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT, "size=64m"); err != nil {
			return err
		}
		return os.Remove(ballast)
	})
	must(t, err)
}

func TestAFullDiskAtTheFirstStartLeavesNothingBehind(t *testing.T) {
	dir := smallDisk(t, 0)
	f, err := os.Create(filepath.Join(dir, "ballast"))
	must(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	must(t, f.Close())
	_, err = store.Open(t.Context(), store.Options{Dir: dir})
	kind(t, err, fault.Unavailable)
	if _, err := os.Stat(filepath.Join(dir, "conclave.db")); !os.IsNotExist(err) {
		t.Errorf("a half-made store was left: %v", err)
	}
	must(t, os.Remove(f.Name()))
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	must(t, err)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

func TestAReadOnlyDiskSaysThatItIsOne(t *testing.T) {
	dir := smallDisk(t, 0)
	s, err := store.Open(t.Context(), store.Options{Dir: dir})
	must(t, err)
	must(t, s.Close())
	if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_RDONLY, "size=4m"); err != nil {
		t.Skip(err)
	}
	_, err = store.Open(t.Context(), store.Options{Dir: dir})
	kind(t, err, fault.Unavailable)
}

func TestAStoreThatClosesOnAFullDiskNamesWhatIsLost(t *testing.T) {
	dir := smallDisk(t, 0)
	s, err := store.Open(t.Context(), store.Options{Dir: filepath.Join(dir, "data")})
	must(t, err)
	must(t, s.Sync(t.Context()))
	for range 2 {
		must(t, s.Calls.PutCall(t.Context(), &chat.CallRecord{
			ToolName: "t", Status: chat.CallOK, ResultText: strings.Repeat("much ", 1<<20),
		}))
	}
	err = s.Close()
	said := kind(t, err, fault.Unavailable).Message
	if !strings.HasPrefix(said, "Not saved: 2 × record of a call. The disk that holds ") {
		t.Errorf("it said %q", said)
	}
}
