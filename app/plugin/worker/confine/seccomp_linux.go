//go:build amd64 || arm64

package confine

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// filterOptions say which rules of the filter are lifted.
type filterOptions struct {
	sockets bool // Internet sockets may be opened
	proxied bool // and connect to one address, over TCP
	held    bool // and are connected by the launcher
	listens bool // and get their addresses and connections by it
	opens   bool // the launcher opens files
	spawn   bool // processes may be started, and signalled
	exec    bool // this process may become another program
	writes  bool // it has files that it may write
	paths   bool // calls that name a path are left to Landlock
	pid     int  // this process
}

// Answers of a filter (linux/seccomp.h).
const (
	answerAllow = 0x7fff0000
	answerKill  = 0x80000000 // the whole process
	answerErrno = 0x00050000 // the error number is in the low bits
	answerAsk   = 0x7fc00000 // whoever has the filter's listener answers
)

// Offsets in struct seccomp_data (linux/seccomp.h), on a little-endian machine.
const (
	offsetNumber    = 0
	offsetArch      = 4
	offsetArguments = 16
)

// rule describes what happens to one system call: it is allowed when all conditions of
// one of the groups hold, and answered otherwise; the other way round when
// inverse.
type rule struct {
	call    uintptr
	unless  [][]condition
	answer  uint32
	inverse bool
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

// anyOf holds when an argument is one of the values.
func anyOf(argument uint32, values ...uint32) [][]condition {
	var groups [][]condition
	for _, value := range values {
		groups = append(groups, is(argument, value))
	}
	return groups
}

// rules returns the part of the filter that answers calls, as data. What it does
// not answer is allowed if it is among the reviewed calls, and otherwise unknown
// to the kernel as far as the plugin can tell: calls that a newer kernel has are
// not there until somebody has read what they do.
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
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET | unix.CLONE_NEWTIME |
		unix.CLONE_PARENT | unix.CLONE_PTRACE
	if o.spawn {
		// CLONE_NEWTIME shares its bit with the exit signal, which is SIGCHLD
		// here; the kernel knows it in clone3 and unshare only.
		list = append(list, rule{
			call: unix.SYS_CLONE, unless: [][]condition{{{0, namespaces &^ unix.CLONE_NEWTIME, 0}}}, answer: eperm,
		})
	} else {
		list = append(list,
			rule{
				call: unix.SYS_CLONE, unless: [][]condition{{{0, unix.CLONE_THREAD | namespaces, unix.CLONE_THREAD}}},
				answer: eperm,
			},
			// Signals to itself alone. A filter cannot follow tkill's thread.
			rule{call: unix.SYS_KILL, unless: anyOf(0, pid, 0), answer: eperm},
			rule{call: unix.SYS_TGKILL, unless: anyOf(0, pid), answer: eperm},
			rule{call: unix.SYS_RT_SIGQUEUEINFO, unless: anyOf(0, pid), answer: eperm},
			rule{call: unix.SYS_RT_TGSIGQUEUEINFO, unless: anyOf(0, pid), answer: eperm},
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
	pairs := [][]condition{{{1, kind, unix.SOCK_STREAM}}, {{1, kind, unix.SOCK_SEQPACKET}}}
	list = append(list, rule{call: unix.SYS_SOCKETPAIR, unless: pairs, answer: eacces})
	switch {
	case o.sockets && o.proxied:
		list = append(list, proxied(o.held, o.listens)...)
	case o.sockets:
		var internet [][]condition
		for _, domain := range []uint32{unix.AF_INET, unix.AF_INET6} {
			for _, t := range []uint32{unix.SOCK_STREAM, unix.SOCK_DGRAM} {
				internet = append(internet, []condition{{0, ^uint32(0), domain}, {1, kind, t}})
			}
		}
		list = append(list, rule{call: unix.SYS_SOCKET, unless: internet, answer: eacces})
	default:
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
	for _, call := range []uintptr{
		unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR,
	} {
		list = append(list, rule{call: call, unless: anyOf(0, 0, pid), answer: eperm})
	}
	// A process's own priority, not that of the group or of all the person's.
	own := func(which uint32) [][]condition {
		return [][]condition{{is(0, which)[0], is(1, 0)[0]}, {is(0, which)[0], is(1, pid)[0]}}
	}
	const ioprioWhoProcess = 1 // linux/ioprio.h
	list = append(list,
		rule{call: unix.SYS_SETPRIORITY, unless: own(unix.PRIO_PROCESS), answer: eperm},
		rule{call: unix.SYS_IOPRIO_SET, unless: own(ioprioWhoProcess), answer: eperm},
		// Not PR_SET_PDEATHSIG, by which it would outlive Conclave, and not
		// PR_SET_DUMPABLE, by which its memory could not be read any more.
		rule{call: unix.SYS_PRCTL, unless: anyOf(0, prctlOptions...), answer: eperm},
		rule{call: unix.SYS_FCNTL, unless: anyOf(1, fcntlCommands...), answer: eperm},
		rule{call: unix.SYS_IOCTL, unless: anyOf(1, ioctlRequests...), answer: eperm},
		// What is kept beyond the end of a file (FALLOC_FL_KEEP_SIZE) is in nobody's
		// count, and no limit of a file's size holds it.
		rule{call: unix.SYS_FALLOCATE, unless: anyOf(1, 0), answer: errno(unix.EOPNOTSUPP)},
	)

	if o.opens {
		deny(answerAsk, unix.SYS_OPENAT2)
	}
	if !o.paths {
		deny(eacces, pathCalls...)
		deny(eacces, archPathCalls...)
	}
	return list
}

// proxied are the rules of sockets that connect to the proxy and nowhere else: TCP,
// without data that is sent along with a first packet (MSG_FASTOPEN connects too), and
// nothing that others could connect to. With listens, the launcher answers what makes something of
// that kind.
func proxied(held, listens bool) []rule {
	const kind, whole = 0xf, ^uint32(0)
	eacces := errno(unix.EACCES)
	var tcp [][]condition
	for _, domain := range []uint32{unix.AF_INET, unix.AF_INET6} {
		for _, protocol := range []uint32{0, unix.IPPROTO_TCP} {
			tcp = append(tcp, []condition{{0, whole, domain}, {1, kind, unix.SOCK_STREAM}, {2, whole, protocol}})
		}
	}
	unconnected := func(argument uint32) [][]condition { return [][]condition{{{argument, unix.MSG_FASTOPEN, 0}}} }
	list := []rule{
		{call: unix.SYS_SOCKET, unless: tcp, answer: eacces},
		{call: unix.SYS_SENDTO, unless: unconnected(3), answer: eacces},
		{call: unix.SYS_SENDMSG, unless: unconnected(2), answer: eacces},
		{call: unix.SYS_SENDMMSG, unless: unconnected(3), answer: eacces},
	}
	for _, call := range []uintptr{unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4} {
		answer := eacces
		if listens {
			answer = answerAsk
		}
		list = append(list, rule{call: call, answer: answer})
	}
	if listens {
		// Nobody else listens at the same address.
		list = append(list, rule{
			call: unix.SYS_SETSOCKOPT, answer: errno(unix.ENOPROTOOPT), inverse: true,
			unless: [][]condition{{{1, whole, unix.SOL_SOCKET}, {2, whole, unix.SO_REUSEPORT}}},
		})
	}
	if held {
		list = append(list, rule{call: unix.SYS_CONNECT, answer: answerAsk})
	}
	return list
}

// neverCalls are refused to every plugin.
var neverCalls = []uintptr{
	// other processes
	unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_PROCESS_MADVISE,
	unix.SYS_PROCESS_MRELEASE,
	unix.SYS_PIDFD_OPEN, unix.SYS_PIDFD_GETFD, unix.SYS_PIDFD_SEND_SIGNAL, unix.SYS_KCMP, unix.SYS_MIGRATE_PAGES,
	unix.SYS_MOVE_PAGES,
	// leaving the group that is killed
	unix.SYS_SETSID, unix.SYS_SETPGID,
	// memory that others share
	unix.SYS_SHMGET, unix.SYS_SHMAT, unix.SYS_SHMCTL, unix.SYS_MSGGET, unix.SYS_MSGSND, unix.SYS_MSGRCV,
	unix.SYS_MSGCTL,
	unix.SYS_SEMGET, unix.SYS_SEMOP, unix.SYS_SEMTIMEDOP, unix.SYS_SEMCTL, unix.SYS_MQ_OPEN, unix.SYS_MQ_UNLINK,
	// the kernel's larger doors
	unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER, unix.SYS_BPF,
	unix.SYS_PERF_EVENT_OPEN,
	unix.SYS_USERFAULTFD, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, unix.SYS_KEYCTL, unix.SYS_PERSONALITY,
	unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_FANOTIFY_INIT, unix.SYS_FANOTIFY_MARK,
	// namespaces and mounts
	unix.SYS_UNSHARE, unix.SYS_SETNS, unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT,
	unix.SYS_FSOPEN,
	unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_OPEN_TREE, unix.SYS_MOVE_MOUNT,
	unix.SYS_MOUNT_SETATTR,
	// the machine
	unix.SYS_REBOOT, unix.SYS_KEXEC_LOAD, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
	unix.SYS_SWAPON,
	unix.SYS_SWAPOFF, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD, unix.SYS_SYSLOG, unix.SYS_VHANGUP,
	unix.SYS_SETTIMEOFDAY,
	unix.SYS_CLOCK_SETTIME, unix.SYS_CLOCK_ADJTIME, unix.SYS_ADJTIMEX, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
	// who it is
	unix.SYS_SETUID, unix.SYS_SETGID, unix.SYS_SETREUID, unix.SYS_SETREGID, unix.SYS_SETRESUID,
	unix.SYS_SETRESGID, unix.SYS_SETGROUPS,
	unix.SYS_SETFSUID, unix.SYS_SETFSGID, unix.SYS_CAPSET,
	// whose files are, and what is attached to them: Landlock does not guard it
	unix.SYS_FCHOWN, unix.SYS_FCHOWNAT, unix.SYS_SETXATTR, unix.SYS_LSETXATTR, unix.SYS_FSETXATTR,
	unix.SYS_SETXATTRAT,
	unix.SYS_REMOVEXATTR, unix.SYS_LREMOVEXATTR, unix.SYS_FREMOVEXATTR, unix.SYS_REMOVEXATTRAT,
}

// prctlOptions are the options of prctl that a plugin may use (linux/prctl.h).
var prctlOptions = []uint32{
	unix.PR_SET_NAME, unix.PR_GET_NAME, unix.PR_GET_PDEATHSIG, unix.PR_GET_DUMPABLE, unix.PR_GET_NO_NEW_PRIVS,
	unix.PR_SET_NO_NEW_PRIVS,
	unix.PR_GET_SECCOMP, unix.PR_CAPBSET_READ, unix.PR_GET_KEEPCAPS, unix.PR_SET_TIMERSLACK, unix.PR_GET_TIMERSLACK,
	unix.PR_SET_THP_DISABLE, unix.PR_GET_THP_DISABLE, unix.PR_GET_TID_ADDRESS, unix.PR_SET_VMA,
	unix.PR_GET_SPECULATION_CTRL,
	unix.PR_SET_TAGGED_ADDR_CTRL, unix.PR_GET_TAGGED_ADDR_CTRL, unix.PR_SVE_GET_VL, unix.PR_PAC_RESET_KEYS,
}

// fcntlCommands are the commands of fcntl that were reviewed. Not among them: who
// is signalled of input, which could be anybody; leases, by which whoever opens a
// file of the plugin's waits, Conclave too; and being told of changes in a folder.
var fcntlCommands = []uint32{
	unix.F_DUPFD, unix.F_DUPFD_CLOEXEC, unix.F_GETFD, unix.F_SETFD, unix.F_GETFL, unix.F_SETFL,
	unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW,
	unix.F_GETOWN, unix.F_GETOWN_EX, unix.F_GETSIG, unix.F_GETLEASE, unix.F_GETPIPE_SZ, unix.F_SETPIPE_SZ,
	unix.F_GET_SEALS, unix.F_DUPFD_QUERY, unix.F_CREATED_QUERY, unix.F_GET_RW_HINT, unix.F_GET_FILE_RW_HINT,
}

// ioctlRequests are the requests of ioctl that were reviewed. Landlock guards those
// of devices alone, while a file system takes some of any folder that can be
// listed: Btrfs makes subvolumes and snapshots in one that may only be read.
var ioctlRequests = []uint32{
	// what a terminal or a pipe is, and how much waits in it
	unix.TCGETS, unix.TCGETS2, unix.TCSETS, unix.TCSETSW, unix.TCSETSF, unix.TIOCGWINSZ, unix.TIOCGPGRP, unix.TIOCSPGRP,
	unix.TIOCGSID, unix.TIOCOUTQ, unix.TIOCINQ,
	// of a descriptor
	0x5451 /* FIOCLEX */, 0x5450 /* FIONCLEX */, 0x5421 /* FIONBIO */, 0x5460, /* FIOQSIZE */
	unix.FICLONE, unix.FICLONERANGE, unix.FS_IOC_GETFLAGS,
	// of the sockets that the rules let it open: the machine's own addresses
	0x8905 /* SIOCATMARK */, 0x8906 /* SIOCGSTAMP */, unix.SIOCGIFNAME, unix.SIOCGIFCONF, unix.SIOCGIFFLAGS,
	unix.SIOCGIFADDR, unix.SIOCGIFBRDADDR, unix.SIOCGIFNETMASK, unix.SIOCGIFMTU, unix.SIOCGIFINDEX,
}

// allowedCalls are those that were reviewed and do nothing to anybody else, on
// every architecture. What the rules say of a call comes first. Not among them,
// since they are no use to a plugin or tell of others: inotify, memfd_create (a
// program in memory, and memory that nobody counts), file_setattr, kernel AIO,
// sync, NUMA policies.
var allowedCalls = []uintptr{
	// memory
	unix.SYS_BRK, unix.SYS_MMAP, unix.SYS_MUNMAP, unix.SYS_MREMAP, unix.SYS_MPROTECT, unix.SYS_MADVISE,
	unix.SYS_MINCORE, unix.SYS_MSYNC,
	unix.SYS_MLOCK, unix.SYS_MLOCK2, unix.SYS_MUNLOCK, unix.SYS_MLOCKALL, unix.SYS_MUNLOCKALL, unix.SYS_MSEAL,
	unix.SYS_MAP_SHADOW_STACK,
	unix.SYS_PKEY_ALLOC, unix.SYS_PKEY_FREE, unix.SYS_PKEY_MPROTECT, unix.SYS_MEMBARRIER, unix.SYS_GET_MEMPOLICY,
	// descriptors
	unix.SYS_READ, unix.SYS_WRITE, unix.SYS_READV, unix.SYS_WRITEV, unix.SYS_PREAD64, unix.SYS_PWRITE64,
	unix.SYS_PREADV, unix.SYS_PWRITEV,
	unix.SYS_PREADV2, unix.SYS_PWRITEV2, unix.SYS_CLOSE, unix.SYS_CLOSE_RANGE, unix.SYS_DUP, unix.SYS_DUP3,
	unix.SYS_LSEEK, unix.SYS_FSTAT,
	unix.SYS_FSTATFS, unix.SYS_FTRUNCATE, unix.SYS_FALLOCATE, unix.SYS_FSYNC, unix.SYS_FDATASYNC,
	unix.SYS_SYNC_FILE_RANGE, unix.SYS_FLOCK,
	unix.SYS_FADVISE64, unix.SYS_READAHEAD, unix.SYS_GETDENTS64, unix.SYS_GETCWD, unix.SYS_FCHDIR, unix.SYS_UMASK,
	unix.SYS_FGETXATTR,
	unix.SYS_FLISTXATTR, unix.SYS_COPY_FILE_RANGE, unix.SYS_SENDFILE, unix.SYS_SPLICE, unix.SYS_TEE,
	unix.SYS_PIPE2, unix.SYS_EVENTFD2,
	unix.SYS_EPOLL_CREATE1, unix.SYS_EPOLL_CTL, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_PPOLL,
	unix.SYS_PSELECT6,
	unix.SYS_SIGNALFD4, unix.SYS_TIMERFD_CREATE, unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMERFD_GETTIME,
	// sockets that it has or, by the rules, may open
	unix.SYS_SOCKET, unix.SYS_CONNECT, unix.SYS_BIND, unix.SYS_LISTEN, unix.SYS_ACCEPT, unix.SYS_ACCEPT4,
	unix.SYS_SHUTDOWN,
	unix.SYS_SENDTO, unix.SYS_SENDMSG, unix.SYS_SENDMMSG, unix.SYS_RECVFROM, unix.SYS_RECVMSG, unix.SYS_RECVMMSG,
	unix.SYS_GETSOCKOPT,
	unix.SYS_SETSOCKOPT, unix.SYS_GETSOCKNAME, unix.SYS_GETPEERNAME,
	// threads and, by the rules, processes
	unix.SYS_CLONE, unix.SYS_EXECVE, unix.SYS_EXECVEAT, unix.SYS_EXIT, unix.SYS_EXIT_GROUP, unix.SYS_WAIT4,
	unix.SYS_WAITID,
	unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO,
	unix.SYS_SET_TID_ADDRESS,
	unix.SYS_SET_ROBUST_LIST, unix.SYS_RSEQ, unix.SYS_FUTEX, unix.SYS_FUTEX_WAIT, unix.SYS_FUTEX_WAITV,
	unix.SYS_FUTEX_WAKE,
	unix.SYS_FUTEX_REQUEUE, unix.SYS_SCHED_YIELD, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_GETATTR,
	unix.SYS_SCHED_GETPARAM,
	unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_GET_PRIORITY_MAX, unix.SYS_SCHED_GET_PRIORITY_MIN,
	unix.SYS_SCHED_RR_GET_INTERVAL,
	unix.SYS_GETPRIORITY, unix.SYS_IOPRIO_GET, unix.SYS_GETCPU,
	// a further sandbox
	unix.SYS_SECCOMP, unix.SYS_LANDLOCK_CREATE_RULESET, unix.SYS_LANDLOCK_ADD_RULE, unix.SYS_LANDLOCK_RESTRICT_SELF,
	// signals
	unix.SYS_RT_SIGACTION, unix.SYS_RT_SIGPENDING, unix.SYS_RT_SIGPROCMASK, unix.SYS_RT_SIGRETURN,
	unix.SYS_RT_SIGSUSPEND,
	unix.SYS_RT_SIGTIMEDWAIT, unix.SYS_SIGALTSTACK, unix.SYS_RESTART_SYSCALL,
	// time
	unix.SYS_CLOCK_GETTIME, unix.SYS_CLOCK_GETRES, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_NANOSLEEP,
	unix.SYS_GETTIMEOFDAY, unix.SYS_TIMES,
	unix.SYS_GETITIMER, unix.SYS_SETITIMER, unix.SYS_TIMER_CREATE, unix.SYS_TIMER_DELETE, unix.SYS_TIMER_GETOVERRUN,
	unix.SYS_TIMER_GETTIME, unix.SYS_TIMER_SETTIME,
	// who and where it is
	unix.SYS_GETPID, unix.SYS_GETPPID, unix.SYS_GETTID, unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_GETUID,
	unix.SYS_GETEUID,
	unix.SYS_GETGID, unix.SYS_GETEGID, unix.SYS_GETRESUID, unix.SYS_GETRESGID, unix.SYS_GETGROUPS,
	unix.SYS_CAPGET, unix.SYS_GETRUSAGE,
	unix.SYS_GETRLIMIT, unix.SYS_SETRLIMIT, unix.SYS_SYSINFO, unix.SYS_UNAME, unix.SYS_GETRANDOM,
}

// pathCalls are those that reach a file by its name.
var pathCalls = []uintptr{
	unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_UNLINKAT, unix.SYS_RENAMEAT2, unix.SYS_MKDIRAT, unix.SYS_MKNODAT,
	unix.SYS_LINKAT,
	unix.SYS_SYMLINKAT, unix.SYS_READLINKAT, unix.SYS_TRUNCATE, unix.SYS_CHDIR, unix.SYS_FACCESSAT,
	unix.SYS_FACCESSAT2, unix.SYS_STATX,
	unix.SYS_STATFS, unix.SYS_GETXATTR, unix.SYS_LGETXATTR, unix.SYS_LISTXATTR, unix.SYS_LLISTXATTR,
}

// assemble makes the filter of the rules, in classic BPF: a list of comparisons,
// then the calls that are allowed, and ENOSYS for all others. The kernel keeps a table of the calls that are allowed
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
		matched, otherwise := uint32(answerAllow), r.answer
		if r.inverse {
			matched, otherwise = otherwise, matched
		}
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
			body = append(body, answer(matched))
		}
		body = append(body, answer(otherwise))
		program = append(program, jumpEqual(uint32(r.call), 0, uint8(len(body))))
		program = append(program, body...)
	}
	for _, calls := range [][]uintptr{allowedCalls, archAllowedCalls, pathCalls, archPathCalls, archForkCalls} {
		for _, call := range calls {
			program = append(program, jumpEqual(uint32(call), 0, 1), answer(answerAllow))
		}
	}
	return append(program, answer(errno(unix.ENOSYS)))
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
func filterThread(o filterOptions) error {
	if o.held || o.opens {
		return filterHeld(o)
	}
	_, err := install(o, 0)
	return err
}

func filterAllThreads(o filterOptions) error {
	odd, err := install(o, unix.SECCOMP_FILTER_FLAG_TSYNC)
	if err == nil && odd != 0 {
		err = fmt.Errorf("put up seccomp: thread %d could not be brought in line", odd)
	}
	return err
}

// filterHeld puts the filter on this thread and sends its listener to the launcher.
func filterHeld(o filterOptions) error {
	const listener = unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	// With the second flag a signal does not interrupt what is answered; kernels
	// before 5.19 do not know it.
	fd, err := install(o, listener|unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	if errors.Is(err, unix.EINVAL) {
		fd, err = install(o, listener)
	}
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(holdDescriptor, []byte{0}, unix.UnixRights(fd), nil, 0); err != nil {
		return fmt.Errorf("have Conclave answer its calls: %w", err)
	}
	return nil
}

func install(o filterOptions, flags uintptr) (int, error) {
	filter := assemble(rules(o))
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	answer, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags,
		uintptr(unsafe.Pointer(&program)))
	runtime.KeepAlive(filter)
	if err != 0 {
		return 0, fmt.Errorf("put up seccomp: %w", err)
	}
	return int(answer), nil
}

// hasSeccomp reports whether the kernel knows the filters we make.
func hasSeccomp() bool {
	action := uint32(answerErrno)
	_, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_GET_ACTION_AVAIL, 0, uintptr(unsafe.Pointer(&action)))
	return err == 0
}
