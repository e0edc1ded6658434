package engine

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// peakMemory is the most a process held in memory, in bytes.
func peakMemory(state *os.ProcessState) int64 {
	used, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return used.Maxrss << 10 // getrusage(2): kilobytes
}

// residentMemory returns what a process takes of memory, in bytes: with its share
// of what others use too (PSS), and what is its own alone.
func residentMemory(tb testing.TB, pid int) (share, own int64) {
	tb.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid))
	must(tb, err)
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		var kb int64
		if _, err := fmt.Sscan(rest, &kb); err != nil {
			continue
		}
		switch name {
		case "Pss":
			share += kb << 10
		case "Private_Clean", "Private_Dirty":
			own += kb << 10
		}
	}
	return share, own
}
