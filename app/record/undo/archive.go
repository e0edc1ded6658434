package undo

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// archive is the folder of the keeper: sets of changes, what is known of folders, and
// copies.
type archive struct {
	dir string
	now func() time.Time
	log *slog.Logger

	folders map[string]*folder // by path, those used since the program started
	objects objects
	most    int64 // bytes of old versions in all
	pruned  time.Time
}

// The folders of an archive.
const (
	usesDir      = "use"     // who uses a folder, by the digest of its path
	entriesDir   = "folders" // what a folder holds, likewise
	setsDir      = "sets"
	reversalsDir = "turning"
	objectsDir   = "objects" // copies, see objects
)

// file returns the path of what is kept as JSON under a name.
func (a *archive) file(in, name string) string { return filepath.Join(a.dir, in, name+ending) }

// removed is the error of removing a file of ours: none where it was gone already.
func removed(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ending ends the names of what is kept as JSON.
const ending = ".json"

// namesIn returns the names in a folder of ours, without their ending.
func namesIn(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil // nothing is kept yet
	}
	var names []string
	for _, e := range entries {
		if e.IsDir() || strings.HasSuffix(e.Name(), ending) {
			names = append(names, strings.TrimSuffix(e.Name(), ending))
		}
	}
	return names
}

// partName begins the names of files of ours that are not whole.
const partName = "part-"

// sweepParts removes files of ours that a program was writing when it was ended: no other writes there.
func (a *archive) sweepParts() {
	for _, in := range []string{usesDir, setsDir, entriesDir, reversalsDir, objectsDir} {
		files, _ := os.ReadDir(filepath.Join(a.dir, in))
		for _, file := range files {
			if strings.HasPrefix(file.Name(), partName) {
				_ = os.Remove(filepath.Join(a.dir, in, file.Name())) // tried again by the next program
			}
		}
	}
}

// write puts value into a file of ours, whole or not at all.
func write(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	temp, err := os.CreateTemp(filepath.Dir(path), partName)
	if err != nil {
		return err
	}
	_, err = temp.Write(text)
	if err = errors.Join(err, temp.Sync(), temp.Close()); err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // left behind at worst
	}
	return err
}

func read(path string, value any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, value)
}

// set returns what is kept under a name. The error wraps fs.ErrNotExist where there is nothing.
func (a *archive) set(id string) (Set, error) {
	var s Set
	if !filepath.IsLocal(id) || filepath.Base(id) != id {
		return s, fs.ErrNotExist
	}
	err := read(a.file(setsDir, id), &s)
	return s, err
}

func (a *archive) saveSet(s Set) error { return write(a.file(setsDir, s.ID), s) }

func (a *archive) removeSet(id string) error { return removed(os.Remove(a.file(setsDir, id))) }

// folder returns what is known of a folder.
func (a *archive) folder(path string) *folder {
	if f := a.folders[path]; f != nil {
		return f
	}
	f := &folder{path: path}
	err := read(a.file(usesDir, digestOf(path)), &f.use)
	if e := read(a.file(entriesDir, digestOf(path)), &f.entries); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = e
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		a.log.Warn("what was known of a folder is damaged and is made again", "err", err)
		f = &folder{path: path}
	}
	f.Path = path
	a.folders[path] = f
	return f
}

// digestOf names a folder in a file name.
func digestOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:16])
}

func (a *archive) saveUse(f *folder) error { return write(a.file(usesDir, digestOf(f.path)), f.use) }

func (a *archive) saveEntries(f *folder) error {
	return write(a.file(entriesDir, digestOf(f.path)), f.entries)
}

func (a *archive) dropFolder(f *folder) error {
	delete(a.folders, f.path)
	name := digestOf(f.path)
	return errors.Join(removed(os.Remove(a.file(entriesDir, name))), removed(os.Remove(a.file(usesDir, name))))
}

// everyFolder returns what is known of all folders.
func (a *archive) everyFolder() []*folder {
	var all []*folder
	for _, name := range namesIn(filepath.Join(a.dir, usesDir)) {
		var at use
		if read(a.file(usesDir, name), &at) == nil && at.Path != "" {
			all = append(all, a.folder(at.Path))
		}
	}
	return all
}

// sets returns what is kept, the newest first.
func (a *archive) sets() []Set {
	var all []Set
	for _, id := range namesIn(filepath.Join(a.dir, setsDir)) {
		if set, err := a.set(id); err == nil {
			all = append(all, set)
		}
	}
	slices.SortFunc(all, func(a, b Set) int { return cmp.Or(b.Time.Compare(a.Time), cmp.Compare(b.ID, a.ID)) })
	return all
}
