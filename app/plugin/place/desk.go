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

	"conclave/app/limit"
)

// ErrTooLarge ends LayDesk for a folder with more in it than is
// copied.
var ErrTooLarge = errors.New("it has too many files to be copied")

// copied says what a file was like when it was copied.
type copied struct {
	Size     int64  `json:"size"`
	Modified int64  `json:"modified_ns"`
	Digest   string `json:"digest"` // of its text: a copy of the folder has other times

	from *os.Root // where it lies now
}

// DeskRecord returns the file that remembers what was copied to the desk in a
// storage folder. It lies beside the storage, where no plugin writes.
func DeskRecord(storage string) string { return storage + ".desk.json" }

// From is a folder whose files belong on a desk.
type From struct {
	Folder string
	Takes  func(name string) bool // which of them, by their names with slashes; nil takes all
}

// LayDesk brings the desk at name in the folder storage in line with a plugin's
// files. Of a name that is in two folders the first counts.
//
// A desk is a copy of a plugin's files inside its storage, where the plugin
// believes it lies: real plugins write beside their code, and the person's files
// are not theirs to change. Its code is still read from elsewhere; what the desk
// holds is data. A file that the plugin changed stays as it is until the person's
// changes, and one that only the plugin knows stays for good.
//
// The error is ErrTooLarge, or wraps ErrLink when a link lies where a folder of
// the desk belongs.
func LayDesk(storage, name string, from ...From) error {
	l := laying{name: name, before: map[string]copied{}, now: map[string]copied{}}
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
	if l.desk, err = Make(storage); err != nil {
		return err
	}
	defer l.desk.Close() //nolint:errcheck // nothing is buffered
	if _, err := l.desk.Stat(name); err == nil {
		l.before = readRecord(storage)
	}
	if err := l.desk.MakeFolder(name); err != nil {
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

// laying is one LayDesk under way.
type laying struct {
	desk        *Folder
	name        string // of the desk, below its storage
	before, now map[string]copied
	size        int64 // of what belongs on it
	changed     bool  // the record is not what it was
}

// copy copies what is new, or other than it was. Without a record, what lies there
// is the plugin's and stays.
func (l *laying) copy() error {
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

// find adds the files of a folder that belong on the desk.
func (l *laying) find(source *os.Root, takes func(string) bool) error {
	return fs.WalkDir(source.FS(), ".", func(path string, entry fs.DirEntry, err error) error {
		name := filepath.FromSlash(path)
		_, known := l.now[name]
		switch {
		case err != nil:
			return err
		case entry.IsDir():
			if path != "." && unneeded(entry.Name()) {
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
		if l.size += info.Size(); l.size > limit.Desk.Value || len(l.now) > limit.DeskFiles.Int() {
			return ErrTooLarge
		}
		return nil
	})
}

// unneeded reports whether a folder is no part of a plugin at work.
func unneeded(name string) bool {
	return name[0] == '.' || name == "__pycache__" || name == "node_modules" || name == "venv"
}
