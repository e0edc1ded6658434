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

// LoadFile offers a plugin that lies outside the plugins folder for this run
// only, approved by the one who named it, and returns its id once it has loaded
// or failed. Nothing of it is kept.
func (h *Host) LoadFile(ctx context.Context, path string) (string, error) {
	return h.loadFile(ctx, path, false)
}

// Look is LoadFile for a look at a plugin that nobody approved: its code runs, with
// no permission, no service of Conclave's and no place but its own storage.
func (h *Host) Look(ctx context.Context, path string) (string, error) {
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

// LoadWith offers a plugin that is in service once more for this run only, with
// other settings (options.go), and returns the id of the second one once it has
// loaded or failed. Settings that options do not name are those of the first. The
// kind is not_found or invalid for a path among them that no plugin is given.
// Nothing of it is kept.
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

// loadOnce offers what lies at src for this run only. settingsOf is the plugin whose
// secret settings it has, if any.
func (h *Host) loadOnce(ctx context.Context, src plugin.Source, settingsOf string, set savedState,
	preview bool) (string, error) {
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
	e.unpin() // what a run that was cut short left
	e.reload()
	return id, h.Loaded(ctx, id)
}
