package host

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
)

// Folder is the plugins folder, and whether it could be read. It is safe for concurrent use.
type Folder struct {
	Dir string

	endings   []string
	dialects  Dialects
	expected  func() bool                   // or nil
	incumbent func(id string) (base string) // which name last served under an id; empty for none

	mu     sync.Mutex   // guards the fields below
	failed *fault.Error // why it cannot be read, or nil
	read   bool         // it was read once
}

// sources reads the folder. news reports that the error is another than last time.
func (f *Folder) sources() (all []plugin.Source, news bool, err error) {
	all, err = sourcesOf(f.Dir, f.endings, f.dialects, f.incumbent)
	if err == nil && len(all) == 0 {
		err = f.Away()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	was := f.failed
	if err == nil {
		f.failed, f.read = nil, true
		return all, false, nil
	}
	f.failed = fault.Of(err)
	return nil, was == nil || was.Message != f.failed.Message, err
}

// Problem returns why the folder cannot be read, or nil.
func (f *Folder) Problem() *fault.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.failed
}

// Unread returns why the folder could not be read since the program began; nil where it was read once,
// and its plugins serve as they were.
func (f *Folder) Unread() *fault.Error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.read {
		return nil
	}
	return f.failed
}

// Away returns why a plugins folder that is not there should be: a fault of kind unavailable. It is nil
// where the folder is there, or held no plugins.
func (f *Folder) Away() error {
	if _, err := os.Stat(f.Dir); !errors.Is(err, fs.ErrNotExist) || f.expected == nil || !f.expected() {
		return nil
	}
	return fault.New(fault.Unavailable, "plugin.sources", "The plugins folder "+f.Dir+" is not there.",
		"Bring it back, for example by mounting its disk, name the right one with --plugins, or make an empty one.")
}

// Sources lists what may be plugins in the folder dir, by id: files of the given
// endings and folders, without hidden ones and without links that lead out of dir. A folder
// that is missing is empty. The error is a fault of kind unavailable.
func Sources(dir string, endings []string) ([]plugin.Source, error) {
	return sourcesOf(dir, endings, nil, nil)
}

// sourcesOf is Sources, with the entries of files and folders that are several plugins to one of the
// dialects. Where the names of several make one id, incumbent says which name the plugin has that served
// under it, if any.
func sourcesOf(dir string, endings []string, dialects Dialects,
	incumbent func(id string) (base string),
) ([]plugin.Source, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, "plugin.sources",
			"The plugins folder "+dir+" cannot be read.", "Check that it is a folder that you may read.", err)
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return !couldBePlugin(entry, endings) })
	if len(entries) > limit.PluginEntries {
		return nil, fault.New(fault.Invalid, "plugin.sources",
			strings.ReplaceAll("The plugins folder FOLDER holds more than 1,000 files and folders that could be "+
				"plugins.", "FOLDER", dir),
			"Move what is no plugin out of it, or choose a folder that holds plugins only. Until then Conclave reads nothing "+
				"of it.")
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, "plugin.sources", "The plugins folder "+dir+" cannot be read.", "", err)
	}
	var sources []plugin.Source
	for _, entry := range entries { // ReadDir sorts, so ids are the same from run to run
		name := entry.Name()
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || (entry.Type()&fs.ModeSymlink != 0 && safefs.LeadsOut(root, path)) {
			continue
		}
		src := plugin.Source{ID: plugin.IDOf(name, info.IsDir()), Path: path, Display: path, Folder: info.IsDir()}
		if !src.Folder && (!info.Mode().IsRegular() || !hasEnding(name, endings)) {
			continue
		}
		if entries, ok := dialects.split(src); ok {
			sources = append(sources, entries...)
			continue
		}
		sources = append(sources, src)
	}
	return distinct(sources, incumbent), nil
}

// distinct gives sources whose names make the same id one each. The plugin that has
// served under the id keeps it, and with it what the person allowed; else the first.
func distinct(sources []plugin.Source, incumbent func(id string) (base string)) []plugin.Source {
	count := map[string]int{}
	for _, src := range sources {
		count[src.ID]++
	}
	keeps := map[string]string{}
	for id, n := range count {
		if n > 1 && incumbent != nil {
			keeps[id] = incumbent(id)
		}
	}
	rank := func(src plugin.Source) int { // the others yield to the one that has served
		if base := keeps[src.ID]; base != "" && base != filepath.Base(src.Path) {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(sources, func(a, b plugin.Source) int { return rank(a) - rank(b) })
	var all []plugin.Source
	taken := map[string]bool{}
	for _, src := range sources {
		if taken[src.ID] {
			kind := strings.TrimPrefix(strings.ToLower(filepath.Ext(src.Display)), ".")
			if kind == "" {
				kind = "folder"
			}
			src.ID += "-" + plugin.LegalID(kind)
		}
		if taken[src.ID] {
			continue // two names that differ only in characters an id cannot hold
		}
		taken[src.ID] = true
		all = append(all, src)
	}
	return all
}

// LinkOut is an entry of the plugins folder that would be a plugin, but is a link that leads
// out of it, or to nothing: it is not followed.
type LinkOut struct{ Name, To string }

// Sentence says so to a person, without a full stop.
func (l LinkOut) Sentence() string {
	return l.Name + " is a link that leads out of the plugins folder, to " + l.To + ", so it is not followed"
}

// Hint returns what to do instead.
func (l LinkOut) Hint() string { return "Add what it leads to: conclave plugins add " + l.To + "." }

// LinksOut returns the links of the folder that are not followed, by name.
func (f *Folder) LinksOut() []LinkOut {
	root, err := filepath.EvalSymlinks(f.Dir)
	if err != nil {
		return nil
	}
	entries, _ := os.ReadDir(f.Dir) // one that cannot be read has none
	var all []LinkOut
	for _, entry := range entries {
		path := filepath.Join(f.Dir, entry.Name())
		if entry.Type()&fs.ModeSymlink == 0 || !couldBePlugin(entry, f.endings) || !safefs.LeadsOut(root, path) {
			continue
		}
		to, err := os.Readlink(path)
		if err != nil {
			continue // it is gone
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(f.Dir, to)
		}
		all = append(all, LinkOut{entry.Name(), to})
	}
	return all
}

// couldBePlugin reports an entry that its name and kind allow to be a plugin; what
// a link leads to is not looked at.
func couldBePlugin(entry fs.DirEntry, endings []string) bool {
	switch mode := entry.Type(); {
	case plugin.Ignored(entry.Name()):
		return false
	case mode.IsDir(), mode&fs.ModeSymlink != 0:
		return true
	default:
		return mode.IsRegular() && hasEnding(entry.Name(), endings)
	}
}

// hasEnding reports whether a file's name has one of the endings, in any case of its letters. A name that is
// nothing but an ending of two parts has it, too: mcp.json and x.mcp.json have .mcp.json.
func hasEnding(name string, endings []string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(endings, func(ending string) bool {
		return strings.HasSuffix(name, ending) || strings.Contains(ending[1:], ".") && name == ending[1:]
	})
}
