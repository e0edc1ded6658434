package desktop

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"time"

	"conclave/app/base/fault"
	"conclave/app/core"
	"conclave/store"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// waitingFlag is the first word of a run of this program that shows who has the
// chats open and returns what the person chose. It is a program of its own, since
// the toolkit runs once in a process, and the window may open any moment.
const waitingFlag = "--waiting-for"

// patience limits how long a command of the terminal is waited for without a word:
// most end within it.
const patience = 2 * time.Second

// endThemStatus is the exit status of the question when the other program shall
// be ended.
const endThemStatus = 3

// askWaiting asks, in a small window, what to do about the program that has the
// store. The question goes away with ctx.
func askWaiting(ctx context.Context, owner store.Owner) core.Choice {
	self, err := os.Executable()
	if err != nil {
		return core.GiveUp
	}
	cmd := exec.CommandContext(ctx, self, waitingFlag, waitingFor(owner))
	cmd.Stderr = os.Stderr
	if status, ok := errors.AsType[*exec.ExitError](cmd.Run()); ok && status.ExitCode() == endThemStatus {
		return core.EndThem
	}
	return core.GiveUp
}

// waitingFor names the program that has the store.
func waitingFor(owner store.Owner) string {
	if owner.PID == 0 {
		return "Another Conclave has your chats open."
	}
	return fmt.Sprintf("“%s” has your chats open in a terminal, since %s (process %d).", owner.Program,
		owner.Since.Local().Format("15:04"), owner.PID)
}

// Waiting serves the page of the question, and its script.
type Waiting struct {
	ctx   context.Context //nolint:containedctx // Wails' own
	endIt bool
}

// End has the other program ended.
func (w *Waiting) End() {
	w.endIt = true
	runtime.Quit(w.ctx)
}

// GiveUp closes the question.
func (w *Waiting) GiveUp() { runtime.Quit(w.ctx) }

// ServeHTTP answers with the page. It implements http.Handler.
func (w *Waiting) ServeHTTP(out http.ResponseWriter, _ *http.Request) {
	_ = waitingPage.Execute(out, os.Args[len(os.Args)-1]) // nobody is left to be told
}

var waitingPage = smallPage("waiting", `
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Conclave</title>
{{template "style"}}</head>
<body>
<h1>Conclave is in use in a terminal</h1>
<p role="status">{{.}} The window opens by itself as soon as that ends. Ending it now stops its answer;
what was said is kept.</p>
<button id="give-up" autofocus>Do not open the window</button><button id="end">End it and open the window</button>
<script>
document.getElementById("give-up").onclick = () => window.go.desktop.Waiting.GiveUp();
document.getElementById("end").onclick = () => window.go.desktop.Waiting.End();
</script>
</body>
</html>`)

// showWaiting runs the question. Its error ends the program with a status that
// says what was chosen.
func (p *program) showWaiting() error {
	w := &Waiting{}
	err := p.showSmall(w, 250, func(ctx context.Context) { w.ctx = ctx })
	if err == nil && w.endIt {
		os.Exit(endThemStatus)
	}
	return err
}

// openCore opens the core, once no command of the terminal has the store. nil
// without an error says that the person gave up.
func openCore(ctx context.Context, o core.Options) (*core.Core, error) {
	c, err := core.OpenWhenFree(ctx, o, patience, askWaiting)
	if fault.KindOf(err) == fault.Canceled {
		return nil, nil //nolint:nilnil // nothing went wrong
	}
	return c, err
}
