//go:build unix && !linux

package confine

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"conclave/app/plugin/sandbox"
)

// Detect returns which sandbox this system has, as far as anybody knows.
func Detect() sandbox.Confinement { return sandbox.Unproven(runtime.GOOS) }

// Self sets the resource limits of spec: what walls this system has, it was told of by
// the host, before the process began ([Behind]).
func Self(spec sandbox.Spec) error { return limit(spec) }

// Exec sets the resource limits of spec and becomes spec.Argv, behind its walls. It
// returns only when that failed.
func Exec(spec sandbox.Spec) error {
	if len(spec.Argv) == 0 {
		return errors.New("the spec names no program")
	}
	program, err := exec.LookPath(spec.Argv[0])
	if err != nil {
		return fmt.Errorf("find the program %s: %w", spec.Argv[0], err)
	}
	if program, err = filepath.Abs(program); err != nil {
		return err
	}
	start, argv, err := Behind(program, spec.Argv, spec)
	if err != nil {
		return err
	}
	if err := limit(spec); err != nil {
		return err
	}
	return fmt.Errorf("start %s: %w", start, syscall.Exec(start, argv, spec.Env))
}
