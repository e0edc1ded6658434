package engine

import (
	"os"
	"syscall"
)

// peakMemory is the most a process held in memory, in bytes.
func peakMemory(state *os.ProcessState) int64 {
	used, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return used.Maxrss << 10 // getrusage(2): kilobytes
}
