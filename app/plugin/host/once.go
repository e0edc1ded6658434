package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"conclave/app/fault"
	"conclave/app/plugin"
)

// LoadFile loads a plugin from outside the plugins folder, for this run only and
// approved by whoever named it. It returns its id once it has loaded or failed.
// Nothing of it is stored.
func (h *Host) LoadFile(ctx context.Context, path string) (string, error) {
	return h.loadFile(ctx, path, false)
}

// PreviewFile is LoadFile for a plugin that nobody approved: its code runs without
// permissions and services, and can only use a storage folder of its own.
func (h *Host) PreviewFile(ctx context.Context, path string) (string, error) {
	return h.loadFile(ctx, path, true)
}

func (h *Host) loadFile(ctx context.Context, path string, preview bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.load", "There is no file "+path+".", "", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.load", "There is no file "+path+".", "", err)
	}
	return h.loadOnce(ctx, plugin.Source{Path: path, Display: path, Folder: info.IsDir(), Alone: true}, "",
		savedState{}, preview)
}

// LoadWith loads a plugin that is in service a second time, for this run only and with
// other settings (options.go). It returns the id of the second one once that has
// loaded or failed. Settings that options do not name are those of the first. The kind
// is not_found or invalid for a path among them that no plugin may access. Nothing of
// it is stored.
func (h *Host) LoadWith(ctx context.Context, id string, options json.RawMessage) (string, error) {
	e, err := h.known(id)
	if err != nil {
		return "", err
	}
	if err := e.recall(ctx); err != nil {
		return "", err
	}
	e.mu.Lock()
	src, set := e.source, e.state
	e.mu.Unlock()
	form, _ := e.options()
	options = byName(form, options)
	if err := h.checkPaths(form, options); err != nil {
		return "", err
	}
	merged, err := mergeOptions(set.values(), options)
	if err != nil {
		return "", err
	}
	return h.loadOnce(ctx, src, id, savedState{Options: merged, Secrets: set.Secrets}, false)
}

// loadOnce loads what is at src for this run only. settingsOf is the plugin whose
// secret settings it uses, if any.
func (h *Host) loadOnce(ctx context.Context, src plugin.Source, settingsOf string, set savedState,
	preview bool,
) (string, error) {
	name := src.ID
	if src.HasFiles() {
		name = plugin.IDOf(filepath.Base(src.Path), src.Folder)
	}
	id := name
	h.mu.Lock()
	for n := 2; h.entries[id] != nil; n++ {
		id = fmt.Sprintf("%s_%d", name, n)
	}
	src.ID = id
	e := newEntry(h, "this run", src)
	e.temporary, e.known, e.settingsOf, e.state, e.preview = true, true, settingsOf, set, preview
	e.log = newPluginLog("", &e.redactor)
	e.source = src
	h.entries[id] = e
	h.mu.Unlock()
	e.removeCopies() // what a run that was cut short left
	e.reload()
	return id, h.WaitLoaded(ctx, id)
}
