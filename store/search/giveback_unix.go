//go:build !windows

package search

import (
	"errors"

	"golang.org/x/sys/unix"
)

// unmap lets go of the memory into which reading mapped data, a whole mapped
// file: it stays in the system's cache, and what is read again is mapped again.
func unmap(data []byte) error {
	err := unix.Madvise(data, unix.MADV_DONTNEED)
	if errors.Is(err, unix.EINVAL) {
		return nil // nothing is mapped
	}
	return err
}
