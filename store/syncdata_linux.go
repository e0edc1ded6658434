package store

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData returns once what was written to a file of constant length is on the disk. It leaves its times out.
func syncData(f *os.File) error {
	for {
		if err := unix.Fdatasync(int(f.Fd())); err != unix.EINTR {
			return err
		}
	}
}
