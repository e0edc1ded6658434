package worker

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"unicode/utf16"
	"unsafe"

	"conclave/app/plugin/worker/walls"

	"golang.org/x/sys/windows"
)

// Attributes of a new process that x/sys does not name (winbase.h).
const (
	attributeCapabilities = 0x00020009 // PROC_THREAD_ATTRIBUTE_SECURITY_CAPABILITIES
	attributeJobs         = 0x0002000D // PROC_THREAD_ATTRIBUTE_JOB_LIST
)

// create starts cmd in a job from its first instruction on, in the AppContainer of its
// plan or with its restricted token, and with no handles but its streams and its spec.
// os/exec knows none of these attributes.
func create(cmd *exec.Cmd, plan walls.Windows, job windows.Handle) error {
	var token windows.Token
	var capabilities *securityCapabilities
	var err error
	if plan.Contained {
		capabilities, err = capabilitiesOf(plan)
	} else if token, err = restricted(plan); err == nil {
		defer func() { _ = token.Close() }()
	}
	if err != nil {
		return err
	}
	startup := windows.StartupInfoEx{StartupInfo: windows.StartupInfo{
		Flags: windows.STARTF_USESTDHANDLES | windows.STARTF_USESHOWWINDOW, ShowWindow: windows.SW_HIDE,
	}}
	startup.Cb = uint32(unsafe.Sizeof(startup))
	handles, err := handlesOf(cmd)
	if err != nil {
		return err
	}
	startup.StdInput, startup.StdOutput, startup.StdErr = handles[0], handles[1], handles[2]

	attributes, err := windows.NewProcThreadAttributeList(3)
	if err != nil {
		return fmt.Errorf("describe the process: %w", err)
	}
	defer attributes.Delete()
	jobs := []windows.Handle{job}
	size := unsafe.Sizeof(job)
	err = attributes.Update(windows.PROC_THREAD_ATTRIBUTE_HANDLE_LIST, unsafe.Pointer(&handles[0]),
		uintptr(len(handles))*size)
	if err == nil {
		err = attributes.Update(attributeJobs, unsafe.Pointer(&jobs[0]), size)
	}
	if err == nil && capabilities != nil {
		err = attributes.Update(attributeCapabilities, unsafe.Pointer(capabilities), unsafe.Sizeof(*capabilities))
	}
	if err != nil {
		return fmt.Errorf("describe the process: %w", err)
	}
	startup.ProcThreadAttributeList = attributes.List()
	err = begin(cmd, token, &startup)
	runtime.KeepAlive(capabilities)
	runtime.KeepAlive(cmd)
	return err
}

// begin creates the process, with token unless that is none.
func begin(cmd *exec.Cmd, token windows.Token, startup *windows.StartupInfoEx) error {
	program, err := windows.UTF16PtrFromString(cmd.Path)
	if err != nil {
		return err
	}
	line, err := windows.UTF16PtrFromString(windows.ComposeCommandLine(cmd.Args))
	if err != nil {
		return err
	}
	folder, err := windows.UTF16PtrFromString(cmd.Dir)
	if err != nil {
		return err
	}
	environment := environmentOf(cmd.Env)
	const flags = windows.CREATE_NEW_PROCESS_GROUP | windows.CREATE_NO_WINDOW | windows.CREATE_UNICODE_ENVIRONMENT |
		windows.EXTENDED_STARTUPINFO_PRESENT
	var made windows.ProcessInformation
	if token == 0 {
		err = windows.CreateProcess(program, line, nil, nil, true, flags, &environment[0], folder,
			&startup.StartupInfo, &made)
	} else {
		err = windows.CreateProcessAsUser(token, program, line, nil, nil, true, flags, &environment[0], folder,
			&startup.StartupInfo, &made)
	}
	if err != nil {
		return &os.PathError{Op: "start", Path: cmd.Path, Err: err}
	}
	// Its number is its own for as long as we have a handle of it.
	defer func() { _ = windows.CloseHandle(made.Process) }()
	_ = windows.CloseHandle(made.Thread)
	if cmd.Process, err = os.FindProcess(int(made.ProcessId)); err != nil {
		_ = windows.TerminateProcess(made.Process, 1)
		return fmt.Errorf("look after the process: %w", err)
	}
	return nil
}

// handlesOf returns the streams and the spec of a process, which it inherits.
func handlesOf(cmd *exec.Cmd) ([]windows.Handle, error) {
	var handles []windows.Handle
	for _, stream := range append([]any{cmd.Stdin, cmd.Stdout, cmd.Stderr}, anyOf(cmd.ExtraFiles)...) {
		file, ok := stream.(*os.File)
		if !ok {
			return nil, fmt.Errorf("hand over a stream: %T is no file", stream)
		}
		handle := windows.Handle(file.Fd())
		if err := windows.SetHandleInformation(handle, windows.HANDLE_FLAG_INHERIT, windows.HANDLE_FLAG_INHERIT); err != nil {
			return nil, fmt.Errorf("hand over a stream: %w", err)
		}
		handles = append(handles, handle)
	}
	return handles, nil
}

func anyOf(files []*os.File) (all []any) {
	for _, file := range files {
		all = append(all, file)
	}
	return all
}

// environmentOf returns variables as a new process gets them, in the order of their
// names; without SYSTEMROOT hardly a program starts.
func environmentOf(variables []string) []uint16 {
	const root = "SYSTEMROOT="
	variables = slices.Clone(variables)
	if !slices.ContainsFunc(variables, func(v string) bool { return strings.HasPrefix(strings.ToUpper(v), root) }) {
		variables = append(variables, root+os.Getenv("SYSTEMROOT"))
	}
	slices.SortStableFunc(variables, func(a, b string) int {
		return strings.Compare(strings.ToUpper(name(a)), strings.ToUpper(name(b)))
	})
	var block []uint16
	for _, v := range variables {
		block = append(append(block, utf16.Encode([]rune(strings.ReplaceAll(v, "\x00", "")))...), 0)
	}
	return append(block, 0)
}

func name(variable string) string {
	before, _, _ := strings.Cut(variable, "=")
	return before
}
