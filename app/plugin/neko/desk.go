package neko

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// The desk is a copy of a plugin's files inside its storage, where the plugin
// believes it lies: real plugins write beside their code, and the person's files
// are not theirs to change. Its code is still read from the person's folder; what
// the desk holds is data. A file that the plugin changed stays as it is until the
// person's changes, and one that only the plugin knows stays for good (contract
// neko, 5).

// maxDesk and maxDeskFiles bound the copy. A plugin with more gets its own folder
// as its place, to read.
const (
	maxDesk      = 128 << 20
	maxDeskFiles = 5000
)

// stamp is what a file was like when it was copied.
type stamp struct {
	Size     int64 `json:"size"`
	Modified int64 `json:"modified_ns"`
}

// deskRecord is the file that remembers what was copied. It lies outside the
// desk.
const deskRecord = "desk.json"

var errTooLarge = errors.New("it has too many files to be copied")

// layDesk brings the desk at dir in line with the plugin's folder.
func layDesk(from, storage, dir string) error {
	before := map[string]stamp{}
	if text, err := os.ReadFile(filepath.Join(storage, deskRecord)); err == nil {
		_ = json.Unmarshal(text, &before) // a broken record copies everything anew
	}
	now, err := stamps(from)
	if err != nil {
		return err
	}
	// os.Root keeps writing inside, whatever links the plugin left there.
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	desk, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer desk.Close() //nolint:errcheck // nothing is buffered
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // read only
	changed := false
	for name, is := range now {
		if was, ok := before[name]; ok && was == is {
			continue
		}
		changed = true
		if err := copyFile(source, desk, name); err != nil {
			return err
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			changed = true
			if err := desk.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	if !changed {
		return nil
	}
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(storage, deskRecord), text, 0o600)
}

// stamps returns the files below dir that belong on the desk.
func stamps(dir string) (map[string]stamp, error) {
	found := map[string]stamp{}
	var size int64
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir():
			if path != dir && unneeded(e.Name()) || path == filepath.Join(dir, "vendor") {
				return fs.SkipDir
			}
			return nil
		case !e.Type().IsRegular():
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		found[name] = stamp{info.Size(), info.ModTime().UnixNano()}
		if size += info.Size(); size > maxDesk || len(found) > maxDeskFiles {
			return errTooLarge
		}
		return nil
	})
	return found, err
}

// unneeded reports whether a folder is no part of a plugin at work.
func unneeded(name string) bool {
	return name[0] == '.' || name == "__pycache__" || name == "node_modules" || name == "venv"
}

func copyFile(from, to *os.Root, name string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	if err := to.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	_ = to.Remove(name) // a link, or a folder, that the plugin put there
	out, err := to.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
