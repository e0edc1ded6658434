package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"

	"golang.org/x/sys/windows"
)

// commandOf is the command line of a command. Windows cannot turn one program
// into another, so it is started directly, without a sandbox but the job's.
func commandOf(_ string, spec sandbox.Spec) *exec.Cmd {
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	cmd.Env = spec.Env
	return cmd
}

// ownOf returns the command line of a process that is part of our own program.
func ownOf(program string, spec sandbox.Spec) (*exec.Cmd, error) {
	return exec.Command(program, spec.Kind), nil
}

// inherit leaves the spec's pipe to the process as a handle named in its
// environment. A program that is not ours inherits it too, and pays no heed.
func inherit(cmd *exec.Cmd, spec *os.File) error {
	handle := syscall.Handle(spec.Fd())
	if err := windows.SetHandleInformation(windows.Handle(handle), windows.HANDLE_FLAG_INHERIT,
		windows.HANDLE_FLAG_INHERIT); err != nil {
		return fmt.Errorf("hand over the spec: %w", err)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		HideWindow:                 true,
		CreationFlags:              windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW,
		AdditionalInheritedHandles: []syscall.Handle{handle},
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", confine.SpecVariable, uintptr(handle)))
	return nil
}

// group is the job object of a process: it ends with its last handle, ours, and
// so with Conclave, and takes with it whatever the process started.
type group struct {
	job windows.Handle
}

func (*group) prepare(*exec.Cmd) {}

func (g *group) begin(cmd *exec.Cmd, spec sandbox.Spec) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("make a job for the process: %w", err)
	}
	g.job = job
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if spec.Memory > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_PROCESS_MEMORY
		info.ProcessMemoryLimit = uintptr(spec.Memory)
	}
	if !spec.Spawn {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
		info.BasicLimitInformation.ActiveProcessLimit = 1
	}
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		return fmt.Errorf("set the limits of the job: %w", err)
	}
	process, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false,
		uint32(cmd.Process.Pid))
	if err != nil {
		return fmt.Errorf("open the process: %w", err)
	}
	defer func() { _ = windows.CloseHandle(process) }()
	if err := windows.AssignProcessToJobObject(job, process); err != nil {
		return fmt.Errorf("put the process into its job: %w", err)
	}
	return nil
}

// wait waits until the process has ended.
func (*group) wait(cmd *exec.Cmd) { _ = cmd.Wait() }

func (g *group) kill(cmd *exec.Cmd) {
	if g.job == 0 || windows.TerminateJobObject(g.job, 1) != nil {
		_ = cmd.Process.Kill()
	}
}

func (g *group) close() {
	if g.job != 0 {
		_ = windows.CloseHandle(g.job)
	}
}

func signalOf(*os.ProcessState) string { return "" }

// used is unknown here; on Windows the job object bounds all memory.
func used(int, bool, int64) int64 { return 0 }

// threads is not asked for here.
func threads(int, bool) int64 { return 0 }

// usage is unknown here.
func usage(int) sandbox.Usage { return sandbox.Usage{} }

// unseen is unknown here.
func unseen(int, sandbox.Spec) int64 { return 0 }

// tooMany reports an error that says that a system limit is reached.
func tooMany(err error) bool {
	return errors.Is(err, windows.ERROR_NOT_ENOUGH_MEMORY) || errors.Is(err, windows.ERROR_TOO_MANY_OPEN_FILES) ||
		errors.Is(err, windows.ERROR_NO_SYSTEM_RESOURCES)
}
