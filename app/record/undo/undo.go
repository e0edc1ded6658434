// Package undo stores previous versions of the files that a call of a plugin changed, and puts
// them back.
//
// A plugin's process writes by itself in the folders that it was given, so nobody is asked
// about a single file. The keeper looks at those folders before a call and after it, has a
// copy of what it saw each time, and so knows what changed in between, and from what.
// A file of which there can be no copy has the reason in its State. docs/adr/0019 says why it is so.
//
// Read Keeper and Set first. Nothing here knows plugins, permissions or the store.
package undo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/plugin/safefs"
)

// TooManyFiles tells the person that a folder has more files than limit.UndoFiles.
const TooManyFiles = "The folder has more than 20,000 files; changes to those beyond are not seen."

// Kept is the time for which old versions are stored.
const Kept = 30 * 24 * time.Hour

// Options configure a Keeper. Dir is required.
type Options struct {
	Dir string           // absolute; made when something is kept for the first time
	Now func() time.Time // nil is time.Now
	Log *slog.Logger     // nil discards
	// Record puts on record what Undo or Redo did, whenever it put a file back; nil has no record.
	Record func(context.Context, Outcome) error
}

// Keeper keeps old versions. Use Open. It is safe for concurrent use.
type Keeper struct {
	o    Options
	line chan struct{} // holds one: whoever put it there may use the fields below and Dir

	archive  *archive
	ready    bool // what an ended program left is accounted for
	recovery sync.WaitGroup
}

// Call names the call that a folder is watched for.
type Call struct {
	ID     uint64 `json:"id"`   // its number in the record of calls
	Turn   string `json:"turn"` // tells it from one of a chat that is not on record, which numbers its own
	Plugin string `json:"plugin"`
	Tool   string `json:"tool"`
}

// Handle names the changes of a call.
func (c Call) Handle() string {
	sum := sha256.Sum256([]byte(c.Turn))
	return strconv.FormatUint(c.ID, 10) + "-" + hex.EncodeToString(sum[:4])
}

// Set holds the changes of one call, or those between calls.
type Set struct {
	ID   string    `json:"id"` // the call's Handle; changes between calls have another name
	Time time.Time `json:"time"`
	// Call is zero for what changed while no call ran, by the person or by a program.
	Call Call `json:"call,omitzero"`
	// Shared says that other calls used the folder at the same time, so that it may be theirs.
	Shared bool `json:"shared,omitempty"`
	// Interrupted says that Conclave was ended while the call ran.
	Interrupted bool      `json:"interrupted,omitempty"`
	Changes     []Change  `json:"changes"`
	Undone      time.Time `json:"undone,omitzero"`
	// Unfinished says that putting back began and is not finished: it was cut off, or something was in
	// the way of a part. Undo and Redo both go on from there.
	Unfinished bool `json:"turning,omitempty"`
	// Cut says that a folder has more names than are looked at.
	Cut bool `json:"cut,omitempty"`
}

// Change tells how one file was before and after.
type Change struct {
	Folder string `json:"folder"` // that the plugin was given, absolute
	Name   string `json:"name"`   // below it; "." is the file that was given itself
	Before *State `json:"before"` // nil: there was none, or see Unseen
	After  *State `json:"after"`  // nil: there is none any more
	// Unseen says that the look before did not see all names, so that it is not known whether
	// there was one, and how it was.
	Unseen bool `json:"unseen,omitempty"`
}

// Shown returns the changes that a person is shown: all files and links, and folders that
// hold none of them.
func (s Set) Shown() []Change {
	holds := map[string]bool{}
	for _, c := range s.Changes {
		holds[filepath.Dir(c.Path())] = true
	}
	return slices.DeleteFunc(slices.Clone(s.Changes), func(c Change) bool { return c.isFolder() && holds[c.Path()] })
}

func (c Change) isFolder() bool {
	return (c.Before == nil || c.Before.Kind == "folder") && (c.After == nil || c.After.Kind == "folder")
}

