package safefs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// keepSize is FALLOC_FL_KEEP_SIZE.
const keepSize = 1

// reserve has the file system keep space for so many bytes of a file, whose length and content
// stay. A file system that cannot reserve any is no error.
func reserve(file *os.File, size int64) error {
	if size == 0 {
		return nil
	}
	err := syscall.Fallocate(int(file.Fd()), keepSize, 0, size)
	for errors.Is(err, syscall.EINTR) { // a signal of Go's own
		err = syscall.Fallocate(int(file.Fd()), keepSize, 0, size)
	}
	if err == nil {
		return nil
	}
	for _, cannot := range []error{syscall.EOPNOTSUPP, syscall.ENOSYS} {
		if errors.Is(err, cannot) {
			return nil
		}
	}
	return err
}

// own gives a file the owner of another; nil has none. The error wraps fs.ErrPermission.
func own(file *os.File, as fs.FileInfo) error {
	info, err := file.Stat()
	if err != nil || as == nil {
		return err
	}
	is, ok := info.Sys().(*syscall.Stat_t)
	want, known := as.Sys().(*syscall.Stat_t)
	if !ok || !known || is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return file.Chown(int(want.Uid), int(want.Gid))
}
