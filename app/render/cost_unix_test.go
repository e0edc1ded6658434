//go:build unix

package render

import (
	"syscall"
	"time"
)

// processorTime is the time that this process has computed so far: a busy
// machine does not make it longer.
func processorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
