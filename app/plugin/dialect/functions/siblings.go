package functions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/python"
)

// maxSiblings bounds the modules next to a single file that it may import.
const maxSiblings = 50

var importLine = pattern.Lazy(`(?m)^[ \t]*(?:from[ \t]+([A-Za-z_]\w*)(?:\.\w+)*[ \t]+import\b|import[ \t]+([^\n#;]+))`)

// imports returns the first parts of the names that source imports, as its
// lines show them; what is imported by other means is not seen.
func imports(source []byte) []string {
	var names []string
	for _, match := range importLine().FindAllSubmatch(source, -1) {
		if len(match[1]) > 0 {
			names = append(names, string(match[1]))
			continue
		}
		for part := range strings.SplitSeq(string(match[2]), ",") {
			name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			name, _, _ = strings.Cut(name, ".")
			if name != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// siblingFiles returns the files next to a single-file plugin that it imports,
// and those that these import. Next to it lie other plugins: it gets to read the
// modules that it names and nothing else.
func siblingFiles(src plugin.Source, entry string, source []byte) []string {
	var files []string
	seen := map[string]bool{strings.TrimSuffix(entry, filepath.Ext(entry)): true}
	todo := imports(source)
	for len(todo) > 0 && len(seen) <= maxSiblings {
		name := todo[0]
		todo = todo[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		root := filepath.Dir(src.Path)
		found := moduleFiles(root, name)
		files = append(files, found...)
		if found == nil {
			continue
		}
		if more, err := python.ReadSource(root, found[0]); err == nil {
			todo = append(todo, imports(more)...)
		}
	}
	slices.Sort(files)
	return files
}

// moduleFiles returns the files of the module or package name below root, the
// one that is loaded first, or nil.
func moduleFiles(root, name string) []string {
	if info, err := os.Lstat(filepath.Join(root, name, "__init__.py")); err == nil && info.Mode().IsRegular() {
		files := []string{name + "/__init__.py"}
		for _, file := range plugin.SourceFiles(filepath.Join(root, name)) {
			if file != "__init__.py" {
				files = append(files, name+"/"+file)
			}
		}
		return files
	}
	if info, err := os.Lstat(filepath.Join(root, name+".py")); err == nil && info.Mode().IsRegular() {
		return []string{name + ".py"}
	}
	return nil
}
