package worker

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"unsafe"

	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/worker/confine"
	"conclave/app/plugin/worker/walls"

	"golang.org/x/sys/windows"
)

// commandOf is the command line of a command. Windows cannot turn one program
// into another, so it is started directly, behind the walls that [group] gives it.
func commandOf(_ string, spec sandbox.Spec) *exec.Cmd {
	cmd := exec.Command(spec.Argv[0], spec.Argv[1:]...)
	cmd.Env = spec.Env
	return cmd
}

// ownOf returns the command line of a process that is part of our own program.
func ownOf(program string, spec sandbox.Spec) (*exec.Cmd, error) {
	return exec.Command(program, spec.Kind), nil
}

// inherit names the spec's pipe in the environment of the process, which gets it as a
// handle. A program that is not ours gets it too, and pays no heed.
func inherit(cmd *exec.Cmd, spec *os.File) error {
	cmd.ExtraFiles = []*os.File{spec}
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", confine.SpecVariable, spec.Fd()))
	return nil
}

// group is the job object of a process: it ends with its last handle, ours, and
// so with Conclave, and takes with it whatever the process started.
type group struct {
	job windows.Handle
}

func (*group) prepare(*exec.Cmd) {}

// start starts the process within its job and behind its walls; one that cannot have
// them is not started.
func (g *group) start(cmd *exec.Cmd, spec sandbox.Spec) (err error) {
	if cmd.Err != nil {
		return cmd.Err
	}
	plan, err := walls.OfWindows(cmd.Path, spec, filepath.EvalSymlinks)
	if err != nil {
		return fmt.Errorf("describe the walls of the process: %w", err)
	}
	if err := grant(plan); err != nil {
		return err
	}
	if g.job, err = jobOf(plan.Job); err != nil {
		return err
	}
	if err := create(cmd, plan, g.job); err != nil {
		g.close()
		g.job = 0
		return err
	}
	return nil
}

// jobOf makes a job object with limits.
func jobOf(limits walls.Job) (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("make a job for the process: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{
			LimitFlags: limits.Flags, ActiveProcessLimit: limits.Processes,
		},
		ProcessMemoryLimit: uintptr(limits.Memory), JobMemoryLimit: uintptr(limits.AllMemory),
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		screen := windows.JOBOBJECT_BASIC_UI_RESTRICTIONS{UIRestrictionsClass: limits.UserInterface}
		_, err = windows.SetInformationJobObject(job, windows.JobObjectBasicUIRestrictions,
			uintptr(unsafe.Pointer(&screen)), uint32(unsafe.Sizeof(screen)))
	}
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("set the limits of the job: %w", err)
	}
	return job, nil
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
