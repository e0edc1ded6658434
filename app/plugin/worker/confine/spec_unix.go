//go:build unix

package confine

import (
	"os"
	"syscall"
)

// specDescriptor is where the host leaves the spec: the first descriptor after
// the three streams.
const specDescriptor = 3

func specFile() (*os.File, error) {
	var stat syscall.Stat_t
	if err := syscall.Fstat(specDescriptor, &stat); err != nil {
		return nil, err
	}
	syscall.CloseOnExec(specDescriptor)
	return os.NewFile(specDescriptor, "spec"), nil
}
