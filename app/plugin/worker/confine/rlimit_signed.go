//go:build freebsd || dragonfly

package confine

import (
	"math"
	"syscall"
)

// set lowers both limits to value; a lower one stays.
func set(limit *syscall.Rlimit, value uint64) {
	limit.Max = min(limit.Max, int64(min(value, math.MaxInt64)))
	limit.Cur = limit.Max
}
