package core

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/record/undo"
)

// maxChanges is how many of the files that a call changed its record names; the rest is
// counted.
const maxChanges = 50

// recordTurning puts on record what a person undid or redid.
func (c *Core) recordTurning(ctx context.Context, o undo.Outcome) error {
	t := activity.Turning{
		Kind: activity.Redone, Time: time.Now().UTC(), Undo: o.Set.ID, Call: o.Set.Call.ID, Turn: o.Set.Call.Turn,
		Changed: len(o.Done), Left: len(o.Left), Why: o.Why(),
	}
	if o.Back {
		t.Kind = activity.Undone
	}
	for _, change := range o.Changes()[:min(len(o.Done), maxChanges)] {
		t.Changes = append(t.Changes, chat.FileChange{Path: change.Path(), What: change.What()})
	}
	return c.Store.Activity.RecordTurning(ctx, t)
}

// keeper is a call that runs, and what is kept for it.
type keeper struct {
	call  undo.Call
	mu    sync.Mutex
	watch *undo.Watch // nil as long as its plugin may write in no folder
	ended bool
}

// keep has old versions kept of the files that a call may change: those in the folders that
// its plugin may write, or may once the call has asked. A call whose files cannot be kept, or that
// could not be put on record, is not made.
func (c *Core) keep(ctx context.Context, r *chat.CallRecord) (func(*chat.CallRecord), error) {
	k := &keeper{call: undo.Call{ID: r.ID, Turn: r.Turn, Plugin: r.Plugin, Tool: r.ToolID}}
	if folders := c.writable(r.Plugin); len(folders) > 0 {
		if err := c.Store.Sync(ctx); err != nil {
			return nil, err
		}
		watch, err := c.Undo.Begin(ctx, k.call, folders)
		if err != nil {
			return nil, err
		}
		k.watch, r.Undo = watch, k.call.Handle()
	}
	c.keepers.add(k)
	return func(r *chat.CallRecord) {
		c.keepers.remove(k)
		if watch := k.end(); watch != nil {
			c.kept(watch, r)
		}
	}, nil
}

// writable returns the folders that a plugin may write, none of them in another.
func (c *Core) writable(id string) []string {
	var folders []string
	given := slices.Concat(c.Gate.Reach.Folders(id), c.Gate.Reach.Opened(id))
	slices.SortFunc(given, func(a, b gate.Folder) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range given { // so that one comes before what is in it
		inside := func(of string) bool { return place.Inside(of, f.Path) }
		if f.Write && !slices.ContainsFunc(folders, inside) {
			folders = append(folders, filepath.Clean(f.Path))
		}
	}
	return folders
}

// kept writes into the record of a call what it changed.
func (c *Core) kept(watch *undo.Watch, r *chat.CallRecord) {
	set, err := watch.End()
	if err != nil {
		c.Log.Warn("old versions of a folder cannot be kept", "plugin", r.Plugin, "err", err)
		r.Unkept = undo.Unseen(err)
	}
	if set.Cut {
		r.Unkept = strings.TrimSpace(r.Unkept + " " + limit.UndoFiles.Person)
	}
	for _, change := range set.Shown() {
		if r.Changed++; len(r.Changes) < maxChanges {
			r.Changes = append(r.Changes, chat.FileChange{
				Path: change.Path(), What: change.What(), NotKept: change.NotKept(),
			})
		}
	}
	if set.Deletes() {
		c.Gate.Rules.MarkDeleting(r.ToolID)
	}
	r.Undo = ""
	if r.Changed > 0 {
		r.Undo = set.ID
	}
}

// opening keeps the folder or file that Conclave is about to open for a plugin to write, for
// the plugin's calls that run: which of them it is for, no process says. Where it fails, the file
// is not to be opened.
func (c *Core) opening(ctx context.Context, id, path string) error {
	for _, k := range c.keepers.of(id) {
		if err := k.open(ctx, c.Undo, path); err != nil {
			return err
		}
	}
	return nil
}

func (k *keeper) open(ctx context.Context, u *undo.Keeper, path string) (err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case k.ended:
	case k.watch == nil:
		k.watch, err = u.Begin(ctx, k.call, []string{path})
	default:
		err = k.watch.Add(ctx, path)
	}
	return err
}

// end returns what is watched for the call, nil where nothing is.
func (k *keeper) end() *undo.Watch {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.ended = true
	return k.watch
}

// keepers holds the calls that run. The zero value is ready.
type keepers struct {
	mu  sync.Mutex
	all []*keeper
}

func (s *keepers) add(k *keeper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, k)
}

func (s *keepers) remove(k *keeper) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(one *keeper) bool { return one == k })
}

// of returns those of a plugin.
func (s *keepers) of(plugin string) []*keeper {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(s.all), func(k *keeper) bool { return k.call.Plugin != plugin })
}
