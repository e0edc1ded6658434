package safefs

import (
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// openExact opens the folder at path, which is clean, and no other: what was opened tells where it
// lies, whatever is put in the place of the folders above it meanwhile.
func openExact(path string) (*os.Root, error) {
	const pathOnly = 0x200000 // O_PATH: it may lie in a folder that this user may not list
	fd, err := syscall.Open(path, pathOnly|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer syscall.Close(fd) //nolint:errcheck // only looked at
	here := "/proc/self/fd/" + strconv.Itoa(fd)
	at, err := os.Readlink(here)
	switch {
	case err != nil:
		return nil, err
	case at != path:
		return nil, &fs.PathError{Op: "open", Path: filepath.Base(path), Err: ErrLink}
	}
	return os.OpenRoot(here)
}
