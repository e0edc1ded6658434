package host

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"conclave/app/base/fault"
	"conclave/app/plugin"
)

// ThisRun loads plugins for one run of the program. Its methods are safe for concurrent use.
type ThisRun struct{ h *Host }

// Load loads a plugin from outside the plugins folder, for this run only. Naming it is the
// yes to the files that lie there now, and to what they list first; where that is not what
// reading them shows, it waits for approval. It returns its id once it has loaded or failed.
// Nothing of it is stored.
func (t *ThisRun) Load(ctx context.Context, path string) (string, error) {
	return t.load(ctx, path, false)
}

// Preview is LoadFile for a plugin that nobody approved: its code runs without
// permissions and services, and can only use its storage folder.
func (t *ThisRun) Preview(ctx context.Context, path string) (string, error) {
	return t.load(ctx, path, true)
}

func (t *ThisRun) load(ctx context.Context, path string, preview bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.load", "There is no file "+path+".", "", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.load", "There is no file "+path+".", "", err)
	}
	return t.loadSource(ctx, plugin.Source{Path: path, Display: path, Folder: info.IsDir(), Alone: true},
		func(e *entry) { e.preview = preview })
}

// LoadWith loads a plugin that is in service a second time, for this run only and with
// other settings (options.go). It returns the id of the second one once that has
// loaded or failed. Settings that options do not name are those of the first. The kind
// is not_found or invalid for a path among them that no plugin may access. Nothing of
// it is stored.
func (t *ThisRun) LoadWith(ctx context.Context, id string, options json.RawMessage) (string, error) {
	e, err := t.h.known(id)
	if err != nil {
		return "", err
	}
	if err := e.memory.recall(ctx); err != nil {
		return "", err
	}
	now := e.now()
	set, serving := now.state, now.serving
	if serving == nil {
		return "", fault.New(fault.Unavailable, "plugin.load", "The plugin "+id+" is not in service.", "")
	}
	form, _ := e.options()
	options = byName(form, options)
	if err := t.h.Settings.checkPaths(form, options); err != nil {
		return "", err
	}
	merged, err := mergeOptions(set.values(), options)
	if err != nil {
		return "", err
	}
	return t.loadSource(ctx, now.source, func(second *entry) {
		second.settingsOf, second.state = id, savedState{
			Options: merged, Secrets: set.Secrets, AtOnce: set.AtOnce,
		}
		second.named = serving.version().digest // whatever lies there by now
	})
}

// loadSource loads what is at src for this run only, as with says before it begins.
func (t *ThisRun) loadSource(ctx context.Context, src plugin.Source, with func(*entry)) (string, error) {
	name := src.ID
	if src.HasFiles() {
		name = plugin.IDOf(filepath.Base(src.Path), src.Folder)
	}
	id := name
	t.h.mu.Lock()
	for n := 2; t.h.entries[id] != nil; n++ {
		id = fmt.Sprintf("%s_%d", name, n)
	}
	src.ID = id
	e := newEntry(t.h, "this run", src)
	e.temporary, e.memory.known = true, true
	with(e)
	e.log = newPluginLog("", &e.redactor)
	e.source = src
	t.h.entries[id] = e
	t.h.mu.Unlock()
	e.files.remove() // what a run that was cut short left
	e.requestLoad(request{interrupt: true})
	return id, t.h.WaitLoaded(ctx, id)
}
