package spindle

import (
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
)

// Bounds of the source that travels inside a configuration.
const (
	maxSourceFiles = 4_096
	maxSourceBytes = 36 << 20 // what a worker takes is 64 MiB, as base64 of JSON
)

// sourceEndings are the files a plugin can import or fetch as text.
var sourceEndings = []string{
	".js", ".mjs", ".ts", ".mts", ".cts", ".tsx", ".jsx", ".json", ".txt", ".md", ".html", ".css", ".csv", ".xml", ".svg",
}

// readSources reads every file of a plugin that its code may ask for. The error
// is a *plugin.Problem.
func readSources(src plugin.Source) (map[string]string, error) {
	if !src.Folder {
		text, err := readScript(src.Path)
		if err != nil {
			return nil, err
		}
		return map[string]string{filepath.Base(src.Path): text}, nil
	}
	root, err := safefs.OpenSource(src.Path)
	if err != nil {
		return nil, unreadable(filepath.Base(src.Path), err)
	}
	defer func() { _ = root.Close() }() // only read
	sources := map[string]string{}
	total := 0
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return unreadable(name, err)
		case entry.IsDir():
			if base := path.Base(name); base == "node_modules" || base != "." && strings.HasPrefix(base, ".") {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular() || !slices.Contains(sourceEndings, strings.ToLower(path.Ext(name))):
			return nil
		}
		text, _, err := safefs.Read(root, name, maxSourceBytes+1)
		if err != nil {
			return unreadable(name, err)
		}
		if !utf8.Valid(text) {
			return nil
		}
		sources[name] = string(text)
		if total += len(text); total > maxSourceBytes || len(sources) > maxSourceFiles {
			return &plugin.Problem{
				Kind: "refused", File: name,
				Message: fmt.Sprintf("The plugin has more than %d files or %d MB of source.", maxSourceFiles, maxSourceBytes>>20),
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return sources, nil
}
