package library

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/watch"
	"conclave/app/tool"
)

// remote matches what git would take for a place on another machine: an address,
// or the short form of ssh.
var remote = pattern.Lazy(`^[a-zA-Z][a-zA-Z0-9+.-]*://|^[a-zA-Z][a-zA-Z0-9+.-]*::|^[\w.-]+@[\w.-]+:`)

// Remote reports whether from is the address of a repository rather than a path;
// Add takes those over https only.
func Remote(from string) bool { return remote().MatchString(from) }

// Add copies a plugin into the plugins folder: a file, a folder, a .zip, or the https
// address of a git repository. It returns the new plugin's id: its identity where its
// ecosystem has one, else the name of what was added. Nothing of it runs. Kind
// conflict when there is a plugin of that id.
func (l *Library) Add(ctx context.Context, from string) (string, error) {
	s, err := l.stage(ctx, from)
	if err != nil {
		return "", err
	}
	defer s.discard()
	to := filepath.Join(l.o.Dir, s.base)
	id := plugin.IDOf(s.base, s.folder)
	there := l.o.Host.Known(id)
	if named := l.o.Host.FindIdentity(s.manifest); !there && named != "" {
		id, there = named, true
	}
	if _, err := os.Lstat(to); err == nil || there {
		return "", fault.New(fault.Conflict, "plugin.add", "There is a plugin "+id+" already.",
			"Replace it with conclave plugins update "+id+" FROM, or remove it first: conclave plugins remove "+id+".")
	}
	if err := move(s.path, to); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "The plugin could not be moved into "+l.o.Dir+".", "", err)
	}
	return l.added(ctx, s, filepath.Base(to))
}

// Update replaces the files of a plugin with those at from; its storage, settings and
// permissions stay. An update is no edit of the person's: even a plugin that they
// develop needs approval. An empty from is where the plugin was added from. Update
// keeps the replaced files as Remove does, and returns where, with the plugin's id.
// Kind conflict when from holds another plugin.
func (l *Library) Update(ctx context.Context, id, from string) (updated, kept string, err error) {
	old, err := l.o.Host.PathOf(id)
	if err != nil {
		return "", "", err
	}
	origin, was, err := l.o.Host.Origin(ctx, id)
	if err != nil {
		return "", "", err
	}
	switch {
	case from != "":
	case was.WorkingCopy:
		return "", "", fault.New(fault.Conflict, "plugin.update", "The plugin "+id+
			" says that its author works in its folder (dev_mode), so it is not fetched again.", "Name what should replace it.")
	case origin == "":
		return "", "", fault.New(fault.NotFound, "plugin.update", "It is not known where "+id+" came from.",
			"Name what should replace it: a path, a .zip or an https address.")
	default:
		from = origin
	}
	s, err := l.stageUpdate(ctx, id, from)
	if err != nil {
		return "", "", err
	}
	defer s.discard()
	if !s.replaces(id, was) {
		return "", "",
			fault.New(fault.Conflict, "plugin.update", fmt.Sprintf("%s holds another plugin: %s.", from, s.calls()),
				"Add it with conclave plugins add.")
	}
	path := old
	if !s.folder || s.manifest.Identity == "" {
		path = filepath.Join(l.o.Dir, s.base) // its ending may have changed
	}
	had, err := l.o.Gate.Approvals.StopDeveloping(ctx, id)
	if err != nil {
		return "", "", err
	}
	kept, err = l.replace(id, old, s.path, path, s.dir)
	if err != nil {
		return "", "", errors.Join(err, l.o.Gate.Approvals.RestorePlugin(ctx, id, had))
	}
	l.mu.Lock()
	l.withdrawn[kept] = removal{id, had}
	l.mu.Unlock()
	updated, err = l.added(ctx, s, filepath.Base(path))
	return updated, kept, err
}

