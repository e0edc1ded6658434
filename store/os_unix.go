//go:build !windows

package store

import (
	"errors"
	"os"
	"strconv"
	"syscall"
)

// initialMap returns how much of the file is mapped from the start. The map must
// not be replaced while somebody reads, so a write that outgrows it waits for a
// copy under way; mapping beyond the file's end costs address space only.
func initialMap(readOnly bool) int {
	if readOnly || strconv.IntSize < 64 {
		return 0
	}
	return 1 << 30
}

// tryLock takes the exclusive lock on f, or says that another has it.
func tryLock(f *os.File) (bool, error) {
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, syscall.EWOULDBLOCK):
			return false, nil
		case !errors.Is(err, syscall.EINTR):
			return false, err
		}
	}
}

// letGo closes a file that bbolt has locked and may have mapped: the map, which
// nobody can take away any more, would keep the lock.
func letGo(f *os.File) {
	_ = syscall.Flock(int(f.Fd()), syscall.LOCK_UN)
	_ = f.Close()
}

// syncFolder makes the names in a folder durable.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	// Some file systems cannot sync a folder and say so (EINVAL); their names are
	// as durable as they get.
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		err = nil
	}
	return errors.Join(err, d.Close())
}
