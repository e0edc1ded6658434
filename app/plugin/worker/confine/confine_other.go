//go:build !linux

package confine

import (
	"errors"

	"conclave/app/plugin/sandbox"
)

// Detect returns that this system has no sandbox.
func Detect() sandbox.Confinement { return sandbox.None() }

// Self does nothing: this system has no sandbox.
func Self(sandbox.Spec) error { return nil }

// Exec fails: the launcher starts commands directly here.
func Exec(sandbox.Spec) error { return errors.New("this system has no sandbox to start a program in") }

// CanHold reports that the launcher cannot make connections for a process here.
func CanHold() bool { return false }

// CanOpen reports that the launcher cannot open files for a process here.
func CanOpen() bool { return false }
