package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"

	"conclave/app/fault"
)

// WindowProgram is the name of the window's program, which lies beside this one.
const WindowProgram = "conclave-window"

// openWindow starts the window's program with the same folders and returns once
// it runs.
func openWindow(ctx context.Context, p Places) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	name := WindowProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	path := filepath.Join(filepath.Dir(self), name)
	if _, err := os.Stat(path); err != nil {
		return fault.Wrap(fault.NotFound, "cli.window", "The window's program "+path+" is not there.", "Install Conclave again, or use conclave chat. conclave help shows all commands.", err)
	}
	args := []string{"--data", p.Data}
	if !p.OwnPlugins {
		args = append(args, "--plugins", p.Plugins)
	}
	// The window outlives this command: ctx ends with it, so it is not the
	// window's.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, args...)
	if err := cmd.Start(); err != nil {
		return fault.Wrap(fault.Unavailable, "cli.window", "The window could not be started.", "conclave doctor says what is missing.", err)
	}
	return errors.Join(cmd.Process.Release())
}
