package undo

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin/safefs"
)

// Outcome is the result of putting files back.
type Outcome struct {
	Set  Set
	Back bool     // as before the call, else as after it
	Done []string // paths that are as they were
	Left []Left   // what was left as it is
}

// Partial reports whether a fault kept a file from being put back. Set.Unfinished holds as long as
// some are put back and some are not.
func (o Outcome) Partial() bool { return slices.ContainsFunc(o.Left, Left.isFault) }

// Hint suggests what a person can do about a partial outcome; it is empty for another.
func (o Outcome) Hint() string {
	switch {
	case slices.ContainsFunc(o.Left, func(l Left) bool { return l.again }):
		return "Mend what was in the way, then do the same again: it goes on with what is left."
	case o.Partial():
		return "Conclave has no other copy of it; a backup of your own may."
	}
	return ""
}

// Left is a file that was not put back.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
	// Fault is true where the file was to be put back and something was in the way: a full disk,
	// a folder that is away.
	Fault bool `json:"fault,omitempty"`
	again bool // another try may put it back
}

func (l Left) isFault() bool { return l.Fault }

// Undo puts the files of a set back as they were before; what changed since is left as it is.
// What was begun and not finished goes on. The kind is NotFound when nothing is kept, Invalid
// when nothing could be put back, and Unavailable when that is for want of a disk or a folder.
func (k *Keeper) Undo(ctx context.Context, id string) (Outcome, error) {
	return k.reverse(ctx, id, true)
}

// Redo takes an Undo back.
func (k *Keeper) Redo(ctx context.Context, id string) (Outcome, error) {
	return k.reverse(ctx, id, false)
}

func (k *Keeper) reverse(ctx context.Context, id string, back bool) (out Outcome, err error) {
	if err := k.enter(ctx); err != nil {
		return Outcome{}, err
	}
	defer k.leave()
	set, err := k.found(id)
	if err != nil {
		return Outcome{}, err
	}
	if back != set.Undone.IsZero() && !set.Unfinished {
		return Outcome{}, fault.New(fault.Invalid, "undo", map[bool]string{
			true: "That is undone already.", false: "That was not undone.",
		}[back], "")
	}
	begun := set.Unfinished
	set.Unfinished = true
	if err = k.archive.beginReversal(reversal{set.ID, back}); err == nil {
		err = k.archive.saveSet(set)
	}
	if err != nil {
		_ = k.archive.endReversal(set.ID) // nothing was changed, which recovery sees
		return Outcome{}, cannotWrite(k.o.Dir, err)
	}
	out = Outcome{Set: set, Back: back}
	defer func() { // where it failed half way too
		if failed := k.record(ctx, out); err == nil {
			err = failed
		}
		_ = k.archive.endReversal(set.ID) // likewise
	}()
	between := false // a name is neither as before nor as after
	for _, path := range foldersOf(set) {
		between = k.reverseFolder(path, set, begun, &out) || between
	}
	nothing := len(out.Done) == 0
	set.Unfinished = out.Partial() && (begun || between || !nothing)
	switch {
	case nothing || set.Unfinished: // Undone stays as it was
	case back:
		set.Undone = k.o.Now().UTC()
	default:
		set.Undone = time.Time{}
	}
	out.Set = set
	if err := k.archive.saveSet(set); err != nil {
		return out, cannotWrite(k.o.Dir, err)
	}
	if nothing {
		return out, nothingBack(out)
	}
	return out, nil
}

// nothingBack is the error of an outcome that put nothing back.
func nothingBack(o Outcome) error {
	message := "Nothing was put back: " + leftSentence(o.Left) + "."
	if o.Partial() {
		return fault.New(fault.Unavailable, "undo", message, o.Hint())
	}
	return fault.New(fault.Invalid, "undo", message, "If a later call changed it, undo that first.")
}

// record puts on record what was put back. It is done already, so an end of ctx is none of this.
func (k *Keeper) record(ctx context.Context, out Outcome) error {
	if len(out.Done) == 0 || k.o.Record == nil {
		return nil
	}
	if err := k.o.Record(context.WithoutCancel(ctx), out); err != nil {
		return fault.Wrap(fault.Unavailable, "undo", out.Sentence()+" But that could not be put on record.",
			"Check the disk with "+k.o.Dir+".", err)
	}
	return nil
}

func cannotWrite(dir string, err error) error {
	return fault.Wrap(fault.Unavailable, "undo", "The list of old versions cannot be written.",
		"Check the space of the disk with "+dir+".", err)
}

// foldersOf returns the folders that a set speaks of.
func foldersOf(s Set) []string {
	var all []string
	for _, c := range s.Changes {
		if !slices.Contains(all, c.Folder) {
			all = append(all, c.Folder)
		}
	}
	return all
}

