package plugin

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/fault"
	"conclave/app/limit"
	"conclave/app/plugin/watch"
)

// Sources lists what may be plugins in the folder dir, by id: script files and
// folders, without hidden ones and without links that lead out of dir. A folder
// that is missing is empty. The error is a fault of kind unavailable.
func Sources(dir string) ([]Source, error) { return sourcesOf(dir, nil) }

// sourcesOf is Sources, where the names of several make one id: incumbent says which
// name the plugin has that served under it, if any.
func sourcesOf(dir string, incumbent func(id string) (base string)) ([]Source, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, "plugin.sources",
			"The plugins folder "+dir+" cannot be read.", "Check that it is a folder that you may read.", err)
	}
	entries = slices.DeleteFunc(entries, func(entry fs.DirEntry) bool { return !couldBePlugin(entry) })
	if len(entries) > limit.PluginEntries.Int() {
		return nil, fault.New(fault.Invalid, "plugin.sources",
			strings.ReplaceAll(limit.PluginEntries.Person, "FOLDER", dir),
			"Move what is no plugin out of it, or choose a folder that holds plugins only. Until then its changes are not seen.")
	}
	root, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, "plugin.sources", "The plugins folder "+dir+" cannot be read.", "", err)
	}
	var sources []Source
	for _, entry := range entries { // ReadDir sorts, so ids are the same from run to run
		name := entry.Name()
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err != nil || (entry.Type()&fs.ModeSymlink != 0 && leadsOut(root, path)) {
			continue
		}
		src := Source{ID: idOf(name, info.IsDir()), Path: path, Display: path, Folder: info.IsDir()}
		ext := strings.ToLower(filepath.Ext(name))
		if !src.Folder && (!info.Mode().IsRegular() || !slices.Contains(scriptEndings, ext)) {
			continue
		}
		sources = append(sources, src)
	}
	return distinct(sources, incumbent), nil
}

// distinct gives sources whose names make the same id one each. The plugin that has
// served under the id keeps it, and with it what the person allowed; else the first.
func distinct(sources []Source, incumbent func(id string) (base string)) []Source {
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
	later := func(src Source) bool { // it yields to the one that has served
		base := keeps[src.ID]
		return base != "" && base != filepath.Base(src.Path)
	}
	slices.SortStableFunc(sources, func(a, b Source) int {
		switch {
		case later(a) == later(b):
			return 0
		case later(a):
			return 1
		}
		return -1
	})
	var all []Source
	taken := map[string]bool{}
	for _, src := range sources {
		if taken[src.ID] {
			kind := strings.TrimPrefix(strings.ToLower(filepath.Ext(src.Path)), ".")
			if kind == "" {
				kind = "folder"
			}
			src.ID += "-" + legalID(kind)
		}
		if taken[src.ID] {
			continue // two names that differ only in characters an id cannot hold
		}
		taken[src.ID] = true
		all = append(all, src)
	}
	return all
}

// couldBePlugin reports an entry that its name and kind allow to be a plugin; what
// a link leads to is not looked at.
func couldBePlugin(entry fs.DirEntry) bool {
	switch mode := entry.Type(); {
	case Ignored(entry.Name()):
		return false
	case mode.IsDir(), mode&fs.ModeSymlink != 0:
		return true
	default:
		return mode.IsRegular() && slices.Contains(scriptEndings, strings.ToLower(filepath.Ext(entry.Name())))
	}
}

// scriptEndings are the endings of a plugin that is a single file.
var scriptEndings = []string{".py", ".js", ".mjs", ".ts"}

// Ignored reports whether an entry of the plugins folder is never a plugin: what
// is no part of one either, and what lies there for other plugins (_name).
func Ignored(name string) bool { return notSource(name) || name[0] == '_' }

// notSource reports whether an entry of the plugins folder is no part of a
// plugin: what watch.Ignored names, type declarations and recorded calls.
func notSource(name string) bool {
	return watch.Ignored(name) || name == "tests" || strings.HasSuffix(name, testsEnding) || strings.HasSuffix(name, ".d.ts")
}

// SourceFiles returns the files below the folder dir that count as a plugin's
// source, relative and sorted: those that its digest counts; none for a folder that
// cannot be read.
func SourceFiles(dir string) []string {
	_, files, err := watch.Digest(dir)
	if err != nil {
		return nil
	}
	return files
}

// leadsOut reports whether path, after following links, lies outside root.
func leadsOut(root, path string) bool {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return true
	}
	rel, err := filepath.Rel(root, real)
	return err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator))
}

// idOf is the id of a plugin that lies in a file or folder of this name.
func idOf(name string, folder bool) string {
	if !folder {
		name = strings.TrimSuffix(name, filepath.Ext(name))
	}
	return legalID(name)
}

// legalID makes a folder or file name into a plugin id: [a-zA-Z0-9_-]{1,64}.
func legalID(name string) string {
	id := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '_'
	}, name)
	return id[:min(len(id), 64)]
}
