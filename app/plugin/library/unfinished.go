package library

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
)

// stagingPrefix begins the names of folders in the data folder where a plugin is
// put together before it is moved into the plugins folder.
const stagingPrefix = "adding-"

// replacingName is a file in such a folder: it says what Update is about to move,
// so that the next start can take back an Update that was cut off.
const replacingName = ".replacing.json"

// replacing holds what replacingName holds.
type replacing struct {
	Old  string `json:"old"`  // where the plugin lies before the update
	New  string `json:"new"`  // where the update puts it
	Kept string `json:"kept"` // where the old files are kept
}

// staging makes a folder for a plugin that is about to be added.
func (l *Library) staging() (string, error) {
	dir, err := os.MkdirTemp(l.o.Data, stagingPrefix)
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "There is no place to put the plugin together.",
			"Check the space on the disk of "+l.o.Data+".", err)
	}
	return dir, nil
}

// note writes r into the staging folder dir, durably.
func (r replacing) note(dir string) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(dir, replacingName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(raw)
	return errors.Join(err, f.Sync(), f.Close())
}

// clearStaging takes back updates that were cut off, and removes what an ended
// program was putting together. It runs before this library stages anything, and the
// data folder belongs to one library.
func (l *Library) clearStaging() {
	entries, err := os.ReadDir(l.o.Data)
	if err != nil {
		return // there is no data folder yet
	}
	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), stagingPrefix) {
			continue
		}
		dir := filepath.Join(l.o.Data, e.Name())
		if err := l.takeBack(dir); err != nil {
			l.o.Log.Error("a plugin whose update was cut off could not be brought back", "folder", dir, "err", err)
			continue // the next start tries again
		}
		if err := os.RemoveAll(dir); err != nil {
			l.o.Log.Warn("what was left of adding a plugin could not be removed", "folder", dir, "err", err)
		}
	}
}

// takeBack brings the old plugin back when an update was cut off after that one
// was moved away and before the new one was in its place.
func (l *Library) takeBack(dir string) error {
	raw, err := os.ReadFile(filepath.Join(dir, replacingName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	var r replacing
	if json.Unmarshal(raw, &r) != nil {
		return nil // it was cut off while the note was written, before anything moved
	}
	for _, path := range []string{r.Old, r.New} {
		if _, err := os.Lstat(path); err == nil {
			return nil
		}
	}
	if err := move(r.Kept, r.Old); err != nil {
		return err
	}
	l.o.Log.Warn("an update of a plugin was cut off; its files before the update are back", "path", r.Old)
	return nil
}

// move renames, or copies and deletes where the two are on different disks. The
// last step at either end is a rename, so that nobody sees half of a plugin.
func move(from, to string) error {
	if err := os.Rename(from, to); err == nil || errors.Is(err, os.ErrNotExist) {
		return err
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	hidden := func(path string) string { return filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".moving") }
	if err := os.RemoveAll(hidden(to)); err != nil { // left by a program that was ended
		return err
	}
	if info.IsDir() {
		err = os.CopyFS(hidden(to), os.DirFS(from))
	} else {
		err = safefs.CopyFile(from, hidden(to), plugin.MaxBytes)
	}
	if err == nil {
		err = os.Rename(hidden(to), to)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(hidden(to)))
	}
	if err := os.Rename(from, hidden(from)); err != nil {
		return err
	}
	return os.RemoveAll(hidden(from))
}
