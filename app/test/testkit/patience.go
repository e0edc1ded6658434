package testkit

import (
	"os"
	"strconv"
	"time"
)

// Patience limits how long a test waits for something that comes by itself: far above what it
// takes, so that only a hang ends a wait. It is 2 min on a machine of ordinary speed, and
// grows with how much slower than that the machine was when the suite began.
var Patience = pace() * 2 * time.Minute

// pace returns the number that .ci/pace measured, at least 1.
func pace() time.Duration {
	n, err := strconv.Atoi(os.Getenv("CONCLAVE_TEST_PACE"))
	if err != nil || n < 1 {
		return 1
	}
	return time.Duration(n)
}
