//go:build unix

package worker

import (
	"errors"
	"os"
	"os/exec"
	"syscall"

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"

	"golang.org/x/sys/unix"
)

// commandOf returns the command line of a command: our own program, which sets up the
// sandbox and becomes the command.
func commandOf(program string, _ sandbox.Spec) *exec.Cmd {
	return exec.Command(program, "confine") //nolint:noctx // Close and Kill end it
}

// ownOf returns the command line of a process that is part of our own program.
func ownOf(program string, spec sandbox.Spec) (*exec.Cmd, error) {
	start, argv, err := confine.Behind(program, []string{program, spec.Kind}, spec)
	if err != nil {
		return nil, err
	}
	return exec.Command(start, argv[1:]...), nil //nolint:noctx // Close and Kill end it
}

// inherit leaves the spec's pipe to the process as descriptor 3.
func inherit(cmd *exec.Cmd, spec *os.File) error {
	cmd.ExtraFiles = []*os.File{spec}
	return nil
}

// group is the process group of a process, of which it is the leader.
type group struct{}

func (group) prepare(cmd *exec.Cmd) { cmd.SysProcAttr = processAttributes() }

func (group) start(cmd *exec.Cmd, _ sandbox.Spec) error { return cmd.Start() }

// kill kills everything in the group. Called before the leader is reaped, its id
// cannot have become another's.
func (group) kill(cmd *exec.Cmd) { _ = unix.Kill(-cmd.Process.Pid, unix.SIGKILL) }

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