// Revert undoes an Update: it puts back the files that Update kept, and archives those
// that are there now. If Update ended the plugin's development in this run of the
// program, Revert restores it.
func (l *Library) Revert(ctx context.Context, id, kept string) error {
	old, err := l.o.Host.PathOf(id)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(kept); err != nil {
		return fault.Wrap(fault.NotFound, "plugin.revert", "What was there before "+id+
			" was updated is no longer kept.", "", err)
	}
	dir, err := l.staging()
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it holds the note alone
	if _, err := l.replace(id, old, kept, filepath.Join(l.o.Dir, filepath.Base(kept)), dir); err != nil {
		return err
	}
	return errors.Join(l.giveBack(ctx, kept), l.o.Host.Scan())
}

// replace moves what lies at from to path, in place of the plugin's files at old, and
// returns where those are kept. A program that is ended in between leaves a note
// in the staging folder, by which the next start takes the move back.
func (l *Library) replace(id, old, from, path, staging string) (kept string, err error) {
	kept, err = l.archivePath("plugin.update", old)
	if err != nil {
		return "", err
	}
	if err := (replacing{Old: old, New: path, Kept: kept}).note(staging); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.update", "The plugin "+id+" was not replaced: "+staging+
			" cannot be written.", "Check the disk's space. Nothing was changed.", err)
	}
	if err := move(old, kept); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.update", "The plugin "+id+" could not be moved.",
			"Check the permissions of "+old+".", err)
	}
	if err := move(from, path); err != nil {
		back := move(kept, old)
		if back == nil {
			return "", fault.Wrap(fault.Unavailable, "plugin.update", "The plugin could not be moved into "+l.o.Dir+
				"; its files are as they were.", "Check the folder's permissions and the disk.", err)
		}
		return "", fault.Wrap(fault.Unavailable, "plugin.update", "The plugin could not be moved into "+l.o.Dir+".",
			"Its files before the update are in "+kept+".", errors.Join(err, back))
	}
	return kept, nil
}

// archivePath makes a folder for what is at path and returns the path in it to move it
// to.
func (l *Library) archivePath(op, path string) (kept string, err error) {
	all := filepath.Join(l.o.Data, "removed")
	err = os.MkdirAll(all, 0o700)
	dir := ""
	if err == nil {
		// a clock may stand still for a while
		dir, err = os.MkdirTemp(all, time.Now().UTC().Format("20060102-150405.000000000-*"))
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, op, "There is no place to keep "+path+", so nothing was changed.",
			"Check the disk's space.", err)
	}
	return filepath.Join(dir, filepath.Base(path)), nil
}

// added has the folder read and keeps where the plugin came from.
func (l *Library) added(ctx context.Context, s *staged, base string) (string, error) {
	if err := l.o.Host.Scan(); err != nil {
		return "", err
	}
	id, err := l.o.Host.Find(base)
	if err != nil {
		return "", err
	}
	return id, l.o.Host.SetOrigin(ctx, id, s.from)
}

// staged is a plugin that is about to be added, in a folder next to the plugins
// folder, so that the last step is a rename and half of a plugin is never seen.
type staged struct {
	dir      string // to discard
	path     string
	base     string // the name it gets in the plugins folder
	folder   bool
	from     string // where it came from, to be asked again
	manifest plugin.Manifest
}

func (s *staged) discard() { _ = os.RemoveAll(s.dir) } // empty, or of no further use

func (s *staged) calls() string {
	if s.manifest.Identity != "" {
		return s.manifest.Identity
	}
	return s.base
}

// replaces reports whether s is another version of the plugin with this id and
// manifest, which is empty when it could not be read.
func (s *staged) replaces(id string, was plugin.Manifest) bool {
	if was.Dialect == "" || was.Identity == "" {
		return s.manifest.Dialect != "" && plugin.IDOf(s.base, s.folder) == id
	}
	return s.manifest.Dialect == was.Dialect && s.manifest.Identity == was.Identity
}

