package exchange

import (
	"html"
	"io"
	"strings"

	"conclave/app/chat"
)

// Drawer draws Markdown as HTML that neither runs nor loads anything.
type Drawer interface {
	// Style returns the rules for what Draw makes, as CSS.
	Style() string
	Draw(markdown string) (html string, err error)
}

// asPage returns a chat as one HTML page without scripts or remote parts. Each message is set by itself, so
// that nothing in it goes on in the next.
type asPage struct {
	w      io.Writer
	drawer Drawer
	text   strings.Builder // Markdown that is not set yet
	md     asMarkdown
}

func (d *asPage) begin(v shownChat) error {
	d.md.w = &d.text
	_, err := io.WriteString(d.w, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>"+
		html.EscapeString(v.title())+"</title>\n"+
		"<style>body{max-width:48rem;margin:2rem auto;padding:0 1rem;font:16px/1.6 system-ui,sans-serif}"+
		"pre{overflow-x:auto;white-space:pre-wrap;background:#f3f1ec;padding:1rem}"+d.drawer.Style()+
		"</style></head><body>\n")
	if err != nil {
		return err
	}
	return d.set(d.md.begin(v))
}

func (d *asPage) message(m chat.Message) error { return d.set(d.md.message(m)) }

func (d *asPage) end(missing []string) error {
	err := d.set(d.md.end(missing))
	if err == nil {
		_, err = io.WriteString(d.w, "</body></html>\n")
	}
	return err
}

// set writes the Markdown that there is, unless it could not be made.
func (d *asPage) set(err error) error {
	if err != nil {
		return err
	}
	drawn, err := d.drawer.Draw(d.text.String())
	if err != nil {
		return err
	}
	d.text.Reset()
	_, err = io.WriteString(d.w, drawn)
	return err
}
