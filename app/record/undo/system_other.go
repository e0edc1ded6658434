//go:build !linux

package undo

import (
	"errors"
	"io/fs"
	"os"
)

func clone(_, _ *os.File) error { return errors.ErrUnsupported }

func syncAll(*os.File) error { return errors.ErrUnsupported }

func inode(fs.FileInfo) (number uint64, changed int64) { return 0, 0 }
