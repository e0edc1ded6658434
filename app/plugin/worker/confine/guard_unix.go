//go:build unix

package confine

import (
	"bufio"
	"io"
	"maps"
	"os/signal"
	"strconv"
	"syscall"
)

// Guard waits until host, a pipe from Conclave, ends, and then kills the process
// groups that are left. Each line of the pipe is a group that came ("+123") or went
// ("-123"). Conclave closes the pipe at its end, however it ends, so that what
// plugins started does not outlive it: a process that somebody's child started is
// not told of its grandparent's death by any system.
func Guard(host io.Reader) {
	// What ends Conclave must not end its guard first.
	signal.Ignore(syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	groups := map[int]bool{}
	lines := bufio.NewScanner(host)
	for lines.Scan() {
		group, err := strconv.Atoi(lines.Text())
		switch {
		case err != nil || group == 0 || group == 1 || group == -1:
		case group > 0:
			groups[group] = true
		default:
			delete(groups, -group)
		}
	}
	for group := range maps.Keys(groups) {
		_ = syscall.Kill(-group, syscall.SIGKILL)
	}
}
