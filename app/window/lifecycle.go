package window

import (
	"context"
	"os"
	"sync"

	"conclave/app/base/fault"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// lifecycle holds the context of bound calls: Wails gives them none, so each takes the
// window's, which ends when the page does.
type lifecycle struct {
	mu  sync.Mutex
	ctx context.Context //nolint:containedctx // the one context bound calls have
}

// begin sets the window's context.
func (l *lifecycle) begin(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
}

// window returns the context of the window's runtime, nil before it exists.
func (l *lifecycle) window() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ctx
}

// call returns the context of one bound call. Before the window exists it is one
// that has ended.
func (l *lifecycle) call() context.Context {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil {
		return ended
	}
	return l.ctx
}

var ended = func() context.Context {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errNoContext)
	return ctx
}()

// saveAs asks the person where to save, and writes a file there. It returns its path, and "" when they
// changed their mind.
func (l *lifecycle) saveAs(suggested string, content func(context.Context) ([]byte, error)) (string, error) {
	ctx := l.window()
	if ctx == nil {
		return "", errNoContext
	}
	path, err := runtime.SaveFileDialog(ctx, runtime.SaveDialogOptions{
		DefaultFilename: suggested, CanCreateDirectories: true,
	})
	if err != nil || path == "" {
		return "", err
	}
	data, err := content(ctx)
	if err != nil {
		return "", err
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		return "", fault.Wrap(fault.Unavailable, "app.save", "The file "+path+" could not be written.",
			"Choose another place.", err)
	}
	return path, nil
}