// Path returns the file's absolute path.
func (c Change) Path() string { return filepath.Join(c.Folder, c.Name) }

// What returns what happened to the file: created, deleted or changed; seen first where that is not
// known.
func (c Change) What() string {
	switch {
	case c.Unseen:
		return "seen first"
	case c.Before == nil:
		return "created"
	case c.After == nil:
		return "deleted"
	}
	return "changed"
}

// Deletes reports whether the call deleted a file that it did not make elsewhere again, as
// renaming does.
func (s Set) Deletes() bool {
	type content struct {
		text string
		size int64
	}
	made := map[content]int{}
	for _, c := range s.Changes {
		if c.Before == nil && c.After != nil && !c.isFolder() {
			made[content{c.After.Text, c.After.Size}]++
		}
	}
	for _, c := range s.Changes {
		if c.After != nil || c.Before == nil || c.isFolder() {
			continue
		}
		at := content{c.Before.Text, c.Before.Size}
		if made[at]--; made[at] < 0 {
			return true
		}
	}
	return false
}

// NotKept returns the reason why there is no copy of the version before the change, or nothing where there is one.
func (c Change) NotKept() string {
	switch {
	case c.Unseen:
		return unseenWhy
	case c.Before != nil:
		return c.Before.NotKept
	case c.After != nil: // undoing it would delete what nobody has a copy of
		return c.After.NotKept
	}
	return ""
}

// unseenWhy is the reason why a file that a look saw first is not put back: undoing it could delete what
// was there all the time.
const unseenWhy = "its folder has so many files that it is not known how it was before"

// Open returns the keeper of a folder. It accounts for what a program left that ended while
// calls ran.
func Open(o Options) *Keeper {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	k := &Keeper{
		o: o, line: make(chan struct{}, 1), archive: &archive{
			dir: o.Dir, now: o.Now, log: o.Log, most: limit.UndoBytes, folders: map[string]*folder{}, objects: objects{
				dir: filepath.Join(o.Dir, objectsDir), most: limit.UndoFile, total: limit.UndoFolder,
				names: limit.UndoFiles,
			},
		},
	}
	if _, err := os.Stat(filepath.Join(o.Dir, usesDir)); err == nil {
		k.recovery.Go(func() { // Close waits for it
			k.line <- struct{}{}
			k.recover()
			<-k.line
		})
	}
	return k
}

