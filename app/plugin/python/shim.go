package python

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/fault"
)

// shim is the worker program and what it brings for every plugin. Only .py files of
// it are unpacked.
//
//go:embed all:shim
var shim embed.FS

// Ecosystem adds to the worker for one dialect: the modules that its plugins
// import.
type Ecosystem struct {
	Name string // by which Config.Modules puts its modules on the path
	Shim fs.FS  // has them in the folder shim
	// Replaces are packages of an index in whose place the worker brings modules of
	// its own, and the module that says whether it does.
	Replaces map[string]string
	// Manifest is a file of a plugin's folder whose text Requires reads for the
	// packages that the plugin wants; empty without.
	Manifest string
	Requires func(text []byte) []string
}

// Add adds the modules of a dialect, once for each name. A dialect calls it when it is
// made, before it describes a worker.
func (d *Interpreters) Add(e Ecosystem) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if slices.ContainsFunc(d.ecosystems, func(o Ecosystem) bool { return o.Name == e.Name }) {
		return
	}
	d.ecosystems = append(d.ecosystems, e)
	slices.SortFunc(d.ecosystems, func(a, b Ecosystem) int { return strings.Compare(a.Name, b.Name) })
	d.digest = ""
}

// Ecosystems are those that were added, by name.
func (d *Interpreters) Ecosystems() []Ecosystem {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.ecosystems)
}

// probe asks an interpreter once what it is.
//
//go:embed probe.py
var probe string

// boot starts the worker without putting anything else on its path.
const boot = "import sys;sys.path.insert(0,sys.argv[1]);from conclave_worker.main import main;main()"

// sources calls do with each file of the worker, where it is unpacked to.
func (d *Interpreters) sources(do func(to string, text []byte) error) error {
	walk := func(files fs.FS, below string) error {
		return fs.WalkDir(files, "shim", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".py") {
				return err
			}
			text, err := fs.ReadFile(files, name)
			if err != nil {
				return err
			}
			return do(path.Join(below, strings.TrimPrefix(name, "shim/")), text)
		})
	}
	if err := walk(shim, ""); err != nil {
		return err
	}
	for _, e := range d.Ecosystems() {
		if err := walk(e.Shim, e.Name); err != nil {
			return err
		}
	}
	return nil
}

// shimDigest names the worker's files and the questions of the probe.
func (d *Interpreters) shimDigest() (string, error) {
	d.mu.Lock()
	digest := d.digest
	d.mu.Unlock()
	if digest != "" {
		return digest, nil
	}
	sum := sha256.New()
	sum.Write([]byte(probe))
	err := d.sources(func(to string, text []byte) error {
		sum.Write([]byte("\x00" + to + "\x00"))
		sum.Write(text)
		return nil
	})
	digest = hex.EncodeToString(sum.Sum(nil))[:16]
	d.mu.Lock()
	defer d.mu.Unlock()
	d.digest = digest
	return digest, err
}

// unpack makes sure that the worker's files lie below runtime and returns their
// folder. The folder appears whole or not at all, whoever else unpacks it at the
// same moment. The error is a fault of kind unavailable.
func (d *Interpreters) unpack(runtime string) (string, error) {
	digest, err := d.shimDigest()
	final := filepath.Join(runtime, "python-"+digest)
	if _, there := os.Stat(final); err == nil && there == nil {
		return final, nil
	}
	if err == nil {
		err = d.unpackTo(runtime, final)
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, "python.unpack",
			"The Python worker cannot be unpacked into "+runtime+".",
			"Check that the folder may be written and the disk is not full.", err)
	}
	return final, nil
}

func (d *Interpreters) unpackTo(runtime, final string) error {
	if err := os.MkdirAll(runtime, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(runtime, "python-new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is gone after the rename
	whole := filepath.Join(temp, "shim")
	err = d.sources(func(name string, text []byte) error {
		to := filepath.Join(whole, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err != nil {
		return err
	}
	if err := os.Rename(whole, final); err != nil {
		if _, there := os.Stat(final); there == nil {
			return nil // another process was faster, with the same files
		}
		return err
	}
	return nil
}

// searched returns the modules in a folder of an ecosystem that is no package itself
// but is put on an interpreter's path.
func searched(files fs.FS, dir string) (modules []string) {
	if _, err := fs.Stat(files, dir+"/__init__.py"); err == nil {
		return nil
	}
	entries, err := fs.ReadDir(files, dir)
	if err != nil {
		return nil // a file
	}
	for _, entry := range entries {
		modules = append(modules, strings.TrimSuffix(entry.Name(), ".py"))
	}
	return modules
}

// Provided returns the names of the modules that the worker brings along, its own
// and those of the ecosystems, and of the stand-ins for packages that are not
// installed.
func (d *Interpreters) Provided() (modules, standins []string) {
	modules = searched(shim, "shim")
	modules = slices.DeleteFunc(modules, func(name string) bool { return name == "standins" })
	standins = searched(shim, "shim/standins")
	for _, e := range d.Ecosystems() {
		for _, name := range searched(e.Shim, "shim") {
			modules = append(modules, name)
			modules = append(modules, searched(e.Shim, "shim/"+name)...)
		}
	}
	slices.Sort(modules)
	return slices.Compact(modules), standins
}
