package window

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/base/language"

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

// openURL opens a web or mail address in the system's browser.
func (l *lifecycle) openURL(address string) error {
	u, err := url.Parse(address)
	if err != nil || (u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "mailto") {
		return fault.New(fault.Invalid, "app.open", "Only web and mail addresses can be opened.",
			"Copy the address, and open it in the program that it is for.")
	}
	ctx := l.window()
	if ctx == nil {
		return errNoContext
	}
	runtime.BrowserOpenURL(ctx, withoutShell(u))
	return nil
}

// withoutShell returns an address without the characters for which Wails does not open it, and reports
// nothing (2.16, internal/frontend/utils/urlValidator.go): those that mean something to a shell.
func withoutShell(u *url.URL) string {
	text := u.String()
	host := strings.Index(text, u.Host) + len(u.Host) // an IPv6 address keeps its brackets
	return text[:host] + shellCharacters().Replace(text[host:])
}

var shellCharacters = sync.OnceValue(func() *strings.Replacer {
	var pairs []string
	for _, c := range ";|`$\\<>*{}[]()~! \t" {
		pairs = append(pairs, string(c), fmt.Sprintf("%%%02X", c))
	}
	return strings.NewReplacer(pairs...)
})

// saveAs asks the person where to save, and writes a file there. It returns its path, and "" when they
// changed their mind.
func (l *lifecycle) saveAs(suggested string, content func(context.Context) ([]byte, error)) (string, error) {
	ctx := l.window()
	if ctx == nil {
		return "", errNoContext
	}
	path, err := runtime.SaveFileDialog(ctx, runtime.SaveDialogOptions{
		Title: language.Say("Save as"), DefaultFilename: suggested, CanCreateDirectories: true,
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
