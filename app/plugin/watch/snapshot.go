package watch

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"conclave/app/base/fault"
)

// gone is the digest and state of an entry that does not exist.
const gone = ""

// unknown stands for the digest of an entry that came after the folder was first
// read. The caller may have seen it before it stopped changing, so it also gets one
// that is gone again by then.
const unknown = "unknown"

// snapshot holds the state of an entry's files at one time.
type snapshot struct {
	digest   string // what it is; gone, or a text that stands for an error
	state    string // digest and times
	doubtful bool   // it may be the middle of a save
}

// due takes snapshots of the entries whose time has come and returns the names of those
// that have stopped changing and differ from what the caller knows, sorted.
func (w *watcher) due(now time.Time) []string {
	var rested []string
	for name, x := range w.entries {
		if x.since.IsZero() || x.due.After(now) {
			continue
		}
		s := w.snapshot(name, x)
		agree := x.seen == "seen:"+s.state
		x.seen = "seen:" + s.state
		if !agree && now.Sub(x.since) < patience {
			pause := x.pause
			if s.doubtful {
				pause = max(pause, doubt)
			}
			x.due = now.Add(pause)
			x.pause = min(x.pause*2, slowest)
			continue
		}
		x.since = time.Time{}
		if s.digest != x.known {
			x.known = s.digest
			rested = append(rested, name)
		}
		if s.digest == gone {
			delete(w.entries, name)
		}
	}
	slices.Sort(rested)
	return rested
}

// snapshot reads the files of one entry, and watches its folders.
func (w *watcher) snapshot(name string, x *entry) snapshot {
	path := filepath.Join(w.dir, name)
	info, err := os.Lstat(path)
	x.link = err == nil && info.Mode()&fs.ModeSymlink != 0
	if x.link && w.leadsOut(path) {
		// Its owner will not load it; that it is there is all there is to know.
		return snapshot{digest: "a link that leads out", state: "a link that leads out"}
	}
	before := x.tree
	t, err := scan(path, before, w.watch)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		x.tree = nil
		return snapshot{digest: gone, state: gone, doubtful: true}
	case err != nil:
		x.tree = nil
		text := "cannot be read: " + fault.Of(err).Message
		return snapshot{digest: text, state: text}
	}
	x.tree = t
	s := snapshot{digest: t.digest(), state: t.state()}
	if before != nil {
		for name, f := range t.files {
			if f.size == 0 && before.files[name].size > 0 {
				s.doubtful = true
			}
		}
	}
	return s
}

func (w *watcher) leadsOut(path string) bool {
	root, err := filepath.EvalSymlinks(w.dir)
	if err != nil {
		return true
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // a dangling link is as good as nothing
	}
	rel, err := filepath.Rel(root, real)
	return err != nil || !filepath.IsLocal(rel)
}
