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
	"slices"
	"strings"
	"time"

	"conclave/app/fault"
	"conclave/app/limit"
	"conclave/app/plugin/safefs"
)

// Outcome says what putting files back did.
type Outcome struct {
	Set  Set
	Back bool     // as before the call, else as after it
	Done []string // paths that are as they were
	Left []Left   // what was left as it is
}

// Left is a file that was not put back.
type Left struct {
	Path string `json:"path"`
	Why  string `json:"why"`
}

// Undo puts the files of a set back as they were before; what changed since is left as it is.
// The kind is NotFound when nothing is kept, Invalid when nothing could be put back.
func (k *Keeper) Undo(ctx context.Context, id string) (Outcome, error) { return k.turn(ctx, id, true) }

// Redo takes an Undo back.
func (k *Keeper) Redo(ctx context.Context, id string) (Outcome, error) { return k.turn(ctx, id, false) }

func (k *Keeper) turn(ctx context.Context, id string, back bool) (out Outcome, err error) {
	if err := k.enter(ctx); err != nil {
		return Outcome{}, err
	}
	defer k.leave()
	k.recover()
	set, err := k.found(id)
	if err != nil {
		return Outcome{}, err
	}
	if back != set.Undone.IsZero() && !set.Turning {
		return Outcome{}, fault.New(fault.Invalid, "undo", map[bool]string{
			true: "That is undone already.", false: "That was not undone.",
		}[back], "")
	}
	set.Turning = true
	if err := k.saveSet(set); err != nil {
		return Outcome{}, cannotWrite(k.o.Dir, err)
	}
	out = Outcome{Set: set, Back: back}
	defer func() { // where it failed half way too
		if failed := k.record(ctx, out); err == nil {
			err = failed
		}
	}()
	for _, path := range foldersOf(set) {
		if err := k.turnFolder(path, set, back, &out); err != nil {
			return out, err
		}
	}
	if len(out.Done) == 0 {
		set.Turning = false
		_ = k.saveSet(set) // it says more than is so at worst
		return out, fault.New(fault.Invalid, "undo", "Nothing was put back: "+leftSentence(out.Left)+".",
			"If a later call changed it, undo that first.")
	}
	set.Turning, set.Undone = false, time.Time{}
	if back {
		set.Undone = k.o.Now().UTC()
	}
	out.Set = set
	if err := k.saveSet(set); err != nil {
		return out, cannotWrite(k.o.Dir, err)
	}
	return out, nil
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

// turnFolder puts back what a set has of one folder. It looks at the folder first, so that
// there is a copy of whatever it replaces, and again afterwards.
func (k *Keeper) turnFolder(path string, set Set, back bool, out *Outcome) error {
	f := k.folder(path)
	if k.look(f) != nil {
		for _, c := range set.Changes {
			if c.Folder == path {
				out.Left = append(out.Left, Left{c.Path(), "its folder is gone or cannot be opened"})
			}
		}
		return nil
	}
	at, only, err := opened(path)
	if err != nil {
		return fault.Wrap(fault.Unavailable, "undo", path+" cannot be opened.", "Check that it is there.", err)
	}
	defer at.Close() //nolint:errcheck // nothing is buffered
	for _, c := range inOrder(set, path, back) {
		if c.Unseen {
			out.Left = append(out.Left, Left{c.Path(), unseenWhy})
			continue
		}
		name := cmp.Or(only, c.Name)
		var is *State
		if have, known := f.entries[c.Name]; known {
			is = &have
		}
		if !stillAs(at, name, is) { // or of too many to be looked at: nobody knows since when
			out.Left = append(out.Left, Left{c.Path(), changedSince})
			continue
		}
		want, from := c.Before, c.After
		if !back {
			want, from = from, want
		}
		switch why, err := k.putBack(at, name, only != "", is, from, want); {
		case err != nil:
			k.o.Log.Warn("a file could not be put back", "err", err)
			out.Left = append(out.Left, Left{c.Path(), "it could not be written"})
		case why != "":
			out.Left = append(out.Left, Left{c.Path(), why})
		default:
			out.Done = append(out.Done, c.Path())
		}
	}
	now, cut, err := k.objects.look(path, f.entries, k.o.Now())
	if err != nil {
		return nil //nolint:nilerr // the next look has it
	}
	return k.seen(f, now, cut)
}

// changedSince says why a file is left as it is.
const changedSince = "it was changed since"

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

// putBack makes one name what want says, if it is as from says. why tells why it did not.
func (k *Keeper) putBack(at *safefs.Folder, name string, inPlace bool, is, from, want *State) (why string, err error) {
	switch {
	case is.equal(want):
		return "", nil
	case !is.equal(from):
		return changedSince, nil
	case want == nil && is.Kind == "file" && is.Text == "", want != nil && want.Kind == "file" && want.Text == "":
		return "no copy of it was kept, " + cmp.Or(notKept(want), notKept(is)), nil
	}
	if want == nil || is != nil && is.Kind != want.Kind {
		err := at.RemoveOne(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil && is.Kind == "folder":
			return "the folder holds other files", nil
		case err != nil:
			return "", err
		}
	}
	if want == nil {
		return "", nil
	}
	switch want.Kind {
	case "folder":
		return "", at.MakeFolderAs(name, want.Mode)
	case "link":
		return "", at.Link(name, want.Text)
	}
	copied, err := k.objects.open(want.Text)
	if errors.Is(err, fs.ErrNotExist) {
		return "its copy is gone", nil
	}
	if err != nil {
		return "", err
	}
	defer copied.Close() //nolint:errcheck // read only
	if inPlace {
		return "", at.Overwrite(name, copied)
	}
	return "", at.Restore(name, copied, want.Mode, want.Modified)
}

func notKept(s *State) string {
	if s == nil {
		return ""
	}
	return s.NotKept
}

// Sentence says what was done, for a person.
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

// Changes says what became of the files that were put back.
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

// Why says why files were left as they are; empty where none was.
func (o Outcome) Why() string { return leftSentence(o.Left) }

// maxLeft is how many files a sentence names.
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
