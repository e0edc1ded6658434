package watch

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"conclave/app/base/place"

	"github.com/fsnotify/fsnotify"
)

// Options of [Run]. The zero value is usable.
type Options struct {
	// Ignore reports whether an entry of the folder is never a plugin; nil means
	// [Ignored].
	Ignore func(name string) bool
	// OnState is called with whether the folder can be followed: at the start and
	// whenever that changes, also when another folder took its place. nil means
	// that it can, and that the caller should read it again: changed is called
	// only for later changes. Otherwise it is a *fault.Error that says what is
	// the matter, and the folder counts as empty. It runs like changed.
	OnState func(state error)
	// Log gets warnings; nil discards them.
	Log *slog.Logger
}

// How long files may take to stop changing.
const (
	// burst lets the several events of one save arrive before the first look.
	burst = 2 * time.Millisecond
	// quiet lies between two looks that must agree. An editor that saves in
	// pieces pauses for less; a longer one would be felt at every save.
	quiet = 15 * time.Millisecond
	// doubt replaces quiet while a file is gone or empty: rather often that is
	// the middle of a save.
	doubt = 40 * time.Millisecond
	// slowest bounds the pause between looks at files that never rest (it
	// doubles), and patience how long that may keep a change back.
	slowest  = 250 * time.Millisecond
	patience = 2 * time.Second
	// heartbeat is the interval at which the folder itself is checked for what causes no
	// event: a parent that was moved, a network drive that came back.
	heartbeat = time.Second
)

// Run follows the plugins folder dir until ctx ends, whose cause it returns, and calls
// changed with the sorted names of the entries of dir whose files changed. dir need
// not exist, and may appear, disappear and be replaced ([Options.OnState]).
//
// Run reports a change as soon as two snapshots of the files, a short time apart,
// agree. It does not report a save that leaves the content as it was, and reports next
// what changes while changed runs. It calls changed and OnState itself, one call at a
// time: they should return quickly. It does not follow links out of dir.
//
// The error is a fault of kind unavailable when the system gives no folder events at
// all.
func Run(ctx context.Context, dir string, o Options, changed func(names []string)) error {
	if o.Ignore == nil {
		o.Ignore = Ignored
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.OnState == nil {
		o.OnState = func(error) {}
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return noEvents(dir, err)
	}
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return noEvents(dir, err)
	}
	defer func() { _ = notify.Close() }() // ends its goroutine
	w := &watcher{dir: dir, o: o, notify: notify, entries: map[string]*entry{}}
	return w.run(ctx, changed)
}

// watcher is one Run. Everything belongs to the goroutine of Run.
type watcher struct {
	dir     string
	o       Options
	notify  *fsnotify.Watcher
	folder  os.FileInfo // which folder is being followed; nil while none is
	state   error       // what OnState last heard
	entries map[string]*entry
	blind   bool // some folder could not be watched: the heartbeat looks instead
}

// entry is one name in the folder, and what is known of it.
type entry struct {
	tree  *tree     // the last look's, for its hashes
	link  bool      // the entry is itself a link
	known string    // the digest that the caller knows of
	seen  string    // the state of the last look, while it is being looked at
	since time.Time // when it began to change; zero when it rests
	due   time.Time // of the next look
	pause time.Duration
}

func (w *watcher) run(ctx context.Context, changed func([]string)) error {
	w.check(true)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		timer.Reset(w.wait(time.Now()))
		select {
		case e := <-w.notify.Events:
			w.event(e)
		case err := <-w.notify.Errors:
			w.o.Log.Warn("folder events were lost; looking at every plugin again", "err", err)
			w.everything()
		case <-timer.C:
			if names := w.due(time.Now()); len(names) > 0 {
				changed(names)
			}
		case <-beat.C:
			w.check(false)
			if w.blind {
				w.everything()
			}
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// event notes what an event is about.
func (w *watcher) event(e fsnotify.Event) {
	rel, err := filepath.Rel(w.dir, e.Name)
	if err != nil {
		return
	}
	if rel == "." {
		w.check(false)
		return
	}
	if !place.Inside(w.dir, e.Name) {
		return // a neighbour of the folder
	}
	name, inside, _ := strings.Cut(rel, string(filepath.Separator))
	if w.o.Ignore(name) {
		return
	}
	for part := range strings.SplitSeq(inside, string(filepath.Separator)) {
		if part != "" && Ignored(part) {
			return
		}
	}
	if w.folder == nil {
		w.check(false)
		return
	}
	w.touch(name)
	for other, x := range w.entries {
		if x.link { // it may point to what changed
			w.touch(other)
		}
	}
}

// touch makes the entry be looked at soon.
func (w *watcher) touch(name string) {
	x := w.entries[name]
	if x == nil {
		x = &entry{known: unknown}
		w.entries[name] = x
	}
	if x.since.IsZero() {
		x.since = time.Now()
		x.due = x.since.Add(burst)
		x.pause, x.seen = quiet, ""
	}
}

// everything touches all entries, known or new.
func (w *watcher) everything() {
	for name := range w.entries {
		w.touch(name)
	}
	for _, name := range w.names() {
		w.touch(name)
	}
}

// names lists the folder's entries that may be plugins.
func (w *watcher) names() []string {
	list, err := os.ReadDir(w.dir)
	if err != nil {
		return nil // check tells
	}
	var names []string
	for _, e := range list {
		if !w.o.Ignore(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names
}

// wait returns how long no look is due.
func (w *watcher) wait(now time.Time) time.Duration {
	next := time.Hour
	for _, x := range w.entries {
		if !x.since.IsZero() {
			next = min(next, max(0, x.due.Sub(now)))
		}
	}
	return next
}

// watch asks for the events of a folder.
func (w *watcher) watch(dir string) {
	err := w.notify.Add(dir)
	if err == nil || errors.Is(err, os.ErrNotExist) {
		return
	}
	if !w.blind {
		w.blind = true
		w.o.Log.Warn("a folder cannot be watched; looking at it every second instead", "err", err)
	}
}
