package store

import (
	"errors"
	"os"

	"golang.org/x/sys/windows"
)

// initialMap returns how much of the file is mapped from the start: only what is
// there, since Windows would make the file as long as its map.
func initialMap(bool) int { return 0 }

// lockedByte lies far past the owner's words, which others may read while it is
// locked.
const lockedByte = 1 << 30

// tryLock takes the exclusive lock on f, or says that another has it.
func tryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()),
		windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, 1, 0,
		&windows.Overlapped{Offset: lockedByte})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) || errors.Is(err, windows.ERROR_IO_PENDING) {
		return false, nil
	}
	return err == nil, err
}

// letGo closes a file that bbolt has locked; the lock goes with it.
func letGo(f *os.File) { _ = f.Close() }

// syncFolder has nothing to do: Windows keeps no names in a buffer of ours.
func syncFolder(string) error { return nil }
