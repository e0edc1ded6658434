package place

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/app/base/fault"
)

// WriteNew writes a new file at path, which the person called name. It writes a temporary file in
// the same folder and renames it when it is complete. An existing file is an error of kind conflict. Temporary files of
// programs that were killed are removed.
func WriteNew(op, path, name string, write func(*os.File) error) (size int64, err error) {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return 0, fault.Wrap(fault.Conflict, op, "There is a file "+name+" already.", "Choose another name.", err)
	}
	return Write(op, path, name, write)
}

// Write does the same as WriteNew, in place of a file that exists, too.
func Write(op, path, name string, write func(*os.File) error) (size int64, err error) {
	Sweep(filepath.Dir(path))
	// It must be new, or a link of that name would be followed.
	f, err := os.OpenFile(Part(path), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return 0, fault.Wrap(fault.Unavailable, op, "The file "+name+" cannot be written.",
			"Check its folder, or choose another.", err)
	}
	temp := f.Name()
	defer os.Remove(temp) //nolint:errcheck // it is gone after the rename
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if info, statErr := f.Stat(); statErr == nil {
		size = info.Size()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(temp, path)
	}
	if f, ok := errors.AsType[*fault.Error](err); ok && f.Kind == fault.Damaged {
		return 0, err
	}
	if err != nil {
		return 0, fault.Wrap(fault.Unavailable, op, "The file "+name+" was not finished: "+
			strings.Join(strings.Fields(err.Error()), " ")+".",
			"Check the space on its disk.", err)
	}
	return size, nil
}

// Save writes a small file that only the person may read, with its folder, in place of the one before. It never leaves
// half of one.
func Save(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	part := Part(path)
	if err := os.WriteFile(part, data, 0o600); err != nil {
		return err
	}
	return os.Rename(part, path)
}
