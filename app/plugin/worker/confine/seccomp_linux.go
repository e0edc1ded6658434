//go:build amd64 || arm64

package confine

import (
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterOptions say which rules of the filter are lifted.
type filterOptions struct {
	sockets bool // Internet sockets may be opened
	spawn   bool // processes may be started, and signalled
	exec    bool // this process may become another program
	writes  bool // there are files of its own
	paths   bool // calls that name a path are left to Landlock
	pid     int  // this process
}

// Answers of a filter (linux/seccomp.h).
const (
	answerAllow = 0x7fff0000
	answerKill  = 0x80000000 // the whole process
	answerErrno = 0x00050000 // the error number is in the low bits
)

// Offsets in struct seccomp_data (linux/seccomp.h), on a little-endian machine.
const (
	offsetNumber    = 0
	offsetArch      = 4
	offsetArguments = 16
)

// rule is what happens to one system call: it is allowed when all conditions of
// one of the groups hold, and answered otherwise.
type rule struct {
	call   uintptr
	unless [][]condition
	answer uint32
}

// condition holds when an argument's low 32 bits, masked, are a value.
type condition struct {
	argument uint32
	mask     uint32
	value    uint32
}

func errno(e unix.Errno) uint32 { return answerErrno | uint32(e) }

// is holds when an argument is the value.
func is(argument, value uint32) []condition {
	return []condition{{argument, ^uint32(0), value}}
}

// rules returns the filter as data.
func rules(o filterOptions) []rule {
	var list []rule
	deny := func(answer uint32, calls ...uintptr) {
		for _, call := range calls {
			list = append(list, rule{call: call, answer: answer})
		}
	}
	eperm, eacces := errno(unix.EPERM), errno(unix.EACCES)
	pid := uint32(o.pid)

	deny(eperm, neverCalls...)
	deny(eperm, archNeverCalls...)
	// glibc falls back to clone, whose flags can be seen.
	deny(errno(unix.ENOSYS), unix.SYS_CLONE3)

	// Threads, and processes where they may be started: those stay ours (no
	// CLONE_PARENT) and in our namespaces.
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME | unix.CLONE_PARENT | unix.CLONE_PTRACE
	if o.spawn {
		// CLONE_NEWTIME shares its bit with the exit signal, which is SIGCHLD
		// here; the kernel knows it in clone3 and unshare only.
		list = append(list, rule{unix.SYS_CLONE, [][]condition{{{0, namespaces &^ unix.CLONE_NEWTIME, 0}}}, eperm})
	} else {
		list = append(list,
			rule{unix.SYS_CLONE, [][]condition{{{0, unix.CLONE_THREAD, unix.CLONE_THREAD}}}, eperm},
			// Signals to itself alone. A filter cannot follow tkill's thread.
			rule{unix.SYS_KILL, [][]condition{is(0, pid), is(0, 0)}, eperm},
			rule{unix.SYS_TGKILL, [][]condition{is(0, pid)}, eperm},
			rule{unix.SYS_RT_SIGQUEUEINFO, [][]condition{is(0, pid)}, eperm},
			rule{unix.SYS_RT_TGSIGQUEUEINFO, [][]condition{is(0, pid)}, eperm},
		)
		deny(eperm, unix.SYS_TKILL)
		deny(eperm, archForkCalls...)
	}
	if !o.exec {
		deny(eperm, unix.SYS_EXECVE)
	}
	if !o.spawn {
		deny(eperm, unix.SYS_EXECVEAT)
	}

	// A pair of connected streams is a pipe (asyncio's own alarm is one); a pair
	// of datagram sockets could send to any socket that has a path.
	const kind = 0xf // the type without SOCK_NONBLOCK and SOCK_CLOEXEC
	list = append(list, rule{unix.SYS_SOCKETPAIR, [][]condition{{{1, kind, unix.SOCK_STREAM}}, {{1, kind, unix.SOCK_SEQPACKET}}}, eacces})
	if o.sockets {
		var internet [][]condition
		for _, domain := range []uint32{unix.AF_INET, unix.AF_INET6} {
			for _, t := range []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM} {
				internet = append(internet, []condition{{0, ^uint32(0), domain}, {1, kind, t}})
			}
		}
		list = append(list, rule{unix.SYS_SOCKET, internet, eacces})
	} else {
		deny(eacces, unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4)
	}

	// Landlock does not guard modes and times. Copying a file sets them: where
	// there are files of its own this is answered with success, and nothing is
	// done.
	modes := eperm
	if o.writes {
		modes = errno(0)
	}
	deny(modes, unix.SYS_FCHMOD, unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2, unix.SYS_UTIMENSAT)
	deny(modes, archModeCalls...)

	// Of others' limits and priorities.
	for _, call := range []uintptr{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR} {
		list = append(list, rule{call, [][]condition{is(0, 0), is(0, pid)}, eperm})
	}
	for _, call := range []uintptr{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET} {
		list = append(list, rule{call, [][]condition{is(1, 0), is(1, pid)}, eperm})
	}

	if !o.paths {
		deny(eacces, pathCalls...)
		deny(eacces, archPathCalls...)
	}
	return list
}

