//go:build unix && !linux

package worker

import (
	"os/exec"
	"syscall"

	"conclave/app/plugin/sandbox"
)

// processAttributes give a process its own group. These systems cannot tie it to
// its parent's life; a worker ends when its input does, which it does with
// Conclave.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// wait waits until the process has ended, and reaps it: these systems have no
// common way to do one without the other. What it started is killed right after.
func (group) wait(cmd *exec.Cmd) { _ = cmd.Wait() }

// used is unknown here; on Windows the job object bounds all memory.
func used(int, bool, int64) int64 { return 0 }

// threads is not asked for here.
func threads(int, bool) int64 { return 0 }

// usage is unknown here.
func usage(int) sandbox.Usage { return sandbox.Usage{} }

// unseen is unknown here.
func unseen(int, sandbox.Spec) int64 { return 0 }
