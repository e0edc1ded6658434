//go:build unix

package worker

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// inherit leaves the spec's pipe to the process as descriptor 3.
func inherit(cmd *exec.Cmd, spec *os.File) error {
	cmd.ExtraFiles = []*os.File{spec}
	return nil
}

// group is the process group of a process, of which it is the leader.
type group struct{}

func (group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

func (group) start(cmd *exec.Cmd) error { return cmd.Start() }

// kill kills everything in the group. Called before the leader is reaped, its id
// cannot have become another's.
func (group) kill(cmd *exec.Cmd) { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }

// terminate asks everything in the group to end.
func (group) terminate(cmd *exec.Cmd) bool { return unix.Kill(-cmd.Process.Pid, unix.SIGTERM) == nil }

func (group) close() {}

func signalOf(s *os.ProcessState) string {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return status.Signal().String()
	}
	return ""
}

// tooMany reports an error that says that a system limit is reached.
func tooMany(err error) bool {
	return errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EMFILE) || errors.Is(err, unix.ENFILE) ||
		errors.Is(err, unix.ENOMEM)
}
