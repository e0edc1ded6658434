package window

import (
	"bytes"
	"context"
	"fmt"
	"html"
	"net/http"
	"os"
	"strings"

	"conclave/app/base/language"
	"conclave/app/base/settings"
)

// FirstFrame makes the page's first frame, which is drawn before any script has
// run, look like the window that follows it: it writes the language, the theme and the
// columns that the person left onto the html element of index.html, and the first rows of
// the list of chats into it. Wails takes it as a middleware of the pages.
func (a *App) FirstFrame(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == "/index.html") {
			if set, err := a.core.Settings.Settings(r.Context()); err == nil {
				language.Use(language.Of(set.Language, os.Getenv)) // until the page is loaded again
				// What the web view keeps of the page is of other settings.
				r = r.Clone(r.Context())
				r.Header.Del("If-Modified-Since")
				r.Header.Del("If-None-Match")
				page := &framed{ResponseWriter: w, attributes: frameOf(set), rows: a.firstRows(r.Context(), set)}
				next.ServeHTTP(page, r)
				page.finish()
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// frameOf returns the attributes of the html element. What the system decides,
// the page's own styles decide.
func frameOf(set settings.Settings) string {
	var b bytes.Buffer
	switch set.Theme {
	case settings.Light, settings.Dark:
		fmt.Fprintf(&b, `data-theme="%s" `, set.Theme)
	case settings.Contrast:
		b.WriteString(`data-contrast="more" `)
	}
	if !set.SidebarOpen {
		b.WriteString(`data-side="shut" `)
	}
	if !set.DockOpen {
		b.WriteString(`data-dock="shut" `)
	}
	if set.OpenChat == "" {
		b.WriteString(`data-chat="none" `)
	}
	zoom := ""
	if set.Zoom != 100 {
		zoom = fmt.Sprintf("font-size:%d%%;", set.Zoom)
	}
	fmt.Fprintf(&b, `style="%s--first-side:%grem;--first-dock:%grem" `, zoom, float64(set.SidebarWidth)/16,
		float64(set.DockWidth)/16)
	// Where the system does not say its language, the page asks its browser.
	fmt.Fprintf(&b, `lang="%s"`, language.Of(set.Language, os.Getenv))
	return b.String()
}

// framedChats is the number of chats that fill the column of a window as it opens.
const framedChats = 24

// firstRows returns the first rows of the list of chats as elements: what they show is the same once
// the window is loaded. It is empty where the list is not shown or cannot be read.
func (a *App) firstRows(ctx context.Context, set settings.Settings) string {
	if !set.SidebarOpen {
		return ""
	}
	chats, groups, _, err := a.Chats.stretch(ctx, false, 0, framedChats)
	if err != nil {
		a.log.Warn("the list of chats is not in the first frame", "err", err)
		return ""
	}
	var b strings.Builder
	for _, group := range groups {
		if len(chats) == 0 {
			break
		}
		b.WriteString(`<div class="day"></div>`)
		n := min(group.Count, len(chats))
		for _, c := range chats[:n] {
			current := ""
			if string(c.ID) == set.OpenChat {
				current = " current"
			}
			fmt.Fprintf(&b, `<div class="chat%s" data-chat="%s">%s</div>`, current, html.EscapeString(string(c.ID)),
				html.EscapeString(c.Title))
		}
		chats = chats[n:]
	}
	return b.String()
}

// framed holds the page back until finish, which puts what was left of the window into it.
type framed struct {
	http.ResponseWriter
	attributes string // of the html element
	rows       string // of the list of chats
	page       bytes.Buffer
}

// WriteHeader implements http.ResponseWriter.
func (f *framed) WriteHeader(code int) {
	f.Header().Del("Content-Length") // it is longer now
	f.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (f *framed) Write(p []byte) (int, error) { return f.page.Write(p) }

func (f *framed) finish() {
	out := bytes.Replace(f.page.Bytes(), []byte(`<html lang="en"`), []byte("<html "+f.attributes), 1)
	const rows = `<div class="rows">`
	out = bytes.Replace(out, []byte(rows), []byte(rows+f.rows), 1)
	_, _ = f.ResponseWriter.Write(out) // the web view has gone
}

// Dark reports whether the person chose dark colours, which the window's ground
// has before there is a page.
func (a *App) Dark(ctx context.Context) bool {
	set, err := a.core.Settings.Settings(ctx)
	return err == nil && set.Theme == settings.Dark
}
