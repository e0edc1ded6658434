package window

import (
	"errors"
	"mime"
	"net/http"
	"strings"

	"conclave/app/base/fault"
)

// Assets serves what is not one of the window's pages: /media/<id>, the bytes of a
// file of a message or a tool, and /picture/<name>, a remote picture that a person
// asked to see. It shows pictures; everything else is a download, so that nothing a
// plugin made runs as a page.
func (a *App) Assets() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if data, ok := a.Window.pictures.pictureOf(r.URL.Path); ok && r.Method == http.MethodGet {
			serve(w, data)
			return
		}
		id, ok := strings.CutPrefix(r.URL.Path, "/media/")
		if !ok || r.Method != http.MethodGet || id == "" || strings.ContainsAny(id, "/\\.") {
			http.NotFound(w, r)
			return
		}
		data, err := a.core.Store.Media(r.Context(), id)
		if err != nil {
			status := http.StatusInternalServerError
			if fault.KindOf(err) == fault.NotFound || errors.Is(err, http.ErrMissingFile) {
				status = http.StatusNotFound
			}
			http.Error(w, http.StatusText(status), status)
			return
		}
		serve(w, data)
	})
}

// serve sends the bytes of a file, whose type is told from them alone.
func serve(w http.ResponseWriter, data []byte) {
	kind := http.DetectContentType(data)
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	h.Set("Cache-Control", "private, max-age=31536000, immutable")
	if !shown(kind) {
		kind = "application/octet-stream"
		h.Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": "attachment"}))
	}
	h.Set("Content-Type", kind)
	_, _ = w.Write(data) // the page went away: nothing to tell
}

// shown reports whether a type may be shown in the page. SVG is not: it can hold
// scripts.
func shown(kind string) bool {
	switch kind {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "audio/mpeg", "audio/wave", "audio/aiff",
		"audio/basic", "audio/ogg", "application/ogg", "video/mp4", "video/webm":
		return true
	}
	return false
}