// neverCalls are refused to every plugin.
var neverCalls = []uintptr{
	// other processes
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE, unix.SYS_PROCESS_MRELEASE,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_KCMP, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
	// leaving the group that is killed
	unix.SYS_SETSID, unix.SYS_SETPGID,
	// memory that others share
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV, unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// the kernel's larger doors
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_PERSONALITY,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	// namespaces and mounts
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT, unix.SYS_MOUNT_SETATTR,
	// the machine
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE, unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	// who it is
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID, unix.SYS_SETRESGID, unix.SYS_SETGROUPS,
	unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_CAPSET,
	// whose files are, and what is attached to them: Landlock does not guard it
	unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR, unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// pathCalls are those that reach a file by its name.
var pathCalls = []uintptr{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT2, unix.SYS_MKDIRAT, unix.SYS_MKNODAT, unix.SYS_LINKAT,
	unix.SYS_SYMLINKAT, unix.SYS_READLINKAT, unix.SYS_TRUNCATE, unix.SYS_CHDIR, unix.SYS_FACCESSAT, unix.SYS_FACCESSAT2, unix.SYS_STATX,
	unix.SYS_STATFS, unix.SYS_INOTIFY_ADD_WATCH, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR,
}

// assemble makes the filter of the rules, in classic BPF: a list of comparisons
// that ends in "allowed". The kernel keeps a table of the calls that are allowed
// whatever their arguments, so its length costs the others nothing.
func assemble(list []rule) []unix.SockFilter {
	program := []unix.SockFilter{
		load(offsetArch),
		jumpEqual(auditArch, 1, 0),
		answer(answerKill), // a 32-bit program: its numbers mean other calls
		load(offsetNumber),
	}
	if x32Bit != 0 {
		program = append(program,
			unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JGE | unix.BPF_K, Jf: 1, K: x32Bit},
			answer(errno(unix.ENOSYS)))
	}
	for _, r := range list {
		var body []unix.SockFilter
		for _, group := range r.unless {
			const perCondition = 3
			for i, c := range group {
				toNextGroup := (len(group)-i-1)*perCondition + 1
				body = append(body,
					load(offsetArguments+8*c.argument),
					unix.SockFilter{Code: unix.BPF_ALU | unix.BPF_AND | unix.BPF_K, K: c.mask},
					jumpEqual(c.value, 0, uint8(toNextGroup)))
			}
			body = append(body, answer(answerAllow))
		}
		body = append(body, answer(r.answer))
		program = append(program, jumpEqual(uint32(r.call), 0, uint8(len(body))))
		program = append(program, body...)
	}
	return append(program, answer(answerAllow))
}

func load(offset uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: offset}
}

func jumpEqual(value uint32, yes, no uint8) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, Jt: yes, Jf: no, K: value}
}

func answer(a uint32) unix.SockFilter {
	return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: a}
}

// filterThread puts the filter on this thread, filterAllThreads on all of the
// process's. No new privileges must have been given up before.
func filterThread(o filterOptions) error     { return install(o, 0) }
func filterAllThreads(o filterOptions) error { return install(o, unix.SECCOMP_FILTER_FLAG_TSYNC) }

func install(o filterOptions, flags uintptr) error {
	filter := assemble(rules(o))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	odd, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if err != 0 {
		return fmt.Errorf("put up seccomp: %w", err)
	}
	if odd != 0 {
		return fmt.Errorf("put up seccomp: thread %d could not be brought in line", odd)
	}
	return nil
}

// hasSeccomp reports whether the kernel knows the filters we make.
func hasSeccomp() bool {
	action := uint32(answerErrno)
	_, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return err == 0
}
