//go:build !dev

package main

import (
	"context"
	"log/slog"
)

// guardDevServer does nothing in a release, which serves no page to browsers.
func guardDevServer(context.Context, *slog.Logger) (release func(), err error) {
	return func() {}, nil
}
