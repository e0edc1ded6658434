//go:build unix

package testkit

import (
	"syscall"
	"testing"
)

// Fifo makes a named pipe, and skips the test where the system has none.
func Fifo(t testing.TB, path string) {
	t.Helper()
	Must(t, syscall.Mkfifo(path, 0o700))
}