// stage brings what from names onto the disk of the plugins folder and looks at
// it. The error is a fault of what from is: kind invalid for what is no plugin.
func (l *Library) stage(ctx context.Context, from string) (_ *staged, err error) {
	if err := os.MkdirAll(l.o.Dir, 0o700); err != nil {
		return nil, fault.Wrap(fault.Unavailable, "plugin.add", "The plugins folder "+l.o.Dir+" cannot be made.", "", err)
	}
	dir, err := l.staging()
	if err != nil {
		return nil, err
	}
	s := &staged{dir: dir, from: from}
	defer func() {
		if err != nil {
			s.discard()
		}
	}()
	if !Remote(from) {
		if err := addable(from); err != nil {
			return nil, err
		}
	}
	fetched, err := fetch(ctx, from, dir)
	if err != nil {
		return nil, err
	}
	if s.path, err = stageCopy(fetched, dir); err != nil {
		return nil, err
	}
	return s, l.inspect(ctx, s)
}

// fetch returns the file or folder that from names, unpacked or cloned below dir where it
// is an archive or a repository.
func fetch(ctx context.Context, from, dir string) (string, error) {
	to := filepath.Join(dir, ".fetched") // no plugin is called so
	if err := os.Mkdir(to, 0o700); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "There is no place to put what is added.",
			"Check the disk's space.", err)
	}
	switch {
	case Remote(from):
		return clone(ctx, from, to)
	case strings.EqualFold(filepath.Ext(from), ".zip"):
		return unzip(from, to)
	}
	return from, nil
}

// addable refuses what is neither a file nor a folder, such as a pipe, which would be
// waited for, and a file that is too large before any of it is copied.
func addable(from string) error {
	info, err := os.Stat(from)
	switch {
	case err != nil || info.IsDir(): // reading it says so
		return nil
	case !info.Mode().IsRegular():
		return fault.New(fault.Invalid, "plugin.add", from+" is neither a file nor a folder.",
			"Name a file, a folder, a .zip or an https address.")
	case info.Size() > plugin.MaxBytes:
		return fault.New(fault.Invalid, "plugin.add",
			fmt.Sprintf("%s has more than %d MiB, the most that a plugin may have.", from, plugin.MaxBytes>>20),
			"Name the plugin's own file or folder.")
	}
	return nil
}

// inspect finds out what is staged.
func (l *Library) inspect(ctx context.Context, s *staged) error {
	s.base = filepath.Base(s.path)
	if clean, _ := tool.Strip(s.base); clean != s.base || strings.ContainsAny(s.base, "\n\r\t") {
		return fault.New(fault.Invalid, "plugin.add",
			fmt.Sprintf("The plugin's name holds hidden characters or line ends: %q.", s.base),
			"Give it a name that can be read, and add it again.")
	}
	unknown := func() error {
		if script := l.onlyScript(ctx, s.path); script != "" {
			hint := "Get it as a single file, and add that."
			if info, err := os.Stat(s.from); err == nil && info.IsDir() {
				hint = "Add the file itself: conclave plugins add " + filepath.Join(s.from, script) + "."
			}
			return fault.New(fault.Invalid, "plugin.add", s.base+" is no plugin as a folder, but the file "+script+
				" in it is one.", hint)
		}
		return fault.New(fault.Invalid, "plugin.add", s.base+" is no plugin that Conclave knows.",
			l.o.Host.Dialects.Layouts())
	}
	info, err := os.Stat(s.path)
	if err != nil { // an empty folder
		return unknown()
	}
	s.folder = info.IsDir()
	src := plugin.Source{
		ID: plugin.IDOf(s.base, s.folder), Path: s.path, Display: filepath.Join(l.o.Dir, s.base),
		Folder: s.folder,
	}
	m, _, err := l.o.Host.Dialects.Recognize(ctx, src)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if m != nil {
		s.manifest = *m
	}
	if s.folder && s.manifest.Identity != "" && plugin.LegalID(s.manifest.Identity) == s.manifest.Identity &&
		!plugin.Ignored(s.manifest.Identity) {
		s.base = s.manifest.Identity
	}
	p, ok := errors.AsType[*plugin.Problem](err)
	switch {
	case plugin.Ignored(s.base) || ok && p.Kind == "unavailable":
		return unknown()
	case ok && p.Kind == "refused": // it reaches out of its folder, or is too large
		return fault.New(fault.Invalid, "plugin.add", p.Message, p.Hint)
	}
	if ok && s.folder && slices.Contains([]string{".json", ".toml"}, filepath.Ext(p.File)) { // nothing names it
		return fault.New(fault.Invalid, "plugin.add", p.Error(), strings.TrimSpace(p.Hint+" Nothing was added."))
	}
	// One that is broken otherwise may be added, to be mended; its card says what
	// is wrong.
	return nil
}

