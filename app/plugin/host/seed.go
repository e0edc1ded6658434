package host

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/watch"
)

// seed copies what v brings for its storage, once for each version, before its
// process starts: when it was added, and when it was replaced by a newer one. What
// is in the storage already stays, unless the seed says otherwise. The error is a
// *Problem.
func (m *memory) seed(v version, src plugin.Source, storage string) error {
	if len(v.manifest.Seeds) == 0 || !src.Folder || m.e.now().record.Seeded == v.digest {
		return nil
	}
	from, err := safefs.OpenSource(src.Path)
	if err != nil {
		return unseeded(m.e.id, err)
	}
	defer from.Close() //nolint:errcheck // read only
	to, err := safefs.Open(storage)
	if err != nil {
		return unseeded(m.e.id, err)
	}
	defer to.Close() //nolint:errcheck // nothing is buffered
	p := seeding{from: from, to: to, files: plugin.MaxFiles, bytes: plugin.MaxBytes}
	for _, s := range v.manifest.Seeds {
		err := p.copySeed(s)
		if errors.Is(err, fs.ErrNotExist) && !s.Required {
			continue
		}
		if err != nil {
			return unseeded(s.From, err)
		}
	}
	m.e.mu.Lock()
	m.e.record.Seeded = v.digest
	m.e.mu.Unlock()
	if !m.e.temporary {
		m.save()
	}
	return nil
}

func unseeded(what string, err error) *plugin.Problem {
	return &plugin.Problem{
		Kind: "unavailable", File: what,
		Message: fmt.Sprintf("%s could not be copied into the plugin's storage: %v.", what, err),
	}
}

// seeding copies seeds, up to a bound.
type seeding struct {
	from  *os.Root
	to    *safefs.Folder
	files int
	bytes int64
}

// copySeed copies one seed.
func (p *seeding) copySeed(s plugin.Seed) error {
	info, err := p.from.Stat(filepath.FromSlash(s.From))
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return p.copy(s.From, s.To, s.Overwrite)
	}
	return fs.WalkDir(p.from.FS(), s.From, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != s.From && watch.Ignored(entry.Name()):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.Type().IsRegular():
			return nil
		}
		rel, err := filepath.Rel(filepath.FromSlash(s.From), filepath.FromSlash(name))
		if err != nil {
			return err
		}
		return p.copy(name, path.Join(s.To, filepath.ToSlash(rel)), s.Overwrite)
	})
}

// copy copies one file; one that is there stays unless overwrite says so.
func (p *seeding) copy(from, to string, overwrite bool) error {
	name := filepath.FromSlash(to)
	if _, err := p.to.Lstat(name); err == nil && !overwrite {
		return nil
	}
	in, err := p.from.Open(filepath.FromSlash(from))
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // read only
	data, err := io.ReadAll(io.LimitReader(in, p.bytes+1))
	if err != nil {
		return err
	}
	p.files--
	if p.bytes -= int64(len(data)); p.bytes < 0 || p.files < 0 {
		return fmt.Errorf("there are more than %d files or %d MiB", plugin.MaxFiles, plugin.MaxBytes>>20)
	}
	return p.to.Write(name, data)
}
