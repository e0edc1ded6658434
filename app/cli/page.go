package cli

import (
	"html"
	"strings"

	"conclave/app/render"
)

// asPage writes a chat as one page without scripts or remote parts.
func asPage(v exported) string {
	var b strings.Builder
	b.WriteString("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>" +
		html.EscapeString(titleOf(v)) + "</title>\n")
	b.WriteString("<style>body{max-width:48rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif}" +
		"pre{overflow-x:auto;white-space:pre-wrap;background:#f3f1ec;padding:1rem}" + render.HighlightCSS(render.Light) +
		"</style></head><body>\n")
	for _, block := range render.Render(asMarkdown(v, asFile)) {
		b.WriteString(block.HTML + "\n")
	}
	b.WriteString("</body></html>\n")
	return b.String()
}
