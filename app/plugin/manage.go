package plugin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/app/bus"
	"conclave/app/fault"
	"conclave/app/permit"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/watch"
)

// ErrSettled is returned by Ask when the plugin no longer waits.
var ErrSettled = errors.New("the plugin does not wait for a decision any more")

// candidate returns what waits to be decided of the plugin now.
func (h *Host) candidate(id string) (permit.Candidate, error) {
	e := h.entry(id)
	if e == nil {
		_, err := h.Find(id)
		return permit.Candidate{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if (e.status.State != NeedsApproval && e.status.State != Quarantined) || e.waiting.digest == "" {
		return permit.Candidate{}, ErrSettled
	}
	return e.waiting.candidate(h), nil
}

// Ask puts a waiting plugin before asker and waits for the decision. ErrSettled
// when it does not wait (any more).
func (h *Host) Ask(ctx context.Context, id string, asker permit.Asker) (permit.Verdict, error) {
	c, err := h.candidate(id)
	if err != nil {
		return permit.Waiting, err
	}
	heard := h.hearing(id)
	verdict, err := h.o.Gate.Approved(ctx, c, asker)
	if err == nil && verdict != permit.Waiting {
		heard()
	}
	return verdict, err
}

// hearing returns a function that tells the plugin of a decision made since,
// unless it has heard of it from the gate (Decided).
func (h *Host) hearing(id string) (heard func()) {
	e := h.entry(id)
	if e == nil {
		return func() {}
	}
	before := e.decisions.Load()
	return func() {
		if e.decisions.Load() == before {
			e.reconsider()
		}
	}
}

// Trust records that the person looked at the plugin and approves it as it lies
// there: its code, and its tools once they are known. A plugin that rests
// because it kept dying is started again.
func (h *Host) Trust(ctx context.Context, id string, developing bool) error {
	return h.trust(ctx, id, permit.Trust{Developing: developing})
}

// TrustForRun is Trust for a command that names the plugin: it holds until end is
// called, and nothing of it is kept. It does nothing for a plugin that does not wait.
func (h *Host) TrustForRun(ctx context.Context, id string) (end func(), err error) {
	if _, err := h.candidate(id); errors.Is(err, ErrSettled) {
		return func() {}, nil
	}
	return func() { h.o.Gate.RunEnded(id) }, h.trust(ctx, id, permit.Trust{ThisRun: true, By: namedBy})
}

func (h *Host) trust(ctx context.Context, id string, t permit.Trust) error {
	// A version waits before it runs and, when its tools then turn out wider
	// than what was approved, once more; the person trusts both.
	for range 2 {
		c, err := h.candidate(id)
		if errors.Is(err, ErrSettled) && h.loading(id) {
			// It is being read once more (a save in two steps), and may wait then.
			if err := h.Loaded(ctx, id); err != nil {
				return err
			}
			c, err = h.candidate(id)
		}
		if errors.Is(err, ErrSettled) {
			return nil
		}
		if err != nil {
			return err
		}
		heard := h.hearing(id)
		if err := h.o.Gate.Trust(ctx, c, t); err != nil {
			return err
		}
		heard()
		if err := h.Loaded(ctx, id); err != nil {
			return err
		}
	}
	return nil
}

// loading reports whether a plugin's files are being read or loaded.
func (h *Host) loading(id string) bool {
	e := h.entry(id)
	if e == nil {
		return false
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.status.State == Loading
}

// SetDeveloping says whether the person edits the plugin themselves, so that
// their own edits keep its approval while they widen nothing.
func (h *Host) SetDeveloping(ctx context.Context, id string, developing bool) error {
	e := h.entry(id)
	if e == nil {
		_, err := h.Find(id)
		return err
	}
	e.mu.Lock()
	serving := e.serving
	e.mu.Unlock()
	if serving == nil {
		return fault.New(fault.Conflict, "plugin.developing", "The plugin "+id+" is not in service.", "Approve it first.")
	}
	return h.o.Gate.Trust(ctx, serving.version().candidate(h), permit.Trust{Developing: developing})
}

// Files returns the plugin's source files, relative to its folder; a single file
// is its own name.
func (h *Host) Files(id string) []string {
	e := h.entry(id)
	if e == nil {
		return []string{}
	}
	_, files, err := watch.Digest(e.path())
	if err != nil || len(files) == 0 {
		return []string{filepath.Base(e.path())}
	}
	return files
}

// Log returns the lines of the plugin's log with a number over since, oldest
// first; none for a plugin that is gone.
func (h *Host) Log(id string, since uint64) []LogLine {
	if e := h.entry(id); e != nil {
		return e.log.since(since)
	}
	return []LogLine{}
}

// follow copies what the process prints into the plugin's log.
func (e *entry) follow(p sandbox.Process) {
	lines, ok := p.(interface {
		// Lines calls back with each line of standard error, from one goroutine,
		// until the process is reaped.
		Lines(func(line string))
	})
	if !ok {
		return
	}
	lines.Lines(func(line string) {
		e.log.add("info", line, "")
		e.h.o.Bus.Changed(bus.Log, e.id)
	})
}

// Remove takes the plugin out of the plugins folder, with the calls recorded
// beside it, and returns where its files are kept (removed/ in the data folder),
// from where Restore brings them back. What the person allowed it is taken back: the
// next plugin of that name may be another. Kind conflict for one that does not lie in
// the plugins folder.
func (h *Host) Remove(ctx context.Context, id string) (kept string, err error) {
	e := h.entry(id)
	if e == nil {
		_, err := h.Find(id)
		return "", err
	}
	if e.temporary {
		return "", fault.New(fault.Conflict, "plugin.remove", "The plugin "+id+" does not lie in the plugins folder: it was named for this run.", "")
	}
	path := e.path()
	dir := filepath.Join(h.o.Data, "removed", time.Now().UTC().Format("20060102-150405.000000000"))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.remove", "There is no place to keep "+id+", so it was not removed.", "Check the disk's space.", err)
	}
	kept = filepath.Join(dir, filepath.Base(path))
	if err := move(path, kept); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.remove", "The plugin "+id+" could not be moved.", "Check the permissions of "+path+".", err)
	}
	if err := move(recorded(path), recorded(kept)); err != nil && !errors.Is(err, os.ErrNotExist) {
		h.o.Log.Warn("the recorded calls of a removed plugin stay where they are", "plugin", id, "err", err)
	}
	forgotten := e.outOfService(ctx)
	had, err := h.o.Gate.Withdraw(ctx, id)
	h.mu.Lock()
	h.withdrawn[kept] = removal{id, had}
	h.mu.Unlock()
	err = errors.Join(forgotten, err, h.Scan())
	e.log.forget()
	return kept, err
}

// recorded is the folder of calls recorded beside a single-file plugin.
func recorded(path string) string { return strings.TrimSuffix(path, filepath.Ext(path)) + testsEnding }

// removal is what a removed or replaced plugin had of the gate, until the program ends.
type removal struct {
	id  string
	had permit.Withdrawn
}

// Restore brings back what Remove kept, with what the person allowed it if that was
// since this program began. Kind conflict when something of that name lies in the
// plugins folder meanwhile.
func (h *Host) Restore(ctx context.Context, kept string) error {
	path := filepath.Join(h.o.Dir, filepath.Base(kept))
	if _, err := os.Lstat(path); err == nil {
		return fault.New(fault.Conflict, "plugin.restore", "There is a "+filepath.Base(kept)+" in the plugins folder again.", "Move one of them away first.")
	}
	if err := move(kept, path); err != nil {
		return fault.Wrap(fault.Unavailable, "plugin.restore", "The plugin could not be brought back.", "Its files are in "+kept+".", err)
	}
	if _, err := os.Lstat(recorded(path)); err != nil {
		if err := move(recorded(kept), recorded(path)); err != nil && !errors.Is(err, os.ErrNotExist) {
			h.o.Log.Warn("the recorded calls of a restored plugin were not brought back", "path", kept, "err", err)
		}
	}
	return errors.Join(h.giveBack(ctx, kept), h.Scan())
}

// giveBack gives the plugin that is kept at a path what it had of the gate when it
// was put there.
func (h *Host) giveBack(ctx context.Context, kept string) error {
	h.mu.Lock()
	was, known := h.withdrawn[kept]
	delete(h.withdrawn, kept)
	h.mu.Unlock()
	if !known {
		return nil
	}
	return h.o.Gate.GiveBack(ctx, was.id, was.had)
}

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

func (h *Host) loadFile(ctx context.Context, path string, bare bool) (string, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.load", "There is no file "+path+".", "", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.load", "There is no file "+path+".", "", err)
	}
	return h.loadOnce(ctx, Source{Path: path, Display: path, Folder: info.IsDir(), Alone: true}, "", savedState{}, bare)
}