// reverseFolder puts back what a set has of one folder. It looks at the folder first, so that
// there is a copy of whatever it replaces, and again afterwards. begun says that it was begun
// before, so that what lies between the versions is its own; between that it left such a name.
func (k *Keeper) reverseFolder(path string, set Set, begun bool, out *Outcome) (between bool) {
	changes := inOrder(set, path, out.Back)
	leave := func(why string, left ...Change) {
		for _, c := range left {
			out.Left = append(out.Left, Left{Path: c.Path(), Why: why})
		}
	}
	fails := func(why string, again bool, left ...Change) {
		for _, c := range left {
			out.Left = append(out.Left, Left{Path: c.Path(), Why: why, Fault: true, again: again})
		}
	}
	f := k.archive.folder(path)
	if begun {
		if err := k.settle(path, set, out.Back); err != nil {
			k.o.Log.Warn("an undo that was cut off cannot be settled", "err", err)
			fails(whyNotPut(err), true, changes...)
			return true
		}
	}
	at, only, err := opened(path)
	if err != nil {
		fails(folderGone, true, changes...)
		return false
	}
	defer at.Close() //nolint:errcheck // nothing is buffered
	if only != "" {
		at.Sweep()
	}
	if err := k.look(f); err != nil {
		k.o.Log.Warn("a folder cannot be looked at to put files back", "err", err)
		fails(whyNotLooked(err), true, changes...)
		return false
	}
	touched := map[string]bool{}
	for _, c := range changes {
		name := cmp.Or(only, c.Name)
		is := f.entry(c.Name)
		switch {
		case c.Unseen:
			leave(unseenWhy, c)
			continue
		case !stillAs(at, name, is): // or of too many to be looked at: nobody knows since when
			leave(changedSince, c)
			continue
		}
		want, from := c.Before, c.After
		if !out.Back {
			want, from = from, want
		}
		switch why, err := k.archive.objects.putBack(at, name, begun, is, from, want); {
		case err != nil:
			k.o.Log.Warn("a file could not be put back", "err", err)
			fails(whyNotPut(err), !errors.Is(err, errDamaged) && !errors.Is(err, errGone), c)
			between = between || !stillAs(at, name, is)
		case why != "":
			leave(why, c)
		default:
			out.Done = append(out.Done, c.Path())
			touched[filepath.Dir(name)] = true
		}
	}
	for dir := range touched {
		_ = at.Sync(dir) // it may be gone by now, and a system may have no such thing
	}
	if now, cut, err := k.archive.objects.look(path, f.entries, k.o.Now()); err == nil { // else the next look has it
		if err := k.seen(f, now, cut); err != nil {
			k.o.Log.Warn("a folder in which files were put back cannot be kept", "err", err)
		}
	}
	return between
}

// whyNotLooked returns the reason why a folder could not be looked at before anything is put back there.
func whyNotLooked(err error) string {
	switch {
	case isNoSpace(err):
		return "there is no space on the disk to keep what is there now"
	case errors.Is(err, errNoFolder):
		return folderGone
	}
	return "its folder could not be read"
}

// whyNotPut returns the reason why a file could not be put back.
func whyNotPut(err error) string {
	switch {
	case errors.Is(err, errDamaged):
		return "its old version is damaged"
	case errors.Is(err, errGone):
		return "its old version is gone"
	case errors.Is(err, errNoFolder):
		return folderGone
	case isNoSpace(err):
		return "there is no space for it on its disk"
	case errors.Is(err, syscall.EFBIG):
		return "it is larger than a file may be that Conclave writes there"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return "Conclave may not write there"
	}
	return "it could not be written"
}

// These say why a file is left as it is.
const (
	changedSince = "it was changed since"
	folderGone   = "its folder is gone or cannot be opened"
)

// stillAs reports whether a name is as the look at its folder saw it; nil is that there was none.
// Putting back many files takes seconds, in which a person saves one of them.
func stillAs(at *safefs.Folder, name string, seen *State) bool {
	info, err := at.Lstat(name)
	if err != nil || seen == nil {
		return err != nil && seen == nil
	}
	now, ok := stateOf(info)
	switch {
	case !ok || now.Kind != seen.Kind || now.Mode != seen.Mode:
		return false
	case now.Kind == "link":
		now.Text, err = at.Readlink(name)
		return err == nil && now.Text == seen.Text
	case now.Kind == "folder":
		return true
	case seen.Text == "" || !seen.Fresh && now.unread(*seen): // there is no copy to compare it with
		return now.unread(*seen)
	}
	text, err := contentOf(at, name)
	return err == nil && text == seen.Text
}

// contentOf returns the digest of a file's content.
func contentOf(at *safefs.Folder, name string) (string, error) {
	file, err := at.OpenFile(name)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // read only
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", err
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}

