package python

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
)

// maxSource bounds one source file. A plugin's file has some kilobytes; one of
// megabytes was put into the plugins folder by mistake.
const maxSource = 4 << 20

// ReadSource reads one source file below root, following no link out of it. The
// error is a *plugin.Problem.
func ReadSource(root, name string) ([]byte, error) {
	source, size, err := safefs.ReadSource(root, name, maxSource+1)
	if err != nil {
		return nil, unreadable(name, err)
	}
	switch {
	case len(source) > maxSource:
		return nil, &plugin.Problem{
			Kind: "script", File: name,
			Message: fmt.Sprintf("%s has %.1f MB; a file of functions may have %d MB at most.", name, float64(size)/(1<<20),
				maxSource>>20),
			Hint: "Keep data in separate files, and large packages installed for Python.",
		}
	case len(source) == 0:
		return nil, &plugin.Problem{
			Kind: "script", File: name,
			Message: name + " is empty.", Hint: "Write a function into it: def hello(name: str) -> str: …",
		}
	}
	return source, nil
}

func unreadable(name string, err error) *plugin.Problem {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return &plugin.Problem{
		Kind: "unavailable", File: name,
		Message: fmt.Sprintf("%s cannot be read: %v.", name, err), Hint: "Check that it is a file that you may read.",
	}
}

// maxAssigned is the length of a text that Assigned reads, in characters.
const maxAssigned = 200

// Assigned returns the text of a module-level NAME = "text", or "".
func Assigned(source []byte, name string) string {
	for at := 0; ; {
		next := bytes.Index(source[at:], []byte(name))
		if next < 0 {
			return ""
		}
		begin := at + next
		at = begin + len(name)
		if begin > 0 && source[begin-1] != '\n' {
			continue
		}
		rest, assigned := bytes.CutPrefix(bytes.TrimLeft(source[at:], blanks), []byte("="))
		rest = bytes.TrimLeft(rest, blanks)
		if !assigned || len(rest) == 0 || rest[0] != '"' && rest[0] != '\'' {
			continue
		}
		quote, text := rest[0], rest[1:]
		end := bytes.IndexAny(text, string(quote)+"\\\n")
		if end > 0 && text[end] == quote && utf8.RuneCount(text[:end]) <= maxAssigned {
			return string(text[:end])
		}
	}
}

const blanks = " \t\n\f\r"

// moduleDocstring is compiled when the first source is read, as not every command reads one.
var moduleDocstring = pattern.Lazy(`^(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*[rRuU]?(?:"""((?s:.*?))"""|'''((?s:.*?))'''|"([^"\n]*)"|'([^'\n]*)')`)

// Docstring returns the first line of a module's docstring that says something.
func Docstring(source []byte) string {
	match := moduleDocstring().FindSubmatch(source)
	for i := 1; i < len(match); i++ {
		for line := range strings.Lines(string(match[i])) {
			if line = strings.TrimSpace(line); line != "" {
				return strings.ToValidUTF8(line, "\uFFFD")
			}
		}
	}
	return ""
}

// maxPythonFiles bounds how many files of a folder are read for its imports.
const maxPythonFiles = 200

// Files returns the .py files below dir, relative and sorted, without
// hidden folders, caches, virtual environments and tests.
func Files(dir string) []string {
	var files []string
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || len(files) >= maxPythonFiles:
			return fs.SkipAll
		case entry.IsDir() && path != dir && skipped(path, entry.Name()):
			return fs.SkipDir
		case entry.Type().IsRegular() && strings.HasSuffix(entry.Name(), ".py"):
			if name, err := filepath.Rel(dir, path); err == nil {
				files = append(files, filepath.ToSlash(name))
			}
		}
		return nil
	})
	slices.Sort(files)
	return files
}

// OwnFiles returns those of Files that are the plugin's own code: without bundled
// packages, tests and scripts that its maker runs.
func OwnFiles(dir string) []string {
	return slices.DeleteFunc(Files(dir), func(name string) bool {
		first, _, nested := strings.Cut(name, "/")
		if !nested {
			return name == "conftest.py" || strings.HasPrefix(name, "test_")
		}
		return first == "vendor" || first == "docs"
	})
}

func skipped(path, name string) bool {
	if name[0] == '.' || name == "__pycache__" || name == "node_modules" || name == "tests" || name == "test" {
		return true
	}
	_, err := os.Stat(filepath.Join(path, "pyvenv.cfg"))
	return err == nil
}
