package window

import (
	"bytes"
	"context"
	"fmt"
	"net/http"

	"conclave/app/base/settings"
)

// FirstFrame makes the page's first frame, which is drawn before any script has
// run, look like the window that follows it: it writes the theme and the columns
// that the person left onto the html element of index.html. Wails takes it as a
// middleware of the pages.
func (a *App) FirstFrame(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet && (r.URL.Path == "/" || r.URL.Path == "/index.html") {
			if set, err := a.core.Settings.Settings(r.Context()); err == nil {
				w = &framed{ResponseWriter: w, attributes: frameOf(set)}
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
	return b.String()
}

// framed puts attributes into the html element, which begins in the first bytes
// that are written.
type framed struct {
	http.ResponseWriter
	attributes string
	done       bool
}

// WriteHeader implements http.ResponseWriter.
func (f *framed) WriteHeader(code int) {
	f.Header().Del("Content-Length") // it is longer now
	f.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (f *framed) Write(p []byte) (int, error) {
	out := p
	if !f.done {
		f.done = true
		out = bytes.Replace(p, []byte("<html "), []byte("<html "+f.attributes), 1)
	}
	if _, err := f.ResponseWriter.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Dark reports whether the person chose dark colours, which the window's ground
// has before there is a page.
func (a *App) Dark(ctx context.Context) bool {
	set, err := a.core.Settings.Settings(ctx)
	return err == nil && set.Theme == settings.Dark
}
