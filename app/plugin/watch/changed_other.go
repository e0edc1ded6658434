//go:build !linux

package watch

import (
	"io/fs"
	"time"
)

// changed returns when a file's content was written last.
func changed(info fs.FileInfo) time.Time { return info.ModTime() }
