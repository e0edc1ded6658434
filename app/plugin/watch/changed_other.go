//go:build !linux

package watch

import (
	"io/fs"
	"time"
)

// Changed returns when a file's content was written last.
func Changed(info fs.FileInfo) time.Time { return info.ModTime() }
