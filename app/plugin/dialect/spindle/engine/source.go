package engine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"conclave/app/base/limit"
	"conclave/app/plugin/dialect/spindle/job"
)

// source is where a plugin's files are read from; names are relative, with
// slashes. Errors are fs.ErrNotExist, errTooBig, or what the system said.
type source interface {
	Read(name string) ([]byte, error)
	Exists(name string) bool
}

var errTooBig = errors.New("is larger than " + limit.Size(limit.ScriptFile))

// openSource returns the source cfg describes. It must be called after the
// process was confined, so that it cannot reach more than the sandbox allows.
func openSource(cfg job.Config) (source, error) {
	switch {
	case cfg.Sources != nil:
		return memory(cfg.Sources), nil
	case cfg.Single:
		return single{folder: cfg.Folder, name: cfg.Entry}, nil
	default:
		root, err := os.OpenRoot(cfg.Folder)
		if err != nil {
			return nil, fmt.Errorf("open the plugin's folder: %w", err)
		}
		return folder{root}, nil
	}
}

// folder reads below one folder and nowhere else: os.Root follows no link out of
// it.
type folder struct{ root *os.Root }

func (f folder) Read(name string) ([]byte, error) {
	file, err := f.root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return readAll(file)
}

func (f folder) Exists(name string) bool {
	info, err := f.root.Stat(filepath.FromSlash(name))
	return err == nil && info.Mode().IsRegular()
}

// single reads one file; its neighbours are other plugins.
type single struct{ folder, name string }

func (s single) Read(name string) ([]byte, error) {
	if name != s.name {
		return nil, fs.ErrNotExist
	}
	file, err := os.Open(filepath.Join(s.folder, s.name))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // only read
	return readAll(file)
}

func (s single) Exists(name string) bool { return name == s.name }

// memory is source that came with the configuration.
type memory map[string]string

func (m memory) Read(name string) ([]byte, error) {
	text, ok := m[name]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return []byte(text), nil
}

func (m memory) Exists(name string) bool { _, ok := m[name]; return ok }

func readAll(file *os.File) ([]byte, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("is not a file")
	}
	text, err := io.ReadAll(io.LimitReader(file, limit.ScriptFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > limit.ScriptFile {
		return nil, errTooBig
	}
	return text, nil
}

// inside cleans a relative path and reports whether it stays inside the folder.
func inside(name string) (string, bool) {
	name = path.Clean(name)
	return name, filepath.IsLocal(filepath.FromSlash(name)) && name != "."
}
