package cli

import (
	"context"
	"fmt"
	"html"
	"strings"

	"conclave/app/fault"
)

// page writes a chat as one page without scripts or remote parts. The window's
// program renders it, because a renderer would cost every command its start
// (docs/adr/0010); without that program the text stands there as it was written.
func (c *command) page(ctx context.Context, app *App, v exported) string {
	title, markdown := titleOf(v), asMarkdown(v)
	rendered, err := app.Render(ctx, title, markdown)
	if err == nil {
		return rendered
	}
	if f := fault.Of(err); !c.json {
		fmt.Fprintln(c.Err, strings.TrimSpace("The texts are in the page as they were written. "+f.Message+" "+f.Hint))
	}
	return Page(title, "", "<pre>"+html.EscapeString(markdown)+"</pre>\n")
}

// Page is an HTML document around body, which is safe HTML, with style after
// the page's own.
func Page(title, style, body string) string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" + html.EscapeString(title) + "</title>\n")
	b.WriteString("<style>body{max-width:48rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif}pre{overflow-x:auto;white-space:pre-wrap;background:#f3f1ec;padding:1rem}" + style + "</style></head><body>\n")
	b.WriteString(body + "</body></html>\n")
	return b.String()
}
