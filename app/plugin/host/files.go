package host

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/watch"
)

// files are those of a plugin: where they lie, and the copies that its versions run from. The approved
// files are the ones that run: a digest is taken once, when the files are looked at, and holds is the one
// place that finds out whether files are still those of a version. It reads none again that has not
// changed. It is asked after the files were read, so that what a card shows belongs to the digest that is
// approved, and of each copy before a process starts from it. It is safe for concurrent use.
type files struct {
	dialects Dialects
	copies   string // the folder of the copies; those of a plugin that was named for one run go with it
	log      *slog.Logger
	looks    watch.Looker
	copying  sync.Mutex // one copy at a time
}

// digested holds what one look at a plugin's files found.
type digested struct {
	digest   string
	manifest *plugin.Manifest // of a single file; nil when it was not needed yet
	dialect  plugin.Dialect
}

// digest looks at src. The files of a folder are all that is in it, or what its
// dialect says is code. Which files belong to a single one, only its dialect
// knows: it may import what lies next to it. The error wraps fs.ErrNotExist when
// src is gone; otherwise it is a fault or a *Problem.
func (f *files) digest(ctx context.Context, src plugin.Source) (digested, error) {
	digest, err := f.digestOf(src, f.dialects.code(src))
	if err != nil || src.Folder || !src.HasFiles() {
		return digested{digest: digest}, err
	}
	m, d, err := f.dialects.Recognize(ctx, src)
	if err != nil {
		return digested{digest: digest}, err
	}
	digest, err = f.digestOf(src, m.Files)
	return digested{digest, m, d}, err
}

// digestOf returns the digest of all that loading src reads: its files, and its row. files are the ones
// next to a single file, relative to its folder; it is among them. Of a folder they are
// those that count, and nil is all.
func (f *files) digestOf(src plugin.Source, files []string) (string, error) {
	if !src.HasFiles() {
		sum := sha256.Sum256(fmt.Appendf(nil, "%q %q", src.Dialect, src.Row))
		return hex.EncodeToString(sum[:]), nil
	}
	h, dir := sha256.New(), src.Path
	if !src.Folder || files == nil {
		digest, _, err := f.looks.Digest(src.Path)
		if err != nil || src.Folder || len(files) < 2 {
			return digest, err
		}
		fmt.Fprintln(h, digest)
		dir = filepath.Dir(src.Path)
		files = slices.DeleteFunc(slices.Clone(files), func(name string) bool { return name == filepath.Base(src.Path) })
	} else if _, err := os.Stat(dir); err != nil {
		return "", err
	}
	for _, name := range files {
		sum, _, err := f.looks.Digest(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", err
		}
		fmt.Fprintf(h, "%q %s\n", name, sum)
	}
	if src.Row != "" {
		fmt.Fprintf(h, "%q\n", src.Row)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// holds reports whether what lies at src is version v.
func (f *files) holds(src plugin.Source, v version) bool {
	digest, err := f.digestOf(src, v.manifest.Files)
	return err == nil && digest == v.digest
}

func (f *files) copyVersion(v version, used []string) error {
	dir, base := f.copies, filepath.Base(v.src.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(dir, "new-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // it is gone after the rename
	if err := Copy(v.src, v.manifest.Files, filepath.Join(temp, base)); err != nil {
		return err
	}
	if err := copyImports(v, temp); err != nil {
		return err
	}
	copied := v.src
	copied.Path = filepath.Join(temp, base)
	if !f.holds(copied, v) {
		return fmt.Errorf("the copy of %s differs from what was read", v.src.ID)
	}
	final := filepath.Join(dir, short(v.digest))
	if err := os.RemoveAll(final); err != nil { // damaged, or it would have been used
		return err
	}
	if err := os.Rename(temp, final); err != nil {
		return err
	}
	all, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range all {
		if !slices.Contains(used, entry.Name()) {
			if err := os.RemoveAll(filepath.Join(dir, entry.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

// remove removes all copies.
func (f *files) remove() {
	_ = os.RemoveAll(f.copies) // else with the next one of its name
}

// ensure copies the files of v to where its processes run from, unless they lie there:
// so the code that was approved runs, whatever is written into the plugin's folder
// later, and a name that no digest counts cannot be loaded. Of older copies it
// leaves those that may still be in use: what serves, and the last good version,
// which serves after a restart while the newest save does not load.
//
// The error is errNewer when the files are not those of v any more; otherwise it is
// a *Problem.
func (f *files) ensure(v version, used []string) (plugin.Source, error) {
	if !v.src.HasFiles() {
		return v.src, nil
	}
	f.copying.Lock()
	defer f.copying.Unlock()
	copied := f.copyOf(v)
	if f.holds(copied, v) {
		return copied, nil
	}
	err := f.copyVersion(v, used)
	switch {
	case err == nil:
		return copied, nil
	case !f.holds(v.src, v):
		return copied, errNewer
	}
	f.log.Warn("a plugin's files could not be copied", "plugin", v.src.ID, "err", err)
	return copied, &plugin.Problem{
		Kind: "unavailable", Message: "Its files could not be copied to where it runs from.",
		Hint: "Check the space of the disk and the permissions of " + filepath.Dir(f.copies) + ", then reload it.",
	}
}

// copyImports copies the files next to a single file that belong to it.
func copyImports(v version, to string) error {
	if v.src.Folder {
		return nil
	}
	from, entry := filepath.Dir(v.src.Path), filepath.Base(v.src.Path)
	for _, name := range v.manifest.Files {
		if name == entry || !filepath.IsLocal(filepath.FromSlash(name)) {
			continue
		}
		path := filepath.Join(to, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return err
		}
		if err := safefs.CopyFile(filepath.Join(from, filepath.FromSlash(name)), path, plugin.MaxBytes); err != nil &&
			!errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// copied reports whether v was copied. Whether the copy is still whole, holds finds out.
func (f *files) copied(v version) bool {
	if !v.src.HasFiles() {
		return true
	}
	_, err := os.Stat(f.copyOf(v).Path)
	return err == nil
}

// copyOf is the source of v as its processes see it: the copy that holds the files
// of its digest and nothing else.
func (f *files) copyOf(v version) plugin.Source {
	src := v.src
	if !src.HasFiles() {
		return src
	}
	src.Path = filepath.Join(f.copies, short(v.digest), filepath.Base(v.src.Path))
	return src
}

// short names a version in a path.
func short(digest string) string { return digest[:min(16, len(digest))] }

// Copy copies the file at src, or of a folder the files that its digest counts,
// which files names unless it is nil: what their links inside the folder lead to,
// and none that lead out.
func Copy(src plugin.Source, files []string, to string) error {
	if !src.Folder {
		return safefs.CopyFile(src.Path, to, plugin.MaxBytes)
	}
	if files == nil {
		var err error
		if _, files, err = watch.Digest(src.Path); err != nil {
			return err
		}
	}
	return safefs.CopyFiles(src.Path, files, to, plugin.MaxBytes)
}
