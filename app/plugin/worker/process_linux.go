package worker

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"syscall"
	"time"

	"conclave/app/plugin/sandbox"

	"golang.org/x/sys/unix"
)

// commandOf returns the command line of a command: our own program, which sets up the
// sandbox and becomes the command.
func commandOf(program string, _ sandbox.Spec) *exec.Cmd {
	return exec.Command(program, "confine") //nolint:noctx // Close and Kill end it
}

// endWithLauncher has the process killed when the thread that starts it ends, which the
// launcher's never does before it.
func endWithLauncher(cmd *exec.Cmd) { cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL }

// wait waits until the process is dead, and leaves it to be reaped.
func (group) wait(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			return
		}
	}
}

// clockTicks is USER_HZ: 100 on every Linux that Go runs on.
const clockTicks = 100

// usage reads /proc (proc(5)): utime and stime of stat, the second field of schedstat, Pss of
// smaps_rollup.
func usage(pid int) (u sandbox.Usage) {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		// The second field is the name in brackets, which may hold anything.
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 12 {
			const utime, stime = 14 - 3, 15 - 3 // counted from the third field
			ticks := number(fields[utime]) + number(fields[stime])
			u.CPU = time.Duration(ticks) * time.Second / clockTicks
		}
	}
	if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", pid)); err == nil {
		if fields := bytes.Fields(text); len(fields) > 1 { // ran, waited, how often
			u.Waited = time.Duration(number(fields[1]))
		}
	}
	if rollup, ok := kibibytes(fmt.Sprintf("/proc/%d/smaps_rollup", pid), "Pss:"); ok {
		u.Memory = rollup
		return u
	}
	if statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil {
		if fields := bytes.Fields(statm); len(fields) > 1 {
			u.Memory = number(fields[1]) * int64(os.Getpagesize())
		}
	}
	return u
}

// used returns the memory of a process, and of its group when it may start others:
// what is in use, what was moved to disk and the tables that say where it lies, each
// page that several share in equal parts. Whose pages are shared is only found out,
// since that takes longer, when all together could be more than most.
func used(pid int, group bool, most int64) int64 {
	pids := those(pid, group)
	sum := func(file string, fields ...string) (bytes int64) {
		for _, pid := range pids {
			size, _ := kibibytes(fmt.Sprintf("/proc/%d/%s", pid, file), fields...)
			bytes += size
		}
		return bytes
	}
	// A page that is mapped and never written takes no memory, and its table 4 KiB.
	tables := sum("status", "VmPTE:")
	if all := tables + sum("status", "VmRSS:", "VmSwap:"); all <= most {
		return all
	}
	return tables + sum("smaps_rollup", "Pss:", "SwapPss:")
}

// threads returns how many a process has, with those of its group when it may start
// others.
func threads(pid int, group bool) (count int64) {
	for _, pid := range those(pid, group) {
		n, _ := figures(fmt.Sprintf("/proc/%d/status", pid), "Threads:")
		count += n
	}
	return count
}

// those are a process and, when it may start others, the members of its group.
func those(pid int, group bool) []int {
	if group {
		return members(pid)
	}
	return []int{pid}
}

// members returns the processes of a group.
func members(group int) []int {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	var pids []int
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if of, err := unix.Getpgid(pid); err == nil && of == group {
			pids = append(pids, pid)
		}
	}
	return pids
}

// kibibytes returns the sum of the fields of a file of /proc, in bytes. A size is
// written "Pss:  12 kB".
func kibibytes(path string, names ...string) (sum int64, ok bool) {
	sum, ok = figures(path, names...)
	return sum * 1024, ok
}

// figures returns the sum of the fields of a file of /proc, as they stand there.
func figures(path string, names ...string) (sum int64, ok bool) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(text) {
		fields := bytes.Fields(line)
		if len(fields) > 1 && slices.Contains(names, string(fields[0])) {
			sum += number(fields[1])
		}
	}
	return sum, true
}

func number(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
