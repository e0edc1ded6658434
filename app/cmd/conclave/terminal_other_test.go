//go:build !linux

package main

import (
	"errors"
	"os"
	"syscall"
)

func (j *job) atTerminal() error { return errors.New("scripts have a terminal on Linux only") }

func (j *job) untilHidden() error { return errors.New("scripts have a terminal on Linux only") }

func mountSmall(string, string) (func(), error) {
	return nil, errors.New("scripts have small disks on Linux only")
}

func lock(*os.File) error { return errors.New("scripts hold locks on Linux only") }

// stopSignal does nothing: scripts stop programs on Linux only.
const stopSignal = syscall.Signal(0)
