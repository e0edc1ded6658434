package library

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
)

// Remove takes the plugin out of the plugins folder, with its recorded calls, and
// returns where its files are kept (removed/ in the data folder), from where Restore
// brings them back. It revokes what the person allowed the plugin: the next one of
// that name may be another. Kind conflict for one that is not in the plugins folder.
func (l *Library) Remove(ctx context.Context, id string) (kept string, err error) {
	path, err := l.o.Host.PathOf(id)
	if err != nil {
		return "", err
	}
	if kept, err = l.archivePath("plugin.remove", path); err != nil {
		return "", err
	}
	if err := move(path, kept); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.remove", "The plugin "+id+" could not be moved.",
			"Check the permissions of "+path+".", err)
	}
	if err := move(recorded(path), recorded(kept)); err != nil && !errors.Is(err, os.ErrNotExist) {
		l.o.Log.Warn("the recorded calls of a removed plugin stay where they are", "plugin", id, "err", err)
	}
	forgotten := l.o.Host.Forget(ctx, id)
	had, err := l.o.Gate.Approvals.RevokePlugin(ctx, id)
	l.mu.Lock()
	l.withdrawn[kept] = removal{id, had}
	l.mu.Unlock()
	return kept, errors.Join(forgotten, err, l.o.Host.Scan())
}

// recorded is the folder of calls recorded next to a single-file plugin.
func recorded(path string) string {
	return strings.TrimSuffix(path, filepath.Ext(path)) + plugin.TestsEnding
}

// removal holds what a removed or replaced plugin had of the gate, until the program ends.
type removal struct {
	id  string
	had gate.Revoked
}

// Restore undoes a Remove, with what the person had allowed the plugin if Remove ran
// in this run of the program. Kind conflict when there is something of that name in
// the plugins folder.
func (l *Library) Restore(ctx context.Context, kept string) error {
	path := filepath.Join(l.o.Dir, filepath.Base(kept))
	if _, err := os.Lstat(path); err == nil {
		return fault.New(fault.Conflict, "plugin.restore", "There is a "+filepath.Base(kept)+" in the plugins folder again.",
			"Move one of them away first.")
	}
	if err := move(kept, path); err != nil {
		return fault.Wrap(fault.Unavailable, "plugin.restore", "The plugin could not be brought back.", "Its files are in "+
			kept+".", err)
	}
	if _, err := os.Lstat(recorded(path)); err != nil {
		if err := move(recorded(kept), recorded(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			l.o.Log.Warn("the recorded calls of a restored plugin were not brought back", "path", kept, "err", err)
		}
	}
	return errors.Join(l.giveBack(ctx, kept), l.o.Host.Scan())
}

// giveBack gives the plugin that is kept at a path what it had of the gate when it
// was put there.
func (l *Library) giveBack(ctx context.Context, kept string) error {
	l.mu.Lock()
	was, known := l.withdrawn[kept]
	delete(l.withdrawn, kept)
	l.mu.Unlock()
	if !known {
		return nil
	}
	return l.o.Gate.Approvals.RestorePlugin(ctx, was.id, was.had)
}
