package fetch

import (
	"context"
	"net/http"
)

type shownKey struct{}

// WithShown returns the request with one that a person may see in its place: the same
// without secrets.
func WithShown(r, shown *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), shownKey{}, shown))
}

// Shown returns what a person may see of a request: what WithShown was given, or itself.
func Shown(r *http.Request) *http.Request {
	if shown, ok := r.Context().Value(shownKey{}).(*http.Request); ok {
		return shown
	}
	return r
}
