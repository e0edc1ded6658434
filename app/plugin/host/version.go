package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// version is one state of a plugin's source, and what is known of it.
type version struct {
	src        plugin.Source
	digest     string
	dialect    plugin.Dialect
	manifest   plugin.Manifest
	listing    plugin.Listing
	tools      []tool.Tool // as listed by running it
	listed     bool
	settings   string // digest of the person's settings it was loaded with
	selfReport        // as read, or as listed
}

// facts are those of v's dialect.
func (v version) facts() plugin.Facts {
	if v.dialect == nil {
		return plugin.Facts{}
	}
	return v.dialect.Facts()
}

// confinement says what holds v when it runs.
func (v version) confinement(h *Host) sandbox.Confinement {
	if c, ok := v.dialect.(plugin.Connector); ok {
		return c.Confinement()
	}
	return h.o.Launcher.Confinement()
}

// forApproval describes v to the gate.
func (v version) forApproval(h *Host) gate.PluginVersion {
	c := gate.PluginVersion{
		Plugin: v.src.ID, Name: v.manifest.Name, Dialect: v.manifest.Dialect, Code: v.digest,
		Tools: v.listing.Tools, Permissions: v.manifest.Permissions, Imports: v.listing.Imports,
		Isolation: v.confinement(h).Level, ReadAll: v.listing.Known, Settings: v.settings,
		Folder: v.src.Display, Hidden: v.manifest.Hidden, Marked: v.manifest.Marked,
	}
	facts := v.facts()
	c.Convention, c.Sealed = facts.Convention, facts.Sealed
	if v.listed {
		c.Tools, c.Listed = v.tools, true
	}
	return c
}

// Recognize returns the manifest that a dialect reads of src, which may be anywhere.
// The error is a *Problem, or the cause of ctx's end.
func (h *Host) Recognize(ctx context.Context, src plugin.Source) (*plugin.Manifest, error) {
	m, _, err := h.recognize(ctx, src)
	return m, err
}

// recognize asks the dialects in order.
func (h *Host) recognize(ctx context.Context, src plugin.Source) (*plugin.Manifest, plugin.Dialect, error) {
	for _, d := range h.o.Dialects {
		if !src.HasFiles() && d.Facts().Name != src.Dialect {
			continue
		}
		m, err := d.Recognize(ctx, src)
		if err != nil {
			return nil, nil, err
		}
		if m != nil {
			m.Dialect = d.Facts().Name
			if err := m.Clean(); err != nil {
				return nil, nil, err
			}
			if m.Name == "" {
				m.Name = src.ID
			}
			if gate.Reserved(m.Name) || gate.Reserved(src.ID) {
				return nil, nil, &plugin.Problem{
					Kind: "refused", Message: "Its name reads as Conclave, which speaks to you under that name itself.",
					Hint: "Give it, and its file, another name.",
				}
			}
			return m, d, nil
		}
	}
	return nil, nil, &plugin.Problem{
		Kind: "unavailable", Message: "This is no plugin that Conclave knows: " +
			filepath.Base(src.Path) + ".",
		Hint: h.KnownLayouts(),
	}
}

// Import asks the dialects what plugins a configuration file holds; nil when none of
// them has such files. The error is a *Problem, or the cause of ctx's end.
func (h *Host) Import(ctx context.Context, path string) (*plugin.Import, error) {
	for _, d := range h.o.Dialects {
		i, ok := d.(plugin.Importer)
		if !ok {
			continue
		}
		if found, err := i.Import(ctx, path); found != nil || err != nil {
			return found, err
		}
	}
	return nil, context.Cause(ctx)
}

// KnownLayouts returns a sentence that lists the forms of plugins.
func (h *Host) KnownLayouts() string {
	var known []string
	for _, d := range h.o.Dialects {
		for _, l := range d.Facts().Layouts {
			known = append(known, l.What+" ("+l.Entry+")")
		}
	}
	return "What it can be: " + strings.Join(known, ", ") + "."
}

// factsOf returns the facts of the dialect of that name.
func (h *Host) factsOf(name string) plugin.Facts {
	return version{dialect: h.dialect(name)}.facts()
}

func (h *Host) dialect(name string) plugin.Dialect {
	for _, d := range h.o.Dialects {
		if d.Facts().Name == name {
			return d
		}
	}
	return nil
}

// CodeDigest returns the digest of the plugin at path, as Status.Digest is once it lies in the
// plugins folder. The error wraps fs.ErrNotExist when there is none; otherwise it is a fault, a
// *Problem, or the cause of ctx's end.
func (h *Host) CodeDigest(ctx context.Context, path string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	seen, err := (&entry{h: h}).digest(ctx, plugin.Source{Path: path, Display: path, Folder: info.IsDir()})
	return seen.digest, err
}

// good returns the version whose files were kept, for the plugin at src.
func (e *entry) good(src plugin.Source) (version, bool) {
	e.mu.Lock()
	good := e.record.Good
	e.mu.Unlock()
	if good == nil {
		return version{}, false
	}
	v := version{
		src:    plugin.Source{ID: src.ID, Path: good.Base, Folder: good.Folder, Display: src.Display, Row: good.Row},
		digest: good.Digest, manifest: good.Manifest, tools: fromStored(good.Tools), listed: true,
		dialect:  e.h.dialect(good.Manifest.Dialect),
		settings: e.settings(),
	}
	if good.Base == "" {
		v.src.Dialect = good.Manifest.Dialect
		return v, v.dialect != nil
	}
	v.src = e.copyOf(v)
	_, err := os.Stat(v.src.Path)
	return v, err == nil && v.dialect != nil
}

// code returns the files of a folder that are its code; nil means all.
func (h *Host) code(src plugin.Source) []string {
	for _, d := range h.o.Dialects {
		if s, ok := d.(plugin.CodeLister); ok && src.Folder {
			if files, its := s.CodeFiles(src); its {
				return files
			}
		}
	}
	return nil
}

// digestOf returns the digest of all that loading src reads. files are the ones
// beside a single file, relative to its folder; it is among them.
func (e *entry) digestOf(src plugin.Source, files []string) (string, error) {
	if !src.HasFiles() {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", src.Dialect, src.Row))
		return hex.EncodeToString(sum[:]), nil
	}
	if src.Folder && files != nil {
		return e.digestOfFiles(src.Path, files)
	}
	digest, _, err := e.looks.Digest(src.Path)
	if err != nil || src.Folder || len(files) < 2 {
		return digest, err
	}
	h := sha256.New()
	fmt.Fprintln(h, digest)
	dir, entry := filepath.Dir(src.Path), filepath.Base(src.Path)
	for _, name := range files {
		if name == entry {
			continue
		}
		beside, _, err := e.looks.Digest(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(h, "%q %s\n", name, beside)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// digestOfFiles returns the digest of files below dir, by their names.
func (e *entry) digestOfFiles(dir string, files []string) (string, error) {
	if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	h := sha256.New()
	for _, name := range files {
		one, _, err := e.looks.Digest(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(h, "%q %s\n", name, one)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// holds reports whether what lies at src is version v.
func (e *entry) holds(src plugin.Source, v version) bool {
	digest, err := e.digestOf(src, v.manifest.Files)
	return err == nil && digest == v.digest
}
