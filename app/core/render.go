package core

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"conclave/app/cli"
	"conclave/app/fault"
)

// renderTime bounds how long the window's program may take to write a page: its
// start is under a tenth of a second, a megabyte of Markdown about one.
const renderTime = 30 * time.Second

// RenderFlag has the window's program write one page instead of opening: the
// Markdown comes in on standard input, the title is the word behind the flag.
const RenderFlag = "-render"

// windowProgram is the path of the window's program, which lies beside program.
func windowProgram(program string) string {
	name := cli.WindowProgram
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	return filepath.Join(filepath.Dir(program), name)
}

// render implements App.Render of package cli.
func (c *Core) render(ctx context.Context, title, markdown string) (string, error) {
	path := windowProgram(c.o.Program)
	if _, err := os.Stat(path); err != nil {
		return "", fault.Wrap(fault.NotFound, "core.render", path+", which renders Markdown, is not there.", "Install Conclave again.", err)
	}
	ctx, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, RenderFlag, title)
	cmd.Stdin = strings.NewReader(markdown)
	var page, problems bytes.Buffer
	cmd.Stdout, cmd.Stderr = &page, &problems
	if err := cmd.Run(); err != nil {
		c.Log.Warn("a page could not be rendered", "err", err, "said", problems.String())
		return "", fault.Wrap(fault.Unavailable, "core.render", path+" could not render them.", "conclave doctor says what is missing.", err)
	}
	return page.String(), nil
}
