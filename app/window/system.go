package window

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/fault"
)

// openPath shows a file or folder with the system's own program for it.
func openPath(ctx context.Context, path string) error {
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		if err := os.MkdirAll(path, 0o700); err != nil {
			return fault.Wrap(fault.NotFound, "app.open", path+" is not there.", "", err)
		}
	}
	switch runtime.GOOS {
	case "darwin":
		return start(ctx, "open", path)
	case "windows":
		return start(ctx, "explorer", path)
	}
	return start(ctx, "xdg-open", path)
}

// openEditor opens a file at a line: with the person's command, in which {file}
// and {line} stand for the two, else with an editor that knows lines, else with
// the system's program for such files. The command is a program and its
// arguments; no shell reads it. It returns the name of the program, "" for the system's.
func openEditor(ctx context.Context, command, path string, line int) (string, error) {
	line = max(line, 1)
	if words := strings.Fields(command); len(words) > 0 {
		named := false
		for i := range words {
			named = named || strings.Contains(words[i], "{file}")
			words[i] = strings.NewReplacer("{file}", path, "{line}", strconv.Itoa(line)).Replace(words[i])
		}
		if !named {
			words = append(words, path)
		}
		return filepath.Base(words[0]), start(ctx, words[0], words[1:]...)
	}
	for _, editor := range []struct {
		program string
		args    []string
	}{
		{"code", []string{"--goto", path + ":" + strconv.Itoa(line)}},
		{"codium", []string{"--goto", path + ":" + strconv.Itoa(line)}},
		{"zed", []string{path + ":" + strconv.Itoa(line)}},
		{"subl", []string{path + ":" + strconv.Itoa(line)}},
		{"kate", []string{"--line", strconv.Itoa(line), path}},
		{"gedit", []string{"+" + strconv.Itoa(line), path}},
	} {
		if _, err := exec.LookPath(editor.program); err == nil {
			return editor.program, start(ctx, editor.program, editor.args...)
		}
	}
	return "", openPath(ctx, path)
}

// watched is how long a program is looked at after its start: one that cannot open what it is
// given ends at once.
var watched = time.Second

// start runs a program that outlives the call. It fails where that ends at once and says that it
// failed.
func start(ctx context.Context, program string, args ...string) error {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...)
	if err := cmd.Start(); err != nil {
		return fault.Wrap(fault.Unavailable, "app.open", "The program "+program+" could not be started.",
			"Set an editor in Settings > General.", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }() // reaps it; ends with that program
	select {
	case err := <-ended:
		if err != nil && program != "explorer" { // which says that of whatever it opens
			return fault.Wrap(fault.Unavailable, "app.open",
				"The program "+program+" could not open "+cmd.Args[len(cmd.Args)-1]+".",
				"Set an editor in Settings > General.", err)
		}
	case <-time.After(watched):
	}
	return nil
}
