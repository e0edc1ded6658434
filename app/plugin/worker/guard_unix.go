//go:build unix

package worker

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"

	"conclave/app/plugin/sandbox"
)

// guard is the process that outlives Conclave for a moment, to end what plugins
// started should Conclave be killed. It is started with the first plugin that
// needs it. It is safe for concurrent use.
type guard struct {
	program string

	mu     sync.Mutex // guards the fields below
	groups map[int]bool
	cmd    *exec.Cmd // nil when there is none
	pipe   *os.File
}

// guarded reports whether a process needs the guard: one that may start others,
// and on systems that do not tie a process to its parent's life, any.
func guarded(spec sandbox.Spec) bool { return spec.Spawn || runtime.GOOS != "linux" }

// add has the group of a process ended with Conclave, until remove. The error says
// why nobody will.
func (g *guard) add(group int) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups == nil {
		g.groups = map[int]bool{}
	}
	g.groups[group] = true
	if g.cmd != nil && g.say(group) == nil {
		return nil
	}
	g.stop() // it was killed
	if err := g.start(); err != nil {
		return fmt.Errorf("start the guard of plugins' processes: %w", err)
	}
	for group := range g.groups {
		if err := g.say(group); err != nil {
			return fmt.Errorf("tell the guard of plugins' processes: %w", err)
		}
	}
	return nil
}

// remove forgets a group whose processes have all ended.
func (g *guard) remove(group int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.groups[group] {
		delete(g.groups, group)
		_ = g.say(-group) // one that was killed is started again when it is needed
	}
}

// close ends the guard. It may be called more than once.
func (g *guard) close() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.stop()
}

// start starts the guard's process; g.mu is held. Its group is its own, so that
// Ctrl-C in a terminal does not reach it.
func (g *guard) start() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()                         //nolint:errcheck // the guard has its own
	cmd := exec.Command(g.program, "guard") //nolint:noctx // its pipe ends it
	cmd.Stdin, cmd.Env, cmd.SysProcAttr = r, []string{}, &syscall.SysProcAttr{Setpgid: true}
	cmd.Dir = "/"
	if err := cmd.Start(); err != nil {
		_ = w.Close()
		return err
	}
	g.cmd, g.pipe = cmd, w
	return nil
}

// stop closes the guard's pipe, at which it ends, and waits for it; g.mu is held.
func (g *guard) stop() {
	if g.cmd == nil {
		return
	}
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
	g.cmd, g.pipe = nil, nil
}

// say writes a line to the guard; g.mu is held.
func (g *guard) say(group int) error {
	if g.cmd == nil {
		return os.ErrClosed
	}
	_, err := fmt.Fprintf(g.pipe, "%+d\n", group)
	return err
}
