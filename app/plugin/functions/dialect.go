package functions

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"conclave/app/plugin"
)

// Contract is the name of this dialect.
const Contract = "functions"

// maxSource bounds one source file. A file of functions has some kilobytes; one
// of megabytes was put into the plugins folder by mistake.
const maxSource = 4 << 20

// Options says where to find things. Runtime must be set.
type Options struct {
	Python  string // the person's setting: a path or a command; empty looks for one
	Runtime string // folder for the unpacked worker and what is known of interpreters
	Log     *slog.Logger
}

// Dialect recognises Python functions and describes their worker. Its methods
// are safe for concurrent use.
type Dialect struct {
	options Options

	mu    sync.Mutex
	known map[string]Python // by shim folder and command, as long as the stamp holds
}

var _ plugin.Dialect = (*Dialect)(nil)

// New returns the dialect. It starts nothing and touches no file.
func New(options Options) *Dialect {
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	return &Dialect{options: options, known: map[string]Python{}}
}

// Contract returns "functions".
func (d *Dialect) Contract() string { return Contract }

// foreign are the manifests by which a folder belongs to another dialect.
var foreign = []string{"spindle.json", "plugin.toml", "_manifest.json"}

// Recognize takes a .py file, or a folder with NAME/NAME.py or an __init__.py
// that no other dialect's manifest claims. The error is a *plugin.Problem for
// one that is empty, too large or unreadable.
func (d *Dialect) Recognize(_ context.Context, src plugin.Source) (*plugin.Manifest, error) {
	entry := filepath.Base(src.Path)
	if !src.Folder {
		if !strings.EqualFold(filepath.Ext(entry), ".py") {
			return nil, nil
		}
	} else {
		var found bool
		if entry, found = folderEntry(src.Path); !found {
			return nil, nil
		}
	}
	source, err := readSource(rootOf(src), entry)
	if err != nil {
		return nil, err
	}
	m := &plugin.Manifest{Contract: Contract, Name: src.ID, Entry: entry, Permissions: []string{}}
	m.Description = docstring(source)
	m.Version = assigned(source, "__version__")
	m.Author = assigned(source, "__author__")
	m.Homepage = assigned(source, "__url__")
	if !src.Folder {
		m.Files = append([]string{entry}, siblingFiles(src, entry, source)...)
	}
	return m, nil
}

// folderEntry returns the file of a folder that is loaded, by its name.
func folderEntry(dir string) (string, bool) {
	for _, name := range foreign {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return "", false
		}
	}
	base := filepath.Base(dir)
	for _, name := range []string{base + ".py", strings.ReplaceAll(base, "-", "_") + ".py", "__init__.py"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err == nil && info.Mode().IsRegular() {
			return name, true
		}
	}
	return "", false
}

// rootOf returns the folder that a plugin's files are named relative to.
func rootOf(src plugin.Source) string {
	if src.Folder {
		return src.Path
	}
	return filepath.Dir(src.Path)
}

// readSource reads one source file below root, following no link out of it. The
// error is a *plugin.Problem.
func readSource(root, name string) ([]byte, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer dir.Close() //nolint:errcheck // read only
	file, err := dir.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, unreadable(name, err)
	}
	defer file.Close() //nolint:errcheck // read only
	info, err := file.Stat()
	if err != nil {
		return nil, unreadable(name, err)
	}
	if !info.Mode().IsRegular() {
		return nil, unreadable(name, errors.New("it is no file"))
	}
	source, err := io.ReadAll(io.LimitReader(file, maxSource+1))
	if err != nil {
		return nil, unreadable(name, err)
	}
	switch {
	case len(source) > maxSource:
		return nil, &plugin.Problem{Kind: "script", File: name,
			Message: fmt.Sprintf("%s has %.1f MB; a file of functions may have %d MB at most.", name, float64(max(info.Size(), int64(len(source))))/(1<<20), maxSource>>20),
			Hint:    "Keep data in files of its own, and large packages installed for Python."}
	case len(source) == 0:
		return nil, &plugin.Problem{Kind: "script", File: name,
			Message: name + " is empty.", Hint: "Write a function into it: def hello(name: str) -> str: …"}
	}
	return source, nil
}

func unreadable(name string, err error) *plugin.Problem {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	return &plugin.Problem{Kind: "unavailable", File: name,
		Message: fmt.Sprintf("%s cannot be read: %v.", name, err), Hint: "Check that it is a file that you may read."}
}

// assigned returns the text of a module-level NAME = "text", or "".
func assigned(source []byte, name string) string {
	pattern := regexp.MustCompile(`(?m)^` + name + `\s*=\s*(?:"([^"\\\n]{1,200})"|'([^'\\\n]{1,200})')`)
	match := pattern.FindSubmatch(source)
	if match == nil {
		return ""
	}
	return string(match[1]) + string(match[2])
}

var moduleDocstring = regexp.MustCompile(`^(?:\xef\xbb\xbf)?(?:\s|#[^\n]*\n)*[rRuU]?(?:"""((?s:.*?))"""|'''((?s:.*?))'''|"([^"\n]*)"|'([^'\n]*)')`)

// docstring returns the first line of a module's docstring that says something.
func docstring(source []byte) string {
	match := moduleDocstring.FindSubmatch(source)
	for i := 1; i < len(match); i++ {
		for line := range strings.Lines(string(match[i])) {
			if line = strings.TrimSpace(line); line != "" {
				return strings.ToValidUTF8(line, "\uFFFD")
			}
		}
	}
	return ""
}
