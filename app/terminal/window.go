package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/version"
)

// VersionFlag has the window's program print its version instead of opening.
const VersionFlag = "--version"

// windowProgram returns the path of the window's program. One of another version is refused: it might open the
// store in a way that this program does not know.
func windowProgram(ctx context.Context) (string, error) {
	path, err := version.Beside(version.Window)
	if err != nil {
		return "", err
	}
	out, err := exec.CommandContext(ctx, path, VersionFlag).Output()
	said := strings.TrimSpace(string(out))
	switch {
	case errors.Is(err, os.ErrNotExist):
		return "", fault.Wrap(fault.NotFound, "cli.window", "The window's program "+path+" is not there.",
			"Install Conclave again, or use conclave chat. conclave help shows all commands.", err)
	case err != nil:
		return "", fault.Wrap(fault.Unavailable, "cli.window", "The window could not be started.",
			"conclave doctor shows what is missing.", err)
	case said != version.Window+" "+version.Version:
		return "", fault.New(fault.Conflict, "cli.window",
			fmt.Sprintf("%s is of another version: it is %s, and this is %s.",
				path, cmp.Or(said, "unknown"), version.Version),
			"Install Conclave again, so that its programs fit each other.")
	}
	return path, nil
}

// openWindow starts the window's program with the same folders and returns when it runs.
func openWindow(ctx context.Context, p Folders) error {
	path, err := windowProgram(ctx)
	if err != nil {
		return err
	}
	args := []string{"--data", p.Data}
	if !p.OwnPlugins {
		args = append(args, "--plugins", p.Plugins)
	}
	// The window runs on after this command, with which ctx ends.
	cmd := exec.CommandContext(context.WithoutCancel(ctx), path, args...)
	if err := cmd.Start(); err != nil {
		return fault.Wrap(fault.Unavailable, "cli.window", "The window could not be started.",
			"conclave doctor shows what is missing.", err)
	}
	return errors.Join(cmd.Process.Release())
}

// openWindow opens the window, as conclave does without a command.
func (t *terminal) openWindow(ctx context.Context) error {
	folders, err := t.folders()
	if err != nil {
		return err
	}
	return openWindow(ctx, folders)
}
