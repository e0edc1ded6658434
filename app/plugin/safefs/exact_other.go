//go:build !linux

package safefs

import (
	"io/fs"
	"os"
	"path/filepath"
)

// openExact opens the folder at path, which is clean, where it leads over no link.
func openExact(path string) (*os.Root, error) {
	at, err := filepath.EvalSymlinks(path)
	switch {
	case err != nil:
		return nil, err
	case at != path:
		return nil, &fs.PathError{Op: "open", Path: filepath.Base(path), Err: ErrLink}
	}
	return os.OpenRoot(path)
}
