package mcp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
	"conclave/app/plugin/safefs"
)

// file is a configuration as it was read last. Each look at the plugins folder asks for it, so that it is read
// again only when it has changed.
type file struct {
	changed time.Time
	size    int64
	code    bool // there are other files in its folder
	entries []plugin.Source
	values  map[string]map[string]string
}

// configurations are the names of files that hold servers, in a folder; server.json is that of the registry.
var configurations = []string{FileName, "server.json"}

// configurationOf returns the path of the configuration at src.
func configurationOf(src plugin.Source) (path string, info os.FileInfo, ok bool) {
	if !src.Folder {
		name := strings.ToLower(filepath.Base(src.Path))
		if name != FileName && !strings.HasSuffix(name, ending) && !isBundle(name) {
			return "", nil, false
		}
		info, err := os.Stat(src.Path)
		return src.Path, info, err == nil && info.Mode().IsRegular()
	}
	for _, name := range configurations {
		path := filepath.Join(src.Path, name)
		if info, err := os.Lstat(path); err == nil && info.Mode().IsRegular() {
			return path, info, true
		}
	}
	return "", nil, false
}

// Split implements plugin.Splitter. While a configuration cannot be read, the servers that it had before stay.
func (d *Dialect) Split(src plugin.Source) ([]plugin.Source, bool) {
	path, info, ok := configurationOf(src)
	if !ok {
		return nil, false
	}
	code := src.Folder && hasCode(src.Path)
	d.mu.Lock()
	defer d.mu.Unlock()
	was := d.files[path]
	if was.changed.Equal(info.ModTime()) && was.size == info.Size() && was.code == code {
		return was.entries, len(was.entries) > 0
	}
	now := file{}
	if isBundle(path) {
		now = readBundle(src, path)
	} else {
		now = read(src, path, code)
	}
	if len(now.entries) == 0 && filepath.Base(path) != FileName { // a server.json of something else
		now.changed, now.size = info.ModTime(), info.Size()
		d.files[path] = now
		return nil, false
	}
	if len(now.entries) == 1 && isProblem(now.entries[0]) {
		now.entries = append(now.entries, slices.DeleteFunc(was.entries, isProblem)...)
		now.values = was.values
	}
	now.changed, now.size, now.code = info.ModTime(), info.Size(), code
	for id := range was.values {
		delete(d.values, id)
	}
	for id, secrets := range now.values {
		d.values[id] = secrets
	}
	d.files[path] = now
	return now.entries, true
}

// read reads a configuration. What cannot be read of it is an entry with a problem.
func read(src plugin.Source, path string, code bool) file {
	f := file{values: map[string]map[string]string{}}
	text, size, err := safefs.ReadSource(filepath.Dir(path), filepath.Base(path), config.MaxBytes)
	if err == nil && size > config.MaxBytes {
		err = fmt.Errorf("it has more than %d MiB", config.MaxBytes>>20)
	}
	if err != nil {
		p := plugin.Unreadable(filepath.Base(path), err)
		f.entries = []plugin.Source{problemOf(src, config.Problem{Message: p.Message, Hint: p.Hint})}
		return f
	}
	servers, problems := config.Parse(text, path)
	if filepath.Base(path) != FileName && src.Folder && len(servers) == 0 {
		return f // a server.json that is not of the registry
	}
	stem, taken := stemOf(src), map[string]bool{}
	for _, s := range servers[:min(len(servers), config.MaxServers)] {
		kept, secrets := config.TakeSecrets(s)
		one := entryOf(src, stem, s.Name, taken)
		one.Row = row{Server: &kept, File: filepath.Base(path)}.text()
		one.Values = digestOf(secrets)
		if code {
			one.Path, one.Folder = src.Path, true
		} else {
			one.Same = config.Identity(kept)
		}
		if len(secrets) > 0 {
			f.values[one.ID] = secrets
		}
		f.entries = append(f.entries, one)
	}
	for _, p := range problems {
		p.Message = strings.TrimSpace(p.Message)
		one := problemOf(src, p)
		if p.Server != "" {
			one = entryOf(src, stem, p.Server, taken)
			one.Row = row{Problem: &p, File: filepath.Base(path)}.text()
		}
		f.entries = append(f.entries, one)
	}
	if len(f.entries) == 0 {
		f.entries = []plugin.Source{problemOf(src, config.Problem{
			Message: "It names no MCP server.", Hint: `Give it "mcpServers": {"NAME": {"command": …}}, as in docs/MCP.md.`,
		})}
	}
	return f
}

