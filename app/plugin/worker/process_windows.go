package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"conclave/app/plugin/worker/confine"

	"golang.org/x/sys/windows"
)

// inherit names the spec's pipe in the environment of the process, which gets it as a
// handle. A command gets it too, and does not read it.
func inherit(cmd *exec.Cmd, spec *os.File) error {
	handle := spec.Fd()
	err := windows.SetHandleInformation(windows.Handle(handle), windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT)
	if err != nil {
		return fmt.Errorf("give the process its spec: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:                 true,
		CreationFlags:              windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		AdditionalInheritedHandles: []syscall.Handle{syscall.Handle(handle)},
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", confine.SpecVariable, handle))
	return nil
}

// group is the job object of a process: it ends with its last handle, ours, and so with
// Conclave, and ends whatever the process started.
type group struct {
	job windows.Handle
}

func (*group) prepare(*exec.Cmd) {}

// start starts the process and puts it into its job. A program that it starts before
// that, within its first moment, is not in the job.
func (g *group) start(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("make a job for the process: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE,
		},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return err
	}
	g.job = job
	if err := join(job, cmd.Process.Pid); err != nil {
		g.kill(cmd)
		_ = cmd.Wait()
		g.close()
		return fmt.Errorf("put the process into its job: %w", err)
	}
	return nil
}

// join puts a process into a job.
func join(job windows.Handle, pid int) error {
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer func() { _ = windows.CloseHandle(process) }()
	return windows.AssignProcessToJobObject(job, process)
}

// kill ends the process and the job that it may be in.
func (g *group) kill(cmd *exec.Cmd) {
	_ = windows.TerminateJobObject(g.job, 1)
	_ = cmd.Process.Kill()
}

// terminate reports that there is no way to ask a group of processes to end.
func (*group) terminate(*exec.Cmd) bool { return false }

func (g *group) close() { _ = windows.CloseHandle(g.job) }

func signalOf(*os.ProcessState) string { return "" }

// tooMany reports an error that says that a system limit is reached.
func tooMany(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY) || errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES) ||
		errors.Is(err, windows.ERROR_NO_SYSTEM_RESOURCES)
}
