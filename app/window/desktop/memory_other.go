//go:build !linux

package desktop

import "log/slog"

// forgetStart does nothing: these systems take back by themselves what a program does not use.
func forgetStart(*slog.Logger) {}
