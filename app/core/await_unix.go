//go:build !windows

package core

import "syscall"

// endProgram asks a program of this person's to end: it stops what it does, keeps
// what it has, and closes the store.
func endProgram(pid int) error { return syscall.Kill(pid, syscall.SIGTERM) }