// enter waits for its turn, and accounts for what an ended program left. The error is the cause of
// ctx's end.
func (k *Keeper) enter(ctx context.Context) error {
	select {
	case k.line <- struct{}{}:
		k.recover()
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (k *Keeper) leave() { <-k.line }

// Watch is a call that runs. End it.
type Watch struct {
	k       *Keeper
	call    Call
	folders []*folder
	shared  bool
	cut     bool // a look did not see all names
	ended   bool
	trouble error // why something could not be kept
}

// Begin keeps the folders as they are, before the call runs. The error is ctx's, or of kind
// Unavailable where that cannot be done: then the call must not run. A folder that is not there, that
// goes deeper than is looked at, or in which Conclave may not read, is no error: End says so of the
// latter.
func (k *Keeper) Begin(ctx context.Context, c Call, folders []string) (*Watch, error) {
	if err := k.enter(ctx); err != nil {
		return nil, err
	}
	defer k.leave()
	k.archive.pruneSometimes()
	w := &Watch{k: k, call: c}
	for _, path := range folders {
		if err := w.add(path); err != nil {
			_, _ = w.end() // what was kept until now stays so
			return nil, err
		}
	}
	return w, nil
}

// Add keeps one more folder as it is, before the call changes anything there. Nothing is done
// for one that is in a folder the call is watched in already. The error is as Begin's.
func (w *Watch) Add(ctx context.Context, path string) error {
	if err := w.k.enter(ctx); err != nil {
		return err
	}
	defer w.k.leave()
	inside := func(f *folder) bool { return place.Inside(f.path, path) }
	if w.ended || slices.ContainsFunc(w.folders, inside) {
		return nil
	}
	return w.add(path)
}

func (w *Watch) add(path string) error {
	k := w.k
	f := k.archive.folder(path)
	err := k.look(f) // what changed until now is not this call's
	if err == nil {
		w.cut = w.cut || f.Cut
		w.folders = append(w.folders, f)
		f.watches = append(f.watches, w)
		f.Open, f.Used, f.Calls = true, k.o.Now(), append(f.Calls, w.call)
		for _, one := range f.watches {
			one.shared = one.shared || len(f.watches) > 1
		}
		err = k.archive.saveUse(f)
	}
	switch {
	case err == nil, errors.Is(err, errNoFolder):
		return nil
	case errors.Is(err, safefs.ErrDeep), errors.Is(err, fs.ErrPermission) && !errors.Is(err, errNotKept):
		w.trouble = errors.Join(w.trouble, fmt.Errorf("%s: %w", path, err))
		return nil
	case isNoSpace(err):
		return fault.Wrap(fault.Unavailable, "undo.begin", "There is no space on the disk with "+k.o.Dir+
			" for a copy of what is in "+path+".", "Make room there, then try again.", err)
	}
	return fault.Wrap(fault.Unavailable, "undo.begin", "What is in "+path+" could not be copied to "+k.o.Dir+".",
		"Check both disks; the log says why.", err)
}

// Unseen says of an error of End what it means for the call's record.
func Unseen(err error) string {
	why := " The log says why."
	switch {
	case errors.Is(err, safefs.ErrDeep):
		why = " One goes deeper than is looked at."
	case isNoSpace(err):
		why = " There is no space on the disk to keep what is there now. Once there is, conclave activity kept " +
			"lists the rest."
	}
	return "Conclave could not look at every folder that it may write, so it may have changed more." + why
}

// End looks at the folders again and returns what changed since Begin. The set has no changes
// when nothing did. The error says what could not be kept.
func (w *Watch) End() (Set, error) {
	w.k.line <- struct{}{}
	defer w.k.leave()
	return w.end()
}

func (w *Watch) end() (Set, error) {
	k := w.k
	w.ended = true
	looked := map[*folder]error{} // all of them, before the call is no longer known to use the first
	for _, f := range w.folders {
		looked[f] = k.look(f)
		w.cut = w.cut || f.Cut
	}
	for _, f := range w.folders {
		err := looked[f]
		f.watches = slices.DeleteFunc(f.watches, func(one *Watch) bool { return one == w })
		if err == nil { // else the next look has it
			f.Calls = slices.DeleteFunc(f.Calls, func(c Call) bool { return c == w.call })
			err = k.archive.saveUse(f)
		}
		if err != nil {
			w.trouble = errors.Join(w.trouble, fmt.Errorf("%s: %w", f.path, err))
		}
	}
	set, err := k.archive.set(w.call.Handle())
	if errors.Is(err, os.ErrNotExist) {
		err = nil
	}
	set.Cut = set.Cut || w.cut
	return set, errors.Join(w.trouble, err)
}

// look brings what is known of a folder up to date. What changed since the last look goes to
// the calls that run, or else is kept as changed between calls.
func (k *Keeper) look(f *folder) error {
	now, cut, err := k.archive.objects.look(f.path, f.entries, k.o.Now())
	if err != nil {
		return err
	}
	changes := f.compare(now, len(now) >= 2*k.archive.objects.names)
	cutBefore := f.Cut
	calls := f.Calls
	if len(calls) == 0 && f.Open {
		calls = []Call{{}} // nobody's
	}
	if len(changes) > 0 {
		for _, c := range calls {
			if err := k.add(f, c, changes, cut || cutBefore); err != nil {
				return err
			}
		}
	}
	if f.looked && cut == cutBefore && maps.Equal(f.entries, now) {
		return nil // nothing to write
	}
	f.looked = true
	return k.seen(f, now, cut)
}

// seen keeps what a look saw. Should the program end within it, the folder counts as cut.
func (k *Keeper) seen(f *folder, now map[string]State, cut bool) error {
	if cut && !f.Cut {
		f.Cut = true
		if err := k.archive.saveUse(f); err != nil {
			return err
		}
	}
	f.entries = now
	if err := k.archive.saveEntries(f); err != nil || cut == f.Cut {
		return err
	}
	f.Cut = cut
	return k.archive.saveUse(f)
}

// add keeps changes as those of a call, behind what is kept of it. cut says that not all names of
// the folder were seen.
func (k *Keeper) add(f *folder, c Call, changes []Change, cut bool) error {
	set := Set{ID: c.Handle(), Call: c}
	if c == (Call{}) {
		set.ID = "between-" + strconv.FormatInt(k.o.Now().UnixNano(), 36)
	}
	if was, err := k.archive.set(set.ID); err == nil {
		set = was
	}
	set.Time, set.Undone = k.o.Now().UTC(), time.Time{}
	for _, w := range f.watches {
		set.Shared = set.Shared || w.call == c && w.shared
	}
	set.Interrupted = set.Interrupted || c != (Call{}) && len(f.watches) == 0
	set.Cut = set.Cut || cut
	for _, change := range changes {
		if k.within(f, c, change.Path()) {
			continue
		}
		at := slices.IndexFunc(set.Changes, func(o Change) bool { return o.Folder == change.Folder && o.Name == change.Name })
		if at < 0 {
			set.Changes = append(set.Changes, change)
			continue
		}
		if set.Changes[at].Unseen && change.Before != nil { // it is known how it was, though not at first
			set.Changes[at].Before, set.Changes[at].Unseen = change.Before, false
		}
		set.Changes[at].After = change.After
		if set.Changes[at].Before.equal(change.After) {
			set.Changes = slices.Delete(set.Changes, at, at+1)
		}
	}
	slices.SortFunc(set.Changes, func(a, b Change) int {
		return cmp.Or(strings.Compare(a.Folder, b.Folder), strings.Compare(a.Name, b.Name))
	})
	if len(set.Changes) == 0 {
		return k.archive.removeSet(set.ID)
	}
	return k.archive.saveSet(set)
}

// within reports whether a path lies in a folder inside of f that the same call uses, which
// has it: that folder was looked at before the call could change anything there, f maybe later.
func (k *Keeper) within(f *folder, c Call, path string) bool {
	for _, inner := range k.archive.folders {
		if inner != f && slices.Contains(inner.Calls, c) && place.Inside(f.path, inner.path) &&
			place.Inside(inner.path, path) {
			return true
		}
	}
	return false
}

// recover accounts for what a program left that ended while calls ran: their changes are
// theirs, and what is of no use any more goes.
func (k *Keeper) recover() {
	if k.ready {
		return
	}
	k.ready = true
	k.archive.sweepParts()
	k.resume()
	all := slices.DeleteFunc(k.archive.everyFolder(), func(f *folder) bool { return len(f.Calls) == 0 })
	all = slices.DeleteFunc(all, func(f *folder) bool { // once all are known to be used, and before one is not
		err := k.look(f)
		if err != nil {
			k.o.Log.Warn("a folder cannot be looked at for what an interrupted call changed", "err", err)
		}
		return err != nil
	})
	for _, f := range all {
		f.Calls = nil
		if err := k.archive.saveUse(f); err != nil {
			k.o.Log.Warn("what an interrupted call changed cannot be kept", "err", err)
		}
	}
}

// Close looks at the folders that were in use for a last time, once no plugin runs any more.
func (k *Keeper) Close() {
	k.recovery.Wait()
	k.line <- struct{}{}
	defer k.leave()
	for _, f := range k.archive.folders {
		if !f.Open {
			continue
		}
		err := k.look(f)
		f.Open = false
		if err = errors.Join(err, k.archive.saveUse(f)); err != nil {
			k.o.Log.Warn("a folder of a plugin cannot be looked at", "err", err)
		}
	}
	clear(k.archive.folders)
}

// Of returns the changes of a call, by its handle or its number. The kind is NotFound when none are
// kept, and Invalid for a number that several calls have: each temporary chat numbers its own.
func (k *Keeper) Of(ctx context.Context, id string) (Set, error) {
	if err := k.enter(ctx); err != nil {
		return Set{}, err
	}
	defer k.leave()
	return k.found(id)
}

func (k *Keeper) found(id string) (Set, error) {
	set, err := k.archive.set(id)
	if number, e := strconv.ParseUint(id, 10, 64); e == nil && number > 0 {
		all := slices.DeleteFunc(k.archive.sets(), func(s Set) bool {
			return s.Call.ID != number || k.o.Now().Sub(s.Time) > Kept
		})
		if len(all) > 1 {
			return Set{}, several(all)
		}
		if len(all) == 1 {
			set, err = all[0], nil
		}
	}
	if err != nil || k.o.Now().Sub(set.Time) > Kept {
		return Set{}, fault.Wrap(fault.NotFound, "undo", "No old versions are kept for "+shownID(id)+".",
			"They are kept for 30 days, if the call changed files in a folder that its plugin was given. "+
				"conclave activity kept lists them.", err)
	}
	return set, nil
}

// several refuses the number that calls share, and names each of them.
func several(all []Set) error {
	var named []string
	for i, s := range all {
		if i == maxLeft {
			named = append(named, fmt.Sprintf("and %d more", len(all)-i))
			break
		}
		named = append(named, fmt.Sprintf("%s (%s, %s)", s.ID, s.Call.Tool, s.Time.Local().Format("2 January 15:04")))
	}
	return fault.New(fault.Invalid, "undo",
		fmt.Sprintf("Several calls have the number %d: %s.", all[0].Call.ID, strings.Join(named, ", ")),
		"Name the one that you mean as it stands there; conclave activity kept lists what each changed.")
}

func shownID(id string) string {
	number, _, _ := strings.Cut(id, "-")
	if _, err := strconv.ParseUint(number, 10, 64); err == nil {
		return "call " + number
	}
	return "that"
}

// Usage is the size of what is stored.
type Usage struct {
	Sets   []Set // the newest first
	Old    int64 // bytes of old versions
	Now    int64 // bytes of copies of folders as they are, from which old versions come
	Oldest time.Time
}

// Usage returns what is kept.
func (k *Keeper) Usage(ctx context.Context) (Usage, error) {
	if err := k.enter(ctx); err != nil {
		return Usage{}, err
	}
	defer k.leave()
	k.archive.prune()
	u := Usage{Sets: k.archive.sets()}
	present := map[string]bool{}
	for _, f := range k.archive.everyFolder() {
		for _, s := range f.entries {
			present[s.Text] = true
		}
	}
	k.archive.objects.each(func(hash string, size int64) {
		if present[hash] {
			u.Now += size
		} else {
			u.Old += size
		}
	})
	if n := len(u.Sets); n > 0 {
		u.Oldest = u.Sets[n-1].Time
	}
	return u, nil
}

// Empty removes every old version. Folders with calls that run stay watched.
func (k *Keeper) Empty(ctx context.Context) error {
	if err := k.enter(ctx); err != nil {
		return err
	}
	defer k.leave()
	var err error
	for _, set := range k.archive.sets() {
		err = errors.Join(err, k.archive.removeSet(set.ID))
	}
	for _, f := range k.archive.everyFolder() {
		if len(f.watches) == 0 {
			err = errors.Join(err, k.archive.dropFolder(f))
		}
	}
	k.archive.prune()
	if err != nil {
		return fault.Wrap(fault.Unavailable, "undo.empty", "Not every old version could be removed.",
			"They lie in "+k.o.Dir+".", err)
	}
	return nil
}
