package place

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"conclave/app/limit"
)

// ErrTooLarge is what LayDesk ends with for a folder with more in it than is
// copied.
var ErrTooLarge = errors.New("it has too many files to be copied")

// copied is what a file was like when it was copied.
type copied struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"modified_ns"`
	Digest   string `json:"digest"` // of its text: a copy of the folder has other times
}

// DeskRecord returns the file that remembers what was copied to the desk in a
// storage folder. It lies beside the storage, where no plugin writes.
func DeskRecord(storage string) string { return storage + ".desk.json" }

// LayDesk brings the desk at name in the folder storage in line with the plugin's
// files in the folder from, but for those in folders that skip names.
//
// A desk is a copy of a plugin's files inside its storage, where the plugin
// believes it lies: real plugins write beside their code, and the person's files
// are not theirs to change. Its code is still read from the person's folder; what
// the desk holds is data. A file that the plugin changed stays as it is until the
// person's changes, and one that only the plugin knows stays for good.
//
// The error is ErrTooLarge, or wraps ErrLink when a link lies where a folder of
// the desk belongs.
func LayDesk(from, storage, name string, skip ...string) error {
	source, err := os.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close() //nolint:errcheck // read only
	now, err := files(source, skip)
	if err != nil {
		return err
	}
	desk, err := Make(storage)
	if err != nil {
		return err
	}
	defer desk.Close() //nolint:errcheck // nothing is buffered
	before := map[string]copied{}
	if _, err := desk.Stat(name); err == nil {
		before = readRecord(storage)
	}
	if err := desk.MakeFolder(name); err != nil {
		return err
	}
	l := laying{source: source, desk: desk, name: name, before: before, now: now}
	if err := l.copy(); err != nil {
		return err
	}
	if err := l.clear(); err != nil || !l.changed {
		return err
	}
	return writeRecord(storage, now)
}

// laying is one LayDesk under way.
type laying struct {
	source      *os.Root
	desk        *Folder
	name        string // of the desk, below its storage
	before, now map[string]copied
	changed     bool // the record is not what it was
}

// copy copies what is new, or other than it was. Without a record, what lies there
// is the plugin's and stays.
func (l *laying) copy() error {
	for name, is := range l.now {
		was, known := l.before[name]
		if known && was.Size == is.Size && was.Modified == is.Modified {
			l.now[name] = was
			continue
		}
		l.changed = true
		file, err := l.source.Open(name)
		if err != nil {
			return err
		}
		is.Digest, err = digest(file)
		l.now[name] = is
		if err == nil && l.wants(name, is) {
			if _, err = file.Seek(0, io.SeekStart); err == nil {
				err = l.desk.WriteFrom(filepath.Join(l.name, name), io.LimitReader(file, limit.Desk.Value))
			}
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether a file is to be copied.
func (l *laying) wants(name string, is copied) bool {
	if was, known := l.before[name]; known || len(l.before) > 0 {
		return !known || was.Digest != is.Digest
	}
	info, err := l.desk.Lstat(filepath.Join(l.name, name))
	return err != nil || !info.Mode().IsRegular()
}

// clear deletes what the person deleted.
func (l *laying) clear() error {
	for name := range l.before {
		if _, is := l.now[name]; is {
			continue
		}
		l.changed = true
		if err := l.desk.Remove(filepath.Join(l.name, name)); err != nil {
			return err
		}
	}
	return nil
}

func digest(from io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, io.LimitReader(from, limit.Desk.Value))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// readRecord returns what was copied, nothing without a record that can be read.
func readRecord(storage string) map[string]copied {
	found := map[string]copied{}
	if text, err := os.ReadFile(DeskRecord(storage)); err == nil {
		_ = json.Unmarshal(text, &found) // a broken record is none
	}
	return found
}

// writeRecord keeps what was copied.
func writeRecord(storage string, now map[string]copied) error {
	text, err := json.Marshal(now)
	if err != nil {
		return err
	}
	path := DeskRecord(storage)
	beside, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer beside.Close() //nolint:errcheck // nothing is buffered
	return beside.Write(filepath.Base(path), text)
}

// files returns the files of a plugin that belong on its desk.
func files(source *os.Root, skip []string) (map[string]copied, error) {
	found := map[string]copied{}
	var size int64
	err := fs.WalkDir(source.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != "." && (unneeded(entry.Name()) || slices.Contains(skip, path)) {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		found[filepath.FromSlash(path)] = copied{Size: info.Size(), Modified: info.ModTime().UnixNano()}
		if size += info.Size(); size > limit.Desk.Value || len(found) > limit.DeskFiles.Int() {
			return ErrTooLarge
		}
		return nil
	})
	return found, err
}

// unneeded reports whether a folder is no part of a plugin at work.
func unneeded(name string) bool {
	return name[0] == '.' || name == "__pycache__" || name == "node_modules" || name == "venv"
}
