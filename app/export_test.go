package app

import "context"

// HearNotices has f called with what the page would be sent.
func (a *App) HearNotices(f func(data ...any)) {
	a.emit = func(_ context.Context, _ string, data ...any) { f(data...) }
}
