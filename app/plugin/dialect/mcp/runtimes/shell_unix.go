//go:build !windows

package runtimes

import (
	"bytes"
	"context"
	"crypto/rand"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// maxOutput bounds what is read of the shell.
const maxOutput = 1 << 20

// fromShell asks the login shell for its variables; nil when it does not answer. The shell is interactive, because
// many people set PATH in a file that only such a shell reads; it has its own session, so that it takes no
// terminal away, and is ended with all that it started.
func fromShell(ctx context.Context, within time.Duration) map[string]string {
	shell := os.Getenv("SHELL")
	if !filepath.IsAbs(shell) {
		shell = "/bin/sh"
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	mark := rand.Text()
	// printf is in every shell, and env -0 on every system; quotes keep fish and csh from changing anything
	script := "printf '%s\\0' '" + mark + "'; command env -0; printf '%s\\0' '" + mark + "'"
	if slices.Contains([]string{"csh", "tcsh", "nu", "xonsh", "pwsh"}, filepath.Base(shell)) {
		return nil // they read another language
	}
	cmd := exec.CommandContext(ctx, shell, "-ilc", script) //nolint:gosec // the person's own shell
	cmd.Env = append(os.Environ(), "TERM=dumb", "DISABLE_AUTO_UPDATE=true", "ZSH_TMUX_AUTOSTART=false")
	cmd.Dir, _ = os.UserHomeDir()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &limited{&out, maxOutput}
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what its files started in the background
	}
	if err != nil && !strings.Contains(out.String(), mark) {
		return nil
	}
	return between(out.String(), mark)
}

// between returns the variables that stand between two marks; what files of the shell print stands around them.
func between(out, mark string) map[string]string {
	_, rest, begun := strings.Cut(out, mark+"\x00")
	inner, _, ended := strings.Cut(rest, mark+"\x00")
	if !begun || !ended {
		return nil
	}
	all := variables(strings.Split(inner, "\x00"))
	if all["PATH"] == "" {
		return nil
	}
	return all
}

// limited writes at most left bytes on, and takes the rest without an error.
type limited struct {
	w    io.Writer
	left int
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), l.left)
	l.left -= n
	if _, err := l.w.Write(p[:n]); err != nil {
		return 0, err
	}
	return len(p), nil
}
