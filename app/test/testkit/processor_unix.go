//go:build unix

package testkit

import (
	"syscall"
	"time"
)

// ProcessorTime returns how long this process has computed so far: a busy machine does
// not make it longer.
func ProcessorTime() time.Duration {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
