//go:build unix && !freebsd && !dragonfly

package confine

import "syscall"

// set lowers both limits to value; a lower one stays.
func set(limit *syscall.Rlimit, value uint64) {
	limit.Max = min(limit.Max, value)
	limit.Cur = limit.Max
}
