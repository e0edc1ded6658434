package desktop

import (
	"context"
	"html/template"
	"net/http"
	"os"
	"runtime"
	"strings"

	"conclave/app/base/fault"

	"github.com/wailsapp/wails/v2"
	"github.com/wailsapp/wails/v2/pkg/options"
	"github.com/wailsapp/wails/v2/pkg/options/assetserver"
	"github.com/wailsapp/wails/v2/pkg/options/linux"
	wails_runtime "github.com/wailsapp/wails/v2/pkg/runtime"
)

// smallPage is the page of a small window of its own, shown where there is no window
// of Conclave's: the style is shared, and what is filled in is escaped.
func smallPage(name, page string) *template.Template {
	const style = `<style>
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 28px; }
body { background: light-dark(#fbfaf8, #161614); color: light-dark(#22211f, #eceae6); }
h1 { font-size: 17px; margin: 0 0 8px; }
p { margin: 0 0 20px; overflow-wrap: anywhere; }
button { font: inherit; padding: 6px 14px; margin: 0 8px 8px 0; }
button { border-radius: 8px; border: 1px solid currentColor; background: transparent; color: inherit; }
</style>`
	t := template.Must(template.New("style").Parse(style))
	return template.Must(t.New(name).Parse(strings.TrimSpace(page)))
}

// showSmall shows page, whose methods its script can call, in a small window until
// that closes. began gets the context of the toolkit.
func (p *program) showSmall(page http.Handler, height int, began func(context.Context)) error {
	workAroundWebKit()
	return wails.Run(&options.App{
		Title: "Conclave", Width: 620, Height: height, DisableResize: true,
		AssetServer: &assetserver.Options{Handler: page},
		OnStartup:   began,
		Bind:        []any{page},
		Linux:       &linux.Options{ProgramName: ProgramName, Icon: p.Icon},
	})
}

// Problem serves the page that says why Conclave did not start, and its script.
type Problem struct {
	ctx   context.Context //nolint:containedctx // Wails' own
	fault *fault.Error
}

// Close closes the page.
func (p *Problem) Close() { wails_runtime.Quit(p.ctx) }

// ServeHTTP answers with the page. It implements http.Handler.
func (p *Problem) ServeHTTP(out http.ResponseWriter, _ *http.Request) {
	_ = problemPage.Execute(out, p.fault) // nobody is left to be told
}

var problemPage = smallPage("problem", `
<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><title>Conclave</title>
{{template "style"}}</head>
<body>
<h1>Conclave could not start</h1>
<p role="alert">{{.Message}} {{.Hint}}</p>
<button id="close" autofocus>Close</button>
<script>
document.getElementById("close").onclick = () => window.go.desktop.Problem.Close();
</script>
</body>
</html>`)

// showProblem shows a person who started Conclave from a desktop, and sees no
// terminal, why it did not start. It returns once they closed that, at once where
// there is no display.
func (p *program) showProblem(f *fault.Error) {
	if runtime.GOOS == "linux" && os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "" {
		return
	}
	page := &Problem{fault: f}
	_ = p.showSmall(page, 260, func(ctx context.Context) { page.ctx = ctx }) // standard error has it already
}
