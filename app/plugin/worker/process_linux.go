package worker

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"conclave/app/plugin"
)

// processAttributes give a process its own group, and have it killed when the
// thread that started it ends, which the launcher's never does before it.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

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

// usage reads /proc (proc(5)): utime and stime of stat, Pss of smaps_rollup.
func usage(pid int) plugin.Usage {
	var u plugin.Usage
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err == nil {
		// The second field is the name in brackets, which may hold anything.
		if fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:]); len(fields) > 12 {
			const utime, stime = 14 - 3, 15 - 3 // counted from the third field
			ticks := number(fields[utime]) + number(fields[stime])
			u.CPU = time.Duration(ticks) * time.Second / clockTicks
		}
	}
	if rollup, err := os.ReadFile(fmt.Sprintf("/proc/%d/smaps_rollup", pid)); err == nil {
		for line := range bytes.Lines(rollup) {
			if size, ok := bytes.CutPrefix(line, []byte("Pss:")); ok {
				if fields := bytes.Fields(size); len(fields) > 0 {
					u.Memory = number(fields[0]) * 1024
				}
			}
		}
		return u
	}
	if statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid)); err == nil {
		if fields := bytes.Fields(statm); len(fields) > 1 {
			u.Memory = number(fields[1]) * int64(os.Getpagesize())
		}
	}
	return u
}

func number(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
