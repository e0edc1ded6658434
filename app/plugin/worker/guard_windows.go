package worker

import (
	"conclave/app/plugin/sandbox"
)

// guard is not needed here: a job object ends with Conclave and takes along what
// plugins started.
type guard struct{ program string }

func guarded(sandbox.Spec) bool { return false }

func (*guard) add(int) error { return nil }
func (*guard) remove(int)    {}
func (*guard) close()        {}
