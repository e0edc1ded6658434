package remote

import (
	"testing"
	"time"
)

// SetPatience changes for a test, beside which no other may run, how long the other side
// may be silent.
func SetPatience(t *testing.T, long time.Duration) {
	was := patience
	patience = long
	t.Cleanup(func() { patience = was })
}