// inOrder returns the changes of one folder: what is to be deleted first, from the bottom up,
// then what is to be there, from the top down.
func inOrder(set Set, path string, back bool) []Change {
	var gone, there []Change
	for _, c := range set.Changes {
		switch {
		case c.Folder != path:
		case back && c.Before == nil, !back && c.After == nil:
			gone = append(gone, c)
		default:
			there = append(there, c)
		}
	}
	slices.SortFunc(gone, func(a, b Change) int { return strings.Compare(b.Name, a.Name) })
	slices.SortFunc(there, func(a, b Change) int { return strings.Compare(a.Name, b.Name) })
	return append(gone, there...)
}

// putBack makes one name what want says, if it is as from says. why tells why it did not; the error
// is a fault, after which the name is as it was, or lies between both and is settled by the next try.
// begun says that one was made before.
func (o objects) putBack(at *safefs.Folder, name string, begun bool, is, from, want *State) (why string, err error) {
	folders := from != nil && want != nil && (from.Kind == "folder" || want.Kind == "folder")
	switch {
	case is.equal(want):
		return "", nil
	case begun && is == nil && folders && from.Kind != want.Kind: // it was cut off between the two
	case !is.equal(from):
		return changedSince, nil
	case want == nil && is.Kind == "file" && is.Text == "", want != nil && want.Kind == "file" && want.Text == "":
		return "no copy of it was kept, " + cmp.Or(notKept(want), notKept(is)), nil
	}
	var copied *os.File
	if want != nil && want.Kind == "file" { // before anything is removed for it
		if copied, err = o.open(want.Text); err != nil {
			return "", err
		}
		defer copied.Close() //nolint:errcheck // read only
	}
	if is != nil && (want == nil || folders && is.Kind != want.Kind) {
		err := at.RemoveOne(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil && is.Kind == "folder":
			return "the folder holds other files", nil
		case err != nil:
			return "", err
		}
	}
	switch {
	case want == nil:
		return "", nil
	case want.Kind == "folder":
		return "", at.MakeFolderAs(name, want.Mode)
	case want.Kind == "link":
		return "", at.Link(name, want.Text)
	}
	err = at.Restore(name, copied, want.Mode, want.Modified)
	if errors.Is(err, safefs.ErrInPlace) {
		err = o.overwrite(at, name, is, want)
	}
	return "", err
}

// overwrite writes one version of a file over the other, in the file itself. It has a copy of what
// it writes over, and puts that back where it fails.
func (o objects) overwrite(at *safefs.Folder, name string, is, want *State) error {
	before, err := o.open(is.Text)
	if err != nil {
		return fmt.Errorf("what is to be written over: %w", err)
	}
	if err = errors.Join(before.Close(), o.overwriteWith(at, name, want)); err == nil {
		return nil
	}
	text, failed := contentOf(at, name)
	if failed == nil && text == is.Text {
		return err
	}
	return errors.Join(err, o.overwriteWith(at, name, is))
}

// overwriteWith writes a version of a file into the file itself.
func (o objects) overwriteWith(at *safefs.Folder, name string, s *State) error {
	copied, err := o.open(s.Text)
	if err != nil {
		return err
	}
	defer copied.Close() //nolint:errcheck // read only
	return at.Overwrite(name, copied, s.Size, s.Mode)
}

func notKept(s *State) string {
	if s == nil {
		return ""
	}
	return s.NotKept
}

// Sentence describes the outcome for a person.
func (o Outcome) Sentence() string {
	is, when := " are", "before"
	if len(o.Done) == 1 {
		is = " is"
	}
	if !o.Back {
		when = "after"
	}
	done := limit.Counted(len(o.Done), "file") + is + " as " + when + " the call."
	if len(o.Left) == 0 {
		return done
	}
	return done + " Left as it is: " + leftSentence(o.Left) + "."
}

// Changes returns the changes to the files that were put back.
func (o Outcome) Changes() []Change {
	var all []Change
	for _, c := range o.Set.Changes {
		if !slices.Contains(o.Done, c.Path()) {
			continue
		}
		if o.Back {
			c.Before, c.After = c.After, c.Before
		}
		all = append(all, c)
	}
	return all
}

// Why returns the reasons why files were left as they are; empty where none was.
func (o Outcome) Why() string { return leftSentence(o.Left) }

// maxLeft bounds the files that a sentence names.
const maxLeft = 5

func leftSentence(left []Left) string {
	var all []string
	for i, l := range left {
		if i == maxLeft {
			all = append(all, fmt.Sprintf("and %d more", len(left)-i))
			break
		}
		all = append(all, l.Path+" ("+l.Why+")")
	}
	return strings.Join(all, ", ")
}
