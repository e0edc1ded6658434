//go:build unix

package engine

import (
	"syscall"
	"time"
)

// cpuTime returns how long this process has computed. A script's time is
// counted so where that is possible: on a busy machine, waiting for a turn is not the
// script's doing.
func cpuTime() (time.Duration, bool) {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0, false
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()), true
}