// LoadWith offers a plugin that is in service once more for this run only, with
// other settings (options.go), and returns the id of the second one once it has
// loaded or failed. Settings that options do not name are those of the first. The
// kind is not_found or invalid for a path among them that no plugin is given.
// Nothing of it is kept.
func (h *Host) LoadWith(ctx context.Context, id string, options json.RawMessage) (string, error) {
	e := h.entry(id)
	if e == nil {
		_, err := h.Find(id)
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

// loadOnce offers what lies at src for this run only. kin is the plugin whose
// secret settings it has, if any.
func (h *Host) loadOnce(ctx context.Context, src Source, kin string, set savedState, bare bool) (string, error) {
	name := filepath.Base(src.Path)
	if !src.Folder {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	id := legalID(name)
	h.mu.Lock()
	for n := 2; h.entries[id] != nil; n++ {
		id = fmt.Sprintf("%s_%d", legalID(name), n)
	}
	src.ID = id
	e := newEntry(h, src)
	e.temporary, e.known, e.kin, e.state, e.bare = true, true, kin, set, bare
	e.log = newJournal("", &e.mask)
	e.source = src
	h.entries[id] = e
	h.mu.Unlock()
	e.unpin() // what a run that was cut short left
	e.kick()
	return id, h.Loaded(ctx, id)
}
