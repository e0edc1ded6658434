//go:build !dev

package desktop

import (
	"context"
	"flag"
	"log/slog"
)

// guardDevServer does nothing in a release, which serves no page to browsers.
func guardDevServer(context.Context, *slog.Logger) (release func(), err error) {
	return func() {}, nil
}

// ownFlags adds nothing in a release.
func ownFlags(*flag.FlagSet) {}
