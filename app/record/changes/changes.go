// Package changes keeps old versions of the files that calls may change, and writes into the record
// of a call what it changed. It decides which folders to look at: those that the call's plugin may
// write. Package undo copies and compares them.
//
// Read Recorder.Keep first.
package changes

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/place"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/record/undo"
)

// maxChanges limits how many files the record of a call names; others that it changed are counted.
const maxChanges = 50

// Options configure a Recorder. All are required.
type Options struct {
	Undo *undo.Keeper
	Gate *gate.Gate
	Sync func(ctx context.Context) error // returns once the store is on the disk
	Log  *slog.Logger
}

// Recorder keeps files of calls. Use New. It is safe for concurrent use.
type Recorder struct {
	o Options

	mu    sync.Mutex // guards calls
	calls []*keeper  // that run
}

// New returns a recorder.
func New(o Options) *Recorder { return &Recorder{o: o} }

// Reversal returns the entry for the record of activity about what a person undid or redid.
func Reversal(o undo.Outcome) activity.Reversal {
	t := activity.Reversal{
		Kind: activity.Redone, Time: time.Now().UTC(), Undo: o.Set.ID, Call: o.Set.Call.ID, Turn: o.Set.Call.Turn,
		Changed: len(o.Done), Left: len(o.Left), Why: o.Why(),
	}
	if o.Back {
		t.Kind = activity.Undone
	}
	for _, change := range o.Changes()[:min(len(o.Done), maxChanges)] {
		t.Changes = append(t.Changes, chat.FileChange{Path: change.Path(), What: change.What()})
	}
	return t
}

// keeper is a call that runs, with the folders that are watched for it.
type keeper struct {
	call  undo.Call
	mu    sync.Mutex
	watch *undo.Watch // nil as long as its plugin may write in no folder
	ended bool
}

// Keep keeps the files that a call may change: those in the folders that its plugin may write, or may
// once the call has asked. A call whose files cannot be kept, or that could not be recorded, must not
// be made. The function returned writes into the call's record what it changed.
func (r *Recorder) Keep(ctx context.Context, record *chat.CallRecord) (func(*chat.CallRecord), error) {
	k := &keeper{call: undo.Call{ID: record.ID, Turn: record.Turn, Plugin: record.Plugin, Tool: record.ToolID}}
	if folders := r.writable(record.Plugin); len(folders) > 0 {
		if err := r.o.Sync(ctx); err != nil {
			return nil, err
		}
		watch, err := r.o.Undo.Begin(ctx, k.call, folders)
		if err != nil {
			return nil, err
		}
		k.watch, record.Undo = watch, k.call.Handle()
	}
	r.mu.Lock()
	r.calls = append(r.calls, k)
	r.mu.Unlock()
	return func(record *chat.CallRecord) {
		r.mu.Lock()
		r.calls = slices.DeleteFunc(r.calls, func(one *keeper) bool { return one == k })
		r.mu.Unlock()
		if watch := k.end(); watch != nil {
			r.write(watch, record)
		}
	}, nil
}

// writable returns the folders that a plugin may write, none of them in another.
func (r *Recorder) writable(id string) []string {
	var folders []string
	given := slices.Concat(r.o.Gate.Reach.Folders(id), r.o.Gate.Reach.Opened(id))
	slices.SortFunc(given, func(a, b gate.Folder) int { return strings.Compare(a.Path, b.Path) })
	for _, f := range given { // so that one comes before what is in it
		inside := func(of string) bool { return place.Inside(of, f.Path) }
		if f.Write && !slices.ContainsFunc(folders, inside) {
			folders = append(folders, filepath.Clean(f.Path))
		}
	}
	return folders
}

// write writes into the record of a call what it changed.
func (r *Recorder) write(watch *undo.Watch, record *chat.CallRecord) {
	set, err := watch.End()
	if err != nil {
		r.o.Log.Warn("old versions of a folder cannot be kept", "plugin", record.Plugin, "err", err)
		record.Unkept = undo.Unseen(err)
	}
	if set.Cut {
		record.Unkept = strings.TrimSpace(record.Unkept + " " + undo.TooManyFiles)
	}
	for _, change := range set.Shown() {
		if record.Changed++; len(record.Changes) < maxChanges {
			record.Changes = append(record.Changes, chat.FileChange{
				Path: change.Path(), What: change.What(), NotKept: change.NotKept(),
			})
		}
	}
	if set.Deletes() {
		r.o.Gate.Rules.MarkDeleting(record.ToolID)
	}
	record.Undo = ""
	if record.Changed > 0 {
		record.Undo = set.ID
	}
}

// Opening keeps the folder or file that Conclave is about to open for a plugin to write, for all of
// the plugin's calls that run, since no process names the one. If it fails, the file must not be
// opened.
func (r *Recorder) Opening(ctx context.Context, plugin, path string) error {
	for _, k := range r.running(plugin) {
		if err := k.open(ctx, r.o.Undo, path); err != nil {
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

// running returns the calls of a plugin that run.
func (r *Recorder) running(plugin string) []*keeper {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(r.calls), func(k *keeper) bool { return k.call.Plugin != plugin })
}
