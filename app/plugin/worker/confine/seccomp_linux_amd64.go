package confine

import "golang.org/x/sys/unix"

// auditArch is the architecture a filter sees, and x32Bit marks the calls of the
// x32 convention, whose numbers would go past it.
const (
	auditArch = unix.AUDIT_ARCH_X86_64
	x32Bit    = 0x40000000
)

// The older calls that this architecture has in addition to the common ones.
var (
	archNeverCalls = []uintptr{
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_KEXEC_FILE_LOAD,
		unix.SYS_USELIB,
		unix.SYS_CHOWN, unix.SYS_LCHOWN,
	}
	archAllowedCalls = []uintptr{
		unix.SYS_ALARM, unix.SYS_ARCH_PRCTL, unix.SYS_DUP2, unix.SYS_EPOLL_CREATE,
		unix.SYS_EPOLL_WAIT,
		unix.SYS_EVENTFD, unix.SYS_GETDENTS, unix.SYS_GETPGRP, unix.SYS_PAUSE, unix.SYS_PIPE, unix.SYS_POLL, unix.SYS_SELECT,
		unix.SYS_SIGNALFD, unix.SYS_TIME,
	}
	archForkCalls = []uintptr{unix.SYS_FORK, unix.SYS_VFORK}
	archModeCalls = []uintptr{unix.SYS_CHMOD, unix.SYS_UTIME, unix.SYS_UTIMES, unix.SYS_FUTIMESAT}
	archPathCalls = []uintptr{
		unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_UNLINK, unix.SYS_RENAME, unix.SYS_RENAMEAT,
		unix.SYS_MKDIR,
		unix.SYS_RMDIR, unix.SYS_MKNOD, unix.SYS_LINK, unix.SYS_SYMLINK, unix.SYS_READLINK, unix.SYS_ACCESS, unix.SYS_STAT,
		unix.SYS_LSTAT, unix.SYS_NEWFSTATAT,
	}
)