// onlyScript returns the only file directly in a folder that is a plugin by itself, or "".
func (l *Library) onlyScript(ctx context.Context, dir string) string {
	sources, err := host.Sources(dir, l.o.Host.Dialects.Endings())
	if err != nil {
		return ""
	}
	only := ""
	for _, src := range sources {
		if src.Folder {
			continue
		}
		if m, _, err := l.o.Host.Dialects.Recognize(ctx, src); m == nil || err != nil {
			continue
		}
		if only != "" {
			return ""
		}
		only = filepath.Base(src.Path)
	}
	return only
}

// bounded checks the size of a plugin.
func bounded(path string) error {
	files, size := 0, int64(0)
	return filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil || info.IsDir() {
			return err
		}
		files++
		if size += info.Size(); files > plugin.MaxFiles || size > plugin.MaxBytes {
			return fault.New(fault.Invalid, "plugin.add",
				fmt.Sprintf("The plugin has more than %d files or %d MiB.", plugin.MaxFiles, plugin.MaxBytes>>20), "")
		}
		return nil
	})
}

// noLinksOut refuses a folder with a link that leads out of it, before the copy
// leaves such links away.
func noLinksOut(path string) error {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil //nolint:nilerr // the copy says so
	}
	return filepath.WalkDir(real, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name != real && watch.Ignored(entry.Name()) && entry.IsDir():
			return fs.SkipDir
		case entry.Type()&fs.ModeSymlink != 0 && !watch.Ignored(entry.Name()) && safefs.LeadsOut(real, name):
			return linksOut(real, name)
		}
		return nil
	})
}

func linksOut(path, name string) error {
	rel, _ := filepath.Rel(path, name)
	return fault.New(fault.Invalid, "plugin.add", "The plugin holds a link that leads out of its folder: "+
		filepath.ToSlash(rel)+".", "Do not use it, or put the file itself there.")
}

// stageCopy copies a plugin into the staging folder: the files that are read, shown and
// digested, and no others. What git, an editor or a shell would take for its own, such as
// .git, .vscode or .envrc, never comes to lie in the plugins folder, whichever way a
// plugin comes.
func stageCopy(from, stage string) (string, error) {
	info, err := os.Stat(from)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.add", "There is no file or folder "+from+".",
			"Check how it is written, or choose it.", err)
	}
	if err := noLinksOut(from); err != nil {
		return "", err
	}
	to := filepath.Join(stage, filepath.Base(from))
	if err := host.Copy(plugin.Source{Path: from, Folder: info.IsDir()}, nil, to); err != nil {
		return "", notCopied("plugin.add", from, stage, err)
	}
	if _, err := os.Lstat(to); err != nil { // an empty folder
		return to, nil
	}
	return to, bounded(to)
}

// notCopied is the fault of a plugin that could not be copied into a folder of Conclave's.
func notCopied(op, what, into string, err error) error {
	kind, why, hint := fault.Unavailable, "", ""
	switch at, ok := errors.AsType[*fs.PathError](err); {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		why, hint = "there is no space on the disk with "+into, "Make room there, then try again."
	case errors.Is(err, syscall.EFBIG):
		why = "files in " + into + " may not be that large"
		hint = "Raise the limit on the size of files (ulimit -f), then try again."
	case errors.Is(err, fs.ErrPermission) && ok:
		kind, why, hint = fault.Invalid, at.Path+" may not be read or written", "Check its permissions, then try again."
	default:
		kind, why, hint = fault.Invalid, err.Error(), "Check the plugin and the disk with "+into+", then try again."
	}
	return fault.Wrap(kind, op, "The plugin "+what+" could not be copied: "+why+".", hint, err)
}

