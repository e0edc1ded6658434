package safefs

import (
	"io"
	"os"
	"path/filepath"
)

// OpenSource opens a folder with a plugin's files as the person put them there. No
// plugin writes to it, but it may hold links: they are followed inside the folder
// only.
func OpenSource(path string) (*os.Root, error) { return os.OpenRoot(path) }

// ReadSource returns at most limit bytes of the file at name, with slashes, in a
// plugin's folder, and its whole size. The error wraps ErrNotFile for what is no
// regular file.
func ReadSource(folder, name string, limit int64) (data []byte, size int64, err error) {
	root, err := OpenSource(folder)
	if err != nil {
		return nil, 0, err
	}
	defer root.Close() //nolint:errcheck // read only
	return readFile(root, filepath.FromSlash(name), limit)
}

// ReadWritable is ReadSource in a folder that a plugin can write to, see Open.
func ReadWritable(folder, name string, limit int64) (data []byte, size int64, err error) {
	f, err := Open(folder)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close() //nolint:errcheck // read only
	return f.Read(filepath.FromSlash(name), limit)
}

// Read is ReadSource in an open folder.
func Read(root *os.Root, name string, limit int64) (data []byte, size int64, err error) {
	return readFile(root, filepath.FromSlash(name), limit)
}

// readFile reads a regular file. What is none, such as a pipe, is not waited for.
func readFile(root *os.Root, name string, limit int64) (data []byte, size int64, err error) {
	file, err := openFile(root, name)
	if err != nil {
		return nil, 0, err
	}
	defer file.Close() //nolint:errcheck // read only
	info, err := file.Stat()
	if err != nil {
		return nil, 0, err
	}
	data, err = io.ReadAll(io.LimitReader(file, limit))
	return data, max(info.Size(), int64(len(data))), err
}
