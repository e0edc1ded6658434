package store

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"conclave/app/base/fault"

	bolterrors "go.etcd.io/bbolt/errors"
)

// explain makes the error of an operation on the store in dir into one for a
// person. Faults and the ends of contexts stay what they are.
func explain(op, dir string, err error) error {
	var f *fault.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, bolterrors.ErrDatabaseNotOpen):
		return closedFault(op)
	case isOf(err, fileLimit):
		return fault.Wrap(fault.Unavailable, op,
			"The system does not let a file in "+dir+" grow any larger, so Conclave could not save.",
			"Raise the limit on the size of files (ulimit -f, or that of the file system), then try again.", err)
	case isFull(err):
		return fault.Wrap(fault.Unavailable, op, "The disk that holds "+dir+" is full, so Conclave could not save.",
			"Free some space there, then try again.", err)
	case isReadOnly(err):
		return fault.Wrap(fault.Unavailable, op, "Conclave may not write in "+dir+".",
			"Make the folder writable, or name another one with --data.", err)
	}
	return fault.Wrap(fault.Unavailable, op, "The store in "+dir+" could not be read or written.",
		"Check the disk, then try again; conclave doctor says more.", err)
}

// waiting is err as the beginning of trouble in the background: what waits is
// tried again each second while the store is open.
func waiting(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != fault.Unavailable || !isFull(err) {
		return err
	}
	w := *f
	w.Hint = "Free some space there. What waits is then saved by itself, as long as Conclave stays open."
	if isOf(err, fileLimit) {
		w.Hint = "Raise the limit on the size of files. What waits is then saved by itself, as long as Conclave stays open."
	}
	return &w
}

// isFull reports whether err says that the disk, a quota or a limit on the size
// of files leaves no room. bbolt flattens some causes to text (db.go, grow), so
// the text counts too; the full-disk tests would show if it no longer did.
func isFull(err error) bool { return isOf(err, fullDisk) || isOf(err, fileLimit) }

func isOf(err error, causes []syscall.Errno) bool {
	for _, cause := range causes {
		if errors.Is(err, cause) || strings.Contains(err.Error(), cause.Error()) {
			return true
		}
	}
	return false
}

func isReadOnly(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}
