package window

import (
	"context"
	"log/slog"
	"net/http"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/shorten"
	"conclave/app/service"
	"conclave/app/tool"
	"conclave/app/view"

	"github.com/wailsapp/wails/v2/pkg/runtime"
)

// Window is bound: the window itself, and what belongs to no other group.
type Window struct {
	*lifecycle
	core Core
	log  *slog.Logger
	undo *undos

	pictures  *pictures
	links     links
	attention *attention
}

// Hello returns all that the first paint needs.
func (w *Window) Hello() (Hello, error) {
	ctx := w.call()
	revision := w.core.Bus.Revision(bus.Settings, "")
	set, err := w.core.Settings.Settings(ctx)
	if err != nil {
		return Hello{}, err
	}
	f := w.core.Info
	out := Hello{
		Version: f.Version, Platform: Platform(goruntime.GOOS), DataFolder: f.Data, PluginsFolder: f.Plugins,
		LogFolder: f.Logs, Isolation: language.Say(f.Isolation), Licence: "MIT",
		Settings: settingsView(w.core, revision, set),
		Trouble:  optionalFailure(w.log, f.Trouble),
	}
	if set.OpenChat != "" {
		if _, err := w.core.Store.Conversation(ctx, id(set.OpenChat)); err == nil {
			out.OpenChat = set.OpenChat
		}
	}
	return out, nil
}

// Undo undoes what a token stands for; kind not_found when it is too late.
func (w *Window) Undo(token string) error { return w.undo.take(w.call(), token) }

// OpenURL opens a web or mail address in the system's browser.
func (w *Window) OpenURL(address string) error { return w.openURL(address) }

// OwnFolder is a folder of Conclave's own.
type OwnFolder string

// The folders that OpenFolder opens.
const (
	DataFolder OwnFolder = "data"
	LogFolder  OwnFolder = "log"
)

// OpenFolder opens the data or log folder in the system's file manager.
func (w *Window) OpenFolder(which OwnFolder) error {
	switch which {
	case DataFolder:
		return openPath(w.call(), w.core.Info.Data)
	case LogFolder:
		return openPath(w.call(), w.core.Info.Logs)
	}
	return fault.New(fault.Invalid, "app.open", "There is no folder “"+string(which)+"”.", "")
}

// SaveFile asks where, and writes the text there; "" when the person changed
// their mind.
func (w *Window) SaveFile(suggested, text string) (string, error) {
	return w.saveAs(suggested, func(context.Context) ([]byte, error) { return []byte(text), nil })
}

// SaveMedia asks where, and writes the bytes of a media file there; "" when the
// person changed their mind. The name is suggested as a file's, without folders.
func (w *Window) SaveMedia(mediaID, suggested string) (string, error) {
	ctx := w.window()
	if ctx == nil {
		return "", errNoContext
	}
	data, err := w.core.Store.Media(ctx, mediaID)
	if err != nil {
		return "", err
	}
	return w.saveAs(fileName(suggested, data), func(context.Context) ([]byte, error) { return data, nil })
}

// fileName makes a name that a tool gave into one of a file: no folders, no
// hidden characters, with an ending that fits its bytes when it has none.
func fileName(suggested string, data []byte) string {
	name, _ := tool.Strip(suggested)
	name = strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '-'
		}
		return r
	}, name)
	if name = shorten.To(strings.Trim(name, ". -"), 120); name == "" {
		name = "attachment"
	}
	if filepath.Ext(name) == "" {
		kind, _, _ := strings.Cut(http.DetectContentType(data), ";")
		name += endings[kind]
	}
	return name
}

// endings are those of the files that tools bring most.
var endings = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "audio/mpeg": ".mp3",
	"audio/wave":      ".wav",
	"application/ogg": ".ogg", "application/pdf": ".pdf", "application/zip": ".zip", "text/plain": ".txt",
	"text/html": ".html",
}

// maxReport bounds what a page may write into the log at once.
const maxReport = 8 << 10

// Report logs a fault of the page itself and returns its reference.
func (w *Window) Report(message, stack string) (string, error) {
	message, _ = tool.Strip(message)
	ref := reference()
	w.log.Error("the window's page failed", "ref", ref, "err", message[:min(len(message), maxReport)], "stack",
		stack[:min(len(stack), maxReport)])
	return ref, nil
}

// Toasts returns the notices of plugins after the given number, oldest first.
func (w *Window) Toasts(after uint64) ([]service.Toast, error) {
	return view.List(w.core.Toasts(after)), nil
}

// Quit closes the window.
func (w *Window) Quit() error {
	ctx := w.window()
	if ctx == nil {
		return errNoContext
	}
	runtime.Quit(ctx)
	return nil
}
