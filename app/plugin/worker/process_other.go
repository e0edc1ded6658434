//go:build !linux

package worker

import (
	"os/exec"

	"conclave/app/plugin/sandbox"
)

// commandOf returns the command line of a command, which is started directly: this
// system has no sandbox.
func commandOf(_ string, spec sandbox.Spec) *exec.Cmd {
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...) //nolint:noctx // Close and Kill end it
	cmd.Env = spec.Env
	return cmd
}

// endWithLauncher does nothing: these systems cannot tie a process to its parent's life.
// The guard or the job object ends it with Conclave.
func endWithLauncher(*exec.Cmd) {}

// wait waits until the process has ended, and reaps it: these systems have no
// common way to do one without the other. What it started is killed right after.
func (*group) wait(cmd *exec.Cmd) { _ = cmd.Wait() }

// used is unknown here.
func used(int, bool, int64) int64 { return 0 }

// threads is unknown here.
func threads(int, bool) int64 { return 0 }

// usage is unknown here.
func usage(int) sandbox.Usage { return sandbox.Usage{} }

// unseen is unknown here.
func unseen(int, sandbox.Spec) int64 { return 0 }
