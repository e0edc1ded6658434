//go:build !linux

package worker

import "conclave/app/plugin/sandbox"

// held is nothing: this system does not let the connections of a process be made for
// it.
type held struct{}

func (p *Process) hold() error { return nil }

func (held) serve(sandbox.Spec, <-chan struct{}) error { return nil }

func (held) close() {}
