package undo

import (
	"bufio"
	"cmp"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"conclave/app/plugin/safefs"
)

// reversal is an undo or a redo that a program began. It lies in a file of ours until that is over,
// so that the next program can settle one that was cut off.
type reversal struct {
	Set  string `json:"set"`
	Back bool   `json:"back"` // it was an undo
}

// beginReversal writes down that a set is about to be put back; it is on the disk then.
func (a *archive) beginReversal(t reversal) error {
	path := a.file(reversalsDir, t.Set)
	return errors.Join(write(path, t), syncDir(filepath.Dir(path)))
}

func (a *archive) endReversal(set string) error { return removed(os.Remove(a.file(reversalsDir, set))) }

// syncDir has the names in a folder of ours survive a power cut. Not every system can.
func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	_ = dir.Sync()
	return dir.Close()
}

// resume settles what a program left that was ended while it put files back. What that had
// changed is nobody else's.
func (k *Keeper) resume() {
	for _, id := range namesIn(filepath.Join(k.archive.dir, reversalsDir)) {
		var t reversal
		set, err := k.archive.set(id)
		if err == nil {
			err = read(k.archive.file(reversalsDir, id), &t)
		}
		if err == nil {
			for _, path := range foldersOf(set) {
				err = errors.Join(err, k.resumeFolder(path, set, t.Back))
			}
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errNoFolder) {
			k.o.Log.Warn("an undo that was cut off cannot be settled", "err", err)
			continue // the next program tries again
		}
		_ = k.archive.endReversal(id) // likewise
	}
}

func (k *Keeper) resumeFolder(path string, set Set, back bool) error {
	if err := k.settle(path, set, back); err != nil {
		return err
	}
	f := k.archive.folder(path)
	now, cut, err := k.archive.objects.look(path, f.entries, k.o.Now())
	if err != nil {
		return err
	}
	entries := maps.Clone(f.entries)
	for _, c := range f.compare(now, cut) {
		own := func(o Change) bool {
			return o.Folder == c.Folder && o.Name == c.Name && (c.After.equal(o.Before) || c.After.equal(o.After))
		}
		switch {
		case !slices.ContainsFunc(set.Changes, own): // the next look has it
		case c.After == nil:
			delete(entries, c.Name)
		default:
			entries[c.Name] = *c.After
		}
	}
	return k.seen(f, entries, f.Cut)
}

// settle removes what an undo that was cut off left in a folder: files that were still being
// written, and those that were written over in part, which it makes whole.
func (k *Keeper) settle(path string, set Set, back bool) error {
	at, only, err := opened(path)
	if err != nil {
		return err
	}
	defer at.Close() //nolint:errcheck // nothing is buffered
	if only != "" {
		at.Sweep()
	}
	for _, c := range set.Changes {
		from, want := c.After, c.Before
		if !back {
			from, want = want, from
		}
		name := cmp.Or(only, c.Name)
		if c.Folder != path || c.Unseen || !isKept(from) || !isKept(want) || !k.archive.objects.torn(at, name, from, want) {
			continue
		}
		failed := k.archive.objects.overwriteWith(at, name, want)
		if failed != nil {
			failed = errors.Join(failed, k.archive.objects.overwriteWith(at, name, from))
		}
		err = errors.Join(err, failed)
	}
	return err
}

func isKept(s *State) bool { return s != nil && s.Kind == "file" && s.Text != "" }

// torn reports whether a file is what safefs.Folder.Overwrite leaves where it is cut off as it
// writes one version over another: each byte is that of one or the other, and not all of one. A
// byte that only the new one has may not have reached the disk. No person writes such a file.
func (o objects) torn(at *safefs.Folder, name string, from, want *State) bool {
	info, err := at.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() < min(from.Size, want.Size) ||
		info.Size() > max(from.Size, want.Size) {
		return false
	}
	var read [3]*bufio.Reader
	for i, open := range []func() (*os.File, error){
		func() (*os.File, error) { return at.OpenFile(name) },
		func() (*os.File, error) { return o.open(from.Text) },
		func() (*os.File, error) { return o.open(want.Text) },
	} {
		file, err := open()
		if err != nil {
			return false
		}
		defer file.Close() //nolint:errcheck // read only
		read[i] = bufio.NewReaderSize(file, 1<<16)
	}
	isFrom, isWant := info.Size() == from.Size, info.Size() == want.Size
	for n := int64(0); ; n++ {
		is, err := read[0].ReadByte()
		if err != nil {
			return errors.Is(err, io.EOF) && n == info.Size() && !isFrom && !isWant
		}
		was, noFrom := read[1].ReadByte()
		will, noWant := read[2].ReadByte()
		sameFrom, sameWant := noFrom == nil && is == was, noWant == nil && is == will
		if !sameFrom && !sameWant && (noFrom == nil || is != 0) {
			return false
		}
		isFrom, isWant = isFrom && sameFrom, isWant && sameWant
	}
}
