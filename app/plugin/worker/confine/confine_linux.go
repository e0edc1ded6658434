package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"syscall"

	"conclave/app/plugin/sandbox"

	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"
)

// Detect returns which sandbox this system has.
func Detect() sandbox.Confinement {
	c := describe(landlockVersion(), hasSeccomp())
	if !CanHold() {
		c.Network = sandbox.NotHeld
	}
	if !CanListen() {
		c.Ports = sandbox.NoPorts
	}
	return c
}

// found is the sentence of what Landlock leaves open: it guards what opens a file, and not stat(2),
// access(2) and readlink(2).
const found = "It can find out whether a file is there whose name it knows, how large it is and when it was " +
	"changed, also where it may not read what is in it."

func describe(landlock int, seccomp bool) sandbox.Confinement {
	switch {
	case landlock > 0 && seccomp:
		return sandbox.Confinement{Level: "process+landlock", Found: found}
	case landlock > 0:
		return sandbox.Confinement{
			Level:    "process",
			Sentence: "Runs as you; it cannot read your files, but it can reach the network and start programs.",
		}
	case seccomp:
		return sandbox.Confinement{
			Level:    "process",
			Sentence: "Runs as you, and a Python plugin can read and change your files: this system's kernel has no Landlock.",
		}
	}
	return sandbox.None()
}

// Self applies the sandbox of spec to all threads of this process, for good. It is for
// a process that keeps running: the JavaScript worker. Open files stay open; the
// caller must first read whatever needs files that spec does not list.
//
// Where Landlock is missing, every call that names a path is refused instead, so that
// the process cannot open anything any more, not even what spec lists.
func Self(spec sandbox.Spec) error { return self(spec, landlockVersion()) }

func self(spec sandbox.Spec, landlock int) error {
	if err := limit(spec); err != nil {
		return err
	}
	if err := ll.AllThreadsPrctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if landlock > 0 {
		rules, err := newRuleset(spec, landlock, threadLists()...)
		if err != nil {
			return err
		}
		err = ll.AllThreadsLandlockRestrictSelf(rules, 0)
		_ = unix.Close(rules)
		if err != nil {
			return fmt.Errorf("put up Landlock: %w", err)
		}
	}
	o := filterOptions{
		sockets: spec.Sockets, proxied: spec.Proxy != "" || spec.Listens, spawn: spec.Spawn, exec: spec.Spawn,
		writes: len(spec.Write) > 0, paths: landlock > 0, pid: os.Getpid(),
	}
	return filterAllThreads(o)
}

// Exec applies the sandbox of spec to this thread and becomes spec.Argv, with
// spec's environment. It returns only when that failed; the process is then of no
// further use, and should say the error and end.
//
// Where Landlock is missing, the program can open what the person can, and
// [Detect] says so.
func Exec(spec sandbox.Spec) error { return execute(spec, landlockVersion()) }

func execute(spec sandbox.Spec, landlock int) error {
	program, err := find(spec)
	if err != nil {
		return err
	}
	if len(spec.Execute) == 0 {
		spec.Execute = []string{program}
		if loader := loaderOf(program); loader != "" {
			spec.Execute = append(spec.Execute, loader)
		}
	}
	// The sandbox is this thread's alone, and the only thread that survives the
	// exec is this one.
	runtime.LockOSThread()
	if err := dieWithHost(); err != nil {
		return err
	}
	debug.SetGCPercent(-1) // nothing of this program outlives the next moment
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("give up new privileges: %w", err)
	}
	if landlock > 0 {
		rules, err := newRuleset(spec, landlock)
		if err != nil {
			return err
		}
		err = ll.LandlockRestrictSelf(rules, 0)
		_ = unix.Close(rules)
		if err != nil {
			return fmt.Errorf("put up Landlock: %w", err)
		}
	}
	// Nothing but the three streams goes over. Kernels before 5.11 do not know
	// the flag; there Go's own descriptors close on exec anyway.
	_ = unix.CloseRange(3, ^uint(0)>>1, unix.CLOSE_RANGE_CLOEXEC)
	if spec.Held || spec.Opens {
		syscall.CloseOnExec(holdDescriptor)
	}
	// Late: what this program, and not that one, still took would count.
	if err := limit(spec); err != nil {
		return err
	}
	if err := filterThread(filterOptions{
		sockets: spec.Sockets, proxied: spec.Proxy != "" || spec.Listens, held: spec.Held, listens: spec.Listens,
		opens: spec.Opens, spawn: spec.Spawn, exec: true,
		writes: len(spec.Write) > 0, paths: true, pid: os.Getpid(),
	}); err != nil {
		return err
	}
	err = syscall.Exec(program, spec.Argv, spec.Env)
	return fmt.Errorf("start %s: %w", program, err)
}

// dieWithHost has this thread, and the program that it becomes, killed when the
// host's process is. The launcher asked for that already, but of the first thread
// alone (prctl(2), PR_SET_PDEATHSIG), and Go runs this on whichever is free.
func dieWithHost() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("end with Conclave: %w", err)
	}
	if host != 0 && os.Getppid() != host {
		return errors.New("Conclave was ended meanwhile")
	}
	return nil
}

// find returns the path of the program that spec names.
func find(spec sandbox.Spec) (string, error) {
	if len(spec.Argv) == 0 {
		return "", errors.New("the spec names no program")
	}
	name := spec.Argv[0]
	if strings.Contains(name, "/") {
		return filepath.Abs(name)
	}
	for _, variable := range spec.Env {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			for _, dir := range filepath.SplitList(path) {
				if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil && filepath.IsAbs(found) {
					return found, nil
				}
			}
		}
	}
	return "", fmt.Errorf("find the program %s: %w", name, exec.ErrNotFound)
}
