//go:build !linux

package engine

import (
	"os"
	"testing"
)

// peakMemory is not known here.
func peakMemory(*os.ProcessState) int64 { return 0 }

// residentMemory is known on Linux only.
func residentMemory(tb testing.TB, _ int) (share, own int64) {
	tb.Helper()
	tb.Skip("needs /proc")
	return 0, 0
}
