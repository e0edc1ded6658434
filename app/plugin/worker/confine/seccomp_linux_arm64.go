package confine

import "golang.org/x/sys/unix"

// auditArch is the architecture a filter sees; there is no second convention
// here.
const (
	auditArch = unix.AUDIT_ARCH_AARCH64
	x32Bit    = 0
)

// The older calls that this architecture has in addition to the common ones.
var (
	archNeverCalls   = []uintptr{unix.SYS_KEXEC_FILE_LOAD}
	archAllowedCalls []uintptr
	archForkCalls    []uintptr
	archModeCalls    []uintptr
	archPathCalls    = []uintptr{unix.SYS_RENAMEAT, unix.SYS_FSTATAT}
)
