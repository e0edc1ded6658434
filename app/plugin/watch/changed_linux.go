package watch

import (
	"io/fs"
	"syscall"
	"time"
)

// Changed returns when anything of a file was changed last, which no program can set,
// unlike the time of its content.
func Changed(info fs.FileInfo) time.Time {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(int64(stat.Ctim.Sec), int64(stat.Ctim.Nsec)) //nolint:unconvert // of 32 bits on some machines
	}
	return info.ModTime()
}