// unzip unpacks an archive below stage and returns the plugin's file or folder:
// the only entry at its top, or a folder of the archive's name.
func unzip(from, stage string) (string, error) {
	archive, err := zip.OpenReader(from)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return "", fault.Wrap(fault.NotFound, "plugin.add", "There is no file "+from+".",
				"Check how it is written, or choose it.", err)
		}
		return "", fault.Wrap(fault.Invalid, "plugin.add", "The archive "+from+" cannot be read: it is damaged, or no .zip.",
			"Download or pack it again, or add the folder that it was made from.", err)
	}
	defer archive.Close() //nolint:errcheck // read only
	to := filepath.Join(stage, strings.TrimSuffix(filepath.Base(from), filepath.Ext(from)))
	if err := os.Mkdir(to, 0o700); err != nil {
		return "", err
	}
	root, err := os.OpenRoot(to)
	if err != nil {
		return "", err
	}
	defer root.Close() //nolint:errcheck // nothing is buffered
	if len(archive.File) > plugin.MaxFiles {
		return "",
			fault.New(fault.Invalid, "plugin.add",
				fmt.Sprintf("The archive %s holds %d files; a plugin may have %d.", from, len(archive.File), plugin.MaxFiles), "")
	}
	tooLarge := fault.New(fault.Invalid, "plugin.add",
		fmt.Sprintf("The archive %s holds more than %d MiB.", from, plugin.MaxBytes>>20), "")
	said := uint64(0) // what it says of itself, which may be a lie
	for _, f := range archive.File {
		if said += min(f.UncompressedSize64, plugin.MaxBytes+1); said > plugin.MaxBytes {
			return "", tooLarge
		}
	}
	left := int64(plugin.MaxBytes)
	for _, f := range archive.File {
		// Some programs write the separators of Windows.
		slashed := strings.ReplaceAll(f.Name, `\`, "/")
		name := filepath.FromSlash(slashed)
		switch {
		case !filepath.IsLocal(name):
			return "", fault.New(fault.Invalid, "plugin.add", "The archive "+from+" holds a path that leads out of it: "+f.Name+
				".", "Do not use it.")
		case f.FileInfo().IsDir(), strings.HasSuffix(slashed, "/"), strings.HasPrefix(slashed, "__MACOSX/"),
			slices.ContainsFunc(strings.Split(slashed, "/"), watch.Ignored):
			continue // made for its files, a Mac's, or no part of a plugin
		case !f.Mode().IsRegular():
			return "", fault.New(fault.Invalid, "plugin.add", "The archive "+from+
				" holds a link, or something else that is no file: "+f.Name+".", "Do not use it, or pack the file itself.")
		}
		n, err := unzipFile(root, f, name, left)
		if err != nil {
			return "", fault.Wrap(fault.Invalid, "plugin.add", "The archive "+from+" could not be unpacked at "+f.Name+
				".", "", err)
		}
		if left -= n; left <= 0 {
			return "", tooLarge
		}
	}
	entries, err := os.ReadDir(to)
	entries = slices.DeleteFunc(entries, func(e fs.DirEntry) bool { return watch.Ignored(e.Name()) })
	if err == nil && len(entries) == 1 {
		return filepath.Join(to, entries[0].Name()), nil
	}
	return to, err
}

func unzipFile(root *os.Root, f *zip.File, name string, left int64) (int64, error) {
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o700); err != nil {
			return 0, err
		}
	}
	in, err := f.Open()
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, left+1))
	return n, errors.Join(err, out.Close())
}