// problemOf is the entry that stands for a whole configuration which cannot be read.
func problemOf(src plugin.Source, p config.Problem) plugin.Source {
	name := FileName
	if !src.Folder {
		name = filepath.Base(src.Path)
	}
	return plugin.Source{
		ID: plugin.LegalID(stemOf(src)), Display: cmp.Or(src.Display, src.Path), Dialect: Name,
		Row: row{Problem: &p, File: name}.text(),
	}
}

func isProblem(src plugin.Source) bool {
	r, err := readRow(src.Row)
	return err != nil || r.Problem != nil && r.Problem.Server == ""
}

// entryOf is the entry of a name: stem-name, or the stem where that is its name.
func entryOf(src plugin.Source, stem, name string, taken map[string]bool) plugin.Source {
	id := stem
	if !strings.EqualFold(stem, name) {
		id = stem + "-" + name
	}
	id = shortened(id)
	for n := 2; taken[id]; n++ {
		id = shortened(fmt.Sprintf("%s-%s-%d", stem, name, n))
	}
	taken[id] = true
	return plugin.Source{ID: id, Display: cmp.Or(src.Display, src.Path), Dialect: Name}
}

// maxID bounds an id, as plugin.LegalID does; a longer one keeps its beginning, and a digest tells it from others.
const maxID = 64

func shortened(id string) string {
	if len(id) <= maxID {
		return plugin.LegalID(id)
	}
	sum := sha256.Sum256([]byte(id))
	const digits = 6
	return plugin.LegalID(id)[:maxID-digits-1] + "-" + hex.EncodeToString(sum[:])[:digits]
}

// stemOf returns the beginning of the ids of a configuration's servers: the name of its folder, or its own.
func stemOf(src plugin.Source) string {
	name := filepath.Base(src.Path)
	if src.Folder {
		return name
	}
	if isBundle(name) {
		return strings.TrimSuffix(name, filepath.Ext(name))
	}
	if stem := name[:len(name)-min(len(ending), len(name))]; stem != "" {
		return stem
	}
	return strings.TrimSuffix(FileName, filepath.Ext(FileName))
}

// codeOf returns the files of a folder besides its configuration: those of a server that lies there itself.
func codeOf(folder string) []string {
	return slices.DeleteFunc(plugin.SourceFiles(folder), func(name string) bool {
		return slices.Contains(configurations, name)
	})
}

// hasCode reports whether a folder holds more than a configuration.
func hasCode(folder string) bool {
	entries, _ := os.ReadDir(folder) // one that cannot be listed has none that could run
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		return !plugin.NotSource(entry.Name()) && !slices.Contains(configurations, entry.Name())
	})
}

// CodeFiles implements plugin.CodeLister: a configuration is no code, its entry is approved as a row.
func (d *Dialect) CodeFiles(src plugin.Source) ([]string, bool) {
	if src.Dialect != Name || !src.HasFiles() {
		return nil, false
	}
	return codeOf(src.Path), true
}

// digestOf names secrets without telling them; it lives in memory alone.
func digestOf(secrets map[string]string) string {
	if len(secrets) == 0 {
		return ""
	}
	raw, err := json.Marshal(secrets)
	if err != nil {
		return "" // texts
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}
