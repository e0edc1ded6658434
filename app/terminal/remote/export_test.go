package remote

import (
	"testing"
	"time"
)

// Window is how much input is sent that a command has not read.
const Window = window

// SetPatience changes for a test, beside which no other may run, how long the other side
// may be silent.
func SetPatience(t *testing.T, long time.Duration) {
	was := patience
	patience = long
	t.Cleanup(func() { patience = was })
}
