//go:build !windows

package store

import (
	"context"
	"syscall"

	"go.etcd.io/bbolt"
	"golang.org/x/sys/unix"
)

// GiveBack frees the memory into which reads mapped the store's file; the pages stay
// in the system's cache, and later reads map them again. Whoever reads much of the
// store calls it now and then.
func (s *SearchSource) GiveBack(ctx context.Context) {
	err := s.view(ctx, "store.give_back", func(tx *bbolt.Tx) error { // the map does not move meanwhile
		size := uintptr(tx.Size())
		if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, s.db.Info().Data, size, unix.MADV_DONTNEED); errno != 0 {
			return errno
		}
		return nil
	})
	if err != nil {
		s.log.Debug("Memory of the store could not be given back.", "err", err)
	}
}
