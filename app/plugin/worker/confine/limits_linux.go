package confine

import (
	"fmt"
	"syscall"

	"conclave/app/plugin/sandbox"
)

// limit sets the resource limits of this process, and of the program it becomes.
//
// It is RLIMIT_DATA and not RLIMIT_AS, since Go and others reserve far more
// address space than they use; and never RLIMIT_NPROC, which counts the person's
// processes and not the plugin's.
func limit(spec sandbox.Spec) error {
	l := limitsOf(spec)
	for _, r := range []struct {
		name  string
		which int
		value uint64
	}{
		{"core files", syscall.RLIMIT_CORE, 0},
		{"the size of files", syscall.RLIMIT_FSIZE, l.fileBytes},
		// syscall.Setrlimit and not x/sys's: it also makes syscall.Exec leave the
		// limit as it is.
		{"open files", syscall.RLIMIT_NOFILE, l.files},
		{"memory", syscall.RLIMIT_DATA, l.memory},
	} {
		var now syscall.Rlimit
		if err := syscall.Getrlimit(r.which, &now); err != nil {
			return fmt.Errorf("read the limit of %s: %w", r.name, err)
		}
		now.Max = min(now.Max, r.value) // a lower one stays
		now.Cur = now.Max
		if err := syscall.Setrlimit(r.which, &now); err != nil {
			return fmt.Errorf("limit %s: %w", r.name, err)
		}
	}
	return nil
}
