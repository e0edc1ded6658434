package undo

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

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
func (k *Keeper) sweepParts() {
	for _, dir := range []string{k.useDir(), k.setDir(), k.entriesDir(), k.turningDir(), k.objects.dir} {
		entries, _ := os.ReadDir(dir)
		for _, e := range entries {
			if strings.HasPrefix(e.Name(), partName) {
				_ = os.Remove(filepath.Join(dir, e.Name())) // tried again by the next program
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
func (k *Keeper) set(id string) (Set, error) {
	var s Set
	if !filepath.IsLocal(id) || filepath.Base(id) != id {
		return s, fs.ErrNotExist
	}
	err := read(filepath.Join(k.setDir(), id+ending), &s)
	return s, err
}

func (k *Keeper) saveSet(s Set) error { return write(filepath.Join(k.setDir(), s.ID+ending), s) }

func (k *Keeper) removeSet(id string) error {
	err := os.Remove(filepath.Join(k.setDir(), id+ending))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// folder returns what is known of a folder.
func (k *Keeper) folder(path string) *folder {
	if f := k.folders[path]; f != nil {
		return f
	}
	f := &folder{path: path}
	err := read(k.useFile(path), &f.use)
	if e := read(k.entriesFile(path), &f.entries); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = e
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		k.o.Log.Warn("what was known of a folder is damaged and is made anew", "err", err)
		f = &folder{path: path}
	}
	f.Path = path
	k.folders[path] = f
	return f
}

// digestOf names a folder in a file name.
func digestOf(path string) string {
	sum := sha256.Sum256([]byte(path))
	return hex.EncodeToString(sum[:16])
}

func (k *Keeper) useFile(path string) string { return filepath.Join(k.useDir(), digestOf(path)+ending) }

func (k *Keeper) entriesFile(path string) string {
	return filepath.Join(k.entriesDir(), digestOf(path)+ending)
}

func (k *Keeper) entriesDir() string { return filepath.Join(k.o.Dir, "folders") }

func (k *Keeper) saveUse(f *folder) error { return write(k.useFile(f.path), f.use) }

func (k *Keeper) saveEntries(f *folder) error { return write(k.entriesFile(f.path), f.entries) }

func (k *Keeper) dropFolder(f *folder) error {
	delete(k.folders, f.path)
	var failed error
	for _, name := range []string{k.entriesFile(f.path), k.useFile(f.path)} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			failed = err
		}
	}
	return failed
}

// everyFolder returns what is known of all folders.
func (k *Keeper) everyFolder() []*folder {
	var all []*folder
	for _, name := range namesIn(k.useDir()) {
		var at use
		if read(filepath.Join(k.useDir(), name+ending), &at) == nil && at.Path != "" {
			all = append(all, k.folder(at.Path))
		}
	}
	return all
}

// pruning is how often what is too old or too much is removed.
const pruning = time.Hour

func (k *Keeper) pruneSometimes() {
	if k.o.Now().Sub(k.pruned) >= pruning {
		k.prune()
	}
}

// prune removes what is older than 30 days, the oldest of what is too much, and copies that
// nothing speaks of.
func (k *Keeper) prune() {
	k.pruned = k.o.Now()
	for _, f := range k.everyFolder() {
		if len(f.watches) == 0 && len(f.Calls) == 0 && k.o.Now().Sub(f.Used) > Kept {
			_ = k.dropFolder(f) // tried again in an hour
		}
	}
	sets := k.sets()
	for n := len(sets); n > 0 && k.o.Now().Sub(sets[n-1].Time) > Kept; n-- {
		_ = k.removeSet(sets[n-1].ID)
		sets = sets[:n-1]
	}
	for k.sweep(sets) > k.most && len(sets) > 0 {
		dropped := (len(sets) + 9) / 10
		for _, s := range sets[len(sets)-dropped:] {
			_ = k.removeSet(s.ID)
		}
		sets = sets[:len(sets)-dropped]
	}
}

// sweep removes the copies that neither the sets nor a folder's last look speak of, and returns
// the bytes of those that are left.
func (k *Keeper) sweep(sets []Set) (left int64) {
	used := map[string]bool{}
	for _, s := range sets {
		for _, c := range s.Changes {
			for _, state := range []*State{c.Before, c.After} {
				if state != nil {
					used[state.Text] = true
				}
			}
		}
	}
	for _, f := range k.everyFolder() {
		for _, s := range f.entries {
			used[s.Text] = true
		}
	}
	k.objects.each(func(hash string, size int64) {
		if used[hash] {
			left += size
			return
		}
		if err := os.Remove(k.objects.path(hash)); err != nil {
			k.o.Log.Warn("an old version cannot be removed", "err", fmt.Sprint(err))
		}
	})
	return left
}
