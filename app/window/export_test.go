package window

import (
	"context"
	"time"
)

// A busy machine may take longer than a second to start a program and to learn that it ended.
func init() { watched = time.Minute }

// HearNotices has f called with what the page would be sent. There is no window: nothing
// has a title.
func (a *App) HearNotices(f func(data ...any)) {
	a.Window.attention.retitle = func(context.Context, string) {}
	a.Window.attention.notify = func(context.Context, string, string, string) error { return nil }
	a.emit = func(_ context.Context, _ string, data ...any) { f(data...) }
}

// ReadChat imports the chat of a file, as Import does once the person chose it.
func ReadChat(t *Transfer, path string) (ImportedChat, error) { return t.read(t.call(), path) }

// BackupTo writes a backup, as Backup does once the person chose where.
func BackupTo(t *Transfer, path string) (Saved, error) { return t.backup(t.call(), path) }
