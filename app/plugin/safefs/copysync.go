package safefs

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"conclave/app/base/limit"
)

// ErrTooLarge is returned by SyncCopy for a folder that holds more than it copies.
var ErrTooLarge = errors.New("it has too many files to be copied")

// copied describes what a file was like when it was copied.
type copied struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"modified_ns"`
	Digest   string `json:"digest"` // of its text: a copy of the folder has other times

	from *os.Root // where it lies now
}

// CopyRecord returns the path of the file that records what SyncCopy copied into a
// storage folder. It is next to the storage, where no plugin writes.
func CopyRecord(storage string) string { return storage + ".desk.json" }

// CopySource is a folder whose files belong into the copy.
type CopySource struct {
	Folder string
	Takes  func(name string) bool // which of them, by their names with slashes; nil takes all
}

// SyncCopy updates the copy of a plugin's files at name in the folder storage. Of a
// name that is in two sources the first counts.
//
// A plugin takes this copy for its own folder: real plugins write next to their code,
// and may not change the person's files. The plugin's code is loaded from elsewhere;
// the copy holds data. A file that the plugin changed stays until the person changes
// theirs, and one that only the plugin has stays for good.
//
// The error is ErrTooLarge, or wraps ErrLink when there is a link in place of a folder
// of the copy.
func SyncCopy(storage, name string, from ...CopySource) error {
	l := copying{name: name, before: map[string]copied{}, now: map[string]copied{}}
	for _, f := range from {
		source, err := os.OpenRoot(f.Folder)
		if err != nil {
			return err
		}
		defer source.Close() //nolint:errcheck // read only
		if err := l.find(source, f.Takes); err != nil {
			return err
		}
	}
	var err error
	if l.storage, err = OpenOrMake(storage); err != nil {
		return err
	}
	defer l.storage.Close() //nolint:errcheck // nothing is buffered
	if _, err := l.storage.Stat(name); err == nil {
		l.before = readRecord(storage)
	}
	if err := l.storage.MakeFolder(name); err != nil {
		return err
	}
	if err := l.copy(); err != nil {
		return err
	}
	if err := l.clear(); err != nil || !l.changed {
		return err
	}
	return writeRecord(storage, l.now)
}

// copying is one SyncCopy that runs.
type copying struct {
	storage     *Folder
	name        string // of the copy, below the storage
	before, now map[string]copied
	size        int64 // of what belongs into it
	changed     bool  // the record is not what it was
}

// copy copies what is new, or other than it was. Without a record, what lies there
// is the plugin's and stays.
func (l *copying) copy() error {
	for name, is := range l.now {
		was, known := l.before[name]
		if known && was.Size == is.Size && was.Modified == is.Modified {
			is.Digest = was.Digest
			l.now[name] = is
			continue
		}
		l.changed = true
		file, err := is.from.Open(name)
		if err != nil {
			return err
		}
		is.Digest, err = digest(file)
		l.now[name] = is
		if err == nil && l.wants(name, is) {
			if _, err = file.Seek(0, io.SeekStart); err == nil {
				err = l.storage.WriteFrom(filepath.Join(l.name, name), io.LimitReader(file, limit.WritableCopy))
			}
		}
		if err = errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	return nil
}

// wants reports whether a file is to be copied.
func (l *copying) wants(name string, is copied) bool {
	if was, known := l.before[name]; known || len(l.before) > 0 {
		return !known || was.Digest != is.Digest
	}
	info, err := l.storage.Lstat(filepath.Join(l.name, name))
	return err != nil || !info.Mode().IsRegular()
}

// clear deletes what the person deleted.
func (l *copying) clear() error {
	for name := range l.before {
		if _, is := l.now[name]; is {
			continue
		}
		l.changed = true
		if err := l.storage.Remove(filepath.Join(l.name, name)); err != nil {
			return err
		}
	}
	return nil
}

func digest(from io.Reader) (string, error) {
	sum := sha256.New()
	_, err := io.Copy(sum, io.LimitReader(from, limit.WritableCopy))
	return hex.EncodeToString(sum.Sum(nil)), err
}

// readRecord returns what was copied, nothing without a record that can be read.
func readRecord(storage string) map[string]copied {
	found := map[string]copied{}
	if text, err := os.ReadFile(CopyRecord(storage)); err == nil {
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
	path := CopyRecord(storage)
	beside, err := Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer beside.Close() //nolint:errcheck // nothing is buffered
	return beside.Write(filepath.Base(path), text)
}

// find adds the files of a folder that belong into the copy.
func (l *copying) find(source *os.Root, takes func(string) bool) error {
	return fs.WalkDir(source.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		name := filepath.FromSlash(path)
		_, known := l.now[name]
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != "." && isUnneeded(entry.Name()) {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular(), known, takes != nil && !takes(path):
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		l.now[name] = copied{Size: info.Size(), Modified: info.ModTime().UnixNano(), from: source}
		if l.size += info.Size(); l.size > limit.WritableCopy || len(l.now) > limit.WritableCopyFiles {
			return ErrTooLarge
		}
		return nil
	})
}

// isUnneeded reports whether a running plugin does not need the folder.
func isUnneeded(name string) bool {
	return name[0] == '.' || name == "__pycache__" || name == "node_modules" || name == "venv"
}
