package plugin

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"conclave/app/fault"
)

// Bounds of what Add unpacks, so that a small archive cannot fill a disk.
const (
	maxUnpacked      = 256 << 20
	maxUnpackedFiles = 5000
)

// Add copies a plugin into the plugins folder: a file, a folder, a .zip, or the
// https address of a git repository. It returns the new plugin's id; nothing of
// it has run. Kind conflict when a plugin of that name is there.
func (h *Host) Add(ctx context.Context, from string) (string, error) {
	if err := os.MkdirAll(h.o.Dir, 0o700); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "The plugins folder "+h.o.Dir+" cannot be made.", "", err)
	}
	// Beside the folder, so that the last step is a rename and half of a plugin
	// is never seen.
	stage, err := os.MkdirTemp(h.o.Data, "adding-")
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "There is no place to unpack the plugin.", "Check the disk's space.", err)
	}
	defer os.RemoveAll(stage) //nolint:errcheck // empty, or of no further use
	var staged string
	switch {
	case strings.Contains(from, "://"):
		staged, err = clone(ctx, from, stage)
	case strings.EqualFold(filepath.Ext(from), ".zip"):
		staged, err = unzip(from, stage)
	default:
		staged, err = stageCopy(from, stage)
	}
	if err != nil {
		return "", err
	}
	to := filepath.Join(h.o.Dir, filepath.Base(staged))
	if err := h.addable(ctx, staged, to); err != nil {
		return "", err
	}
	if err := move(staged, to); err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "The plugin could not be moved into "+h.o.Dir+".", "", err)
	}
	if err := h.Scan(); err != nil {
		return "", err
	}
	return h.Find(filepath.Base(to))
}

// addable says why what is staged cannot become the plugin at to, or nil.
func (h *Host) addable(ctx context.Context, staged, to string) error {
	base := filepath.Base(to)
	unknown := fault.New(fault.Invalid, "plugin.add", base+" is no plugin that Conclave knows.", "A plugin is a .py, .js or .ts file, or a folder with spindle.json or Python functions.")
	info, err := os.Stat(staged)
	if err != nil { // an empty folder
		return unknown
	}
	src := Source{ID: idOf(base, info.IsDir()), Path: staged, Display: to, Folder: info.IsDir()}
	if _, err := os.Lstat(to); err == nil || h.entry(src.ID) != nil {
		return fault.New(fault.Conflict, "plugin.add", "There is a plugin "+src.ID+" already.", "Remove it first: conclave plugins remove "+src.ID+".")
	}
	_, _, err = h.recognize(ctx, src)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	// One that is broken may be added, to be mended; its card says what is wrong.
	if p, ok := errors.AsType[*Problem](err); ok && p.Kind == "unavailable" || Ignored(base) {
		return unknown
	}
	return nil
}

func stageCopy(from, stage string) (string, error) {
	info, err := os.Stat(from)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "plugin.add", "There is no file or folder "+from+".", "", err)
	}
	to := filepath.Join(stage, filepath.Base(from))
	if err := copyTree(Source{Path: from, Folder: info.IsDir()}, to); err != nil {
		return "", fault.Wrap(fault.Invalid, "plugin.add", "The plugin "+from+" could not be copied.", "", err)
	}
	return to, nil
}

// clone fetches a repository with the system's git: over https only, without
// history, submodules, hooks or a question.
func clone(ctx context.Context, address, stage string) (string, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return "", fault.New(fault.Invalid, "plugin.add", "A plugin is fetched over https only, and "+address+" is something else.", "Write it like https://example.org/name.git, without a password.")
	}
	name := strings.TrimSuffix(filepath.Base(u.Path), ".git")
	if name == "" || name == "/" || name == "." {
		return "", fault.New(fault.Invalid, "plugin.add", "The address "+address+" names no repository.", "")
	}
	to := filepath.Join(stage, name)
	cmd := exec.CommandContext(ctx, "git", "-c", "core.hooksPath=/dev/null", "-c", "protocol.allow=never", "-c", "protocol.https.allow=always",
		"clone", "--quiet", "--depth", "1", "--no-recurse-submodules", "--", u.String(), to)
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0")
	out, err := cmd.CombinedOutput()
	if errors.Is(err, exec.ErrNotFound) {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "git was not found, so nothing can be fetched.", "Install git, or download the plugin and add its folder.", err)
	}
	if err != nil {
		return "", fault.Wrap(fault.Unavailable, "plugin.add", "git could not fetch "+address+": "+lastLines(string(out), 1), "", err)
	}
	return to, os.RemoveAll(filepath.Join(to, ".git"))
}

// unzip unpacks an archive below stage and returns the plugin's file or folder:
// the only entry at its top, or a folder of the archive's name.
func unzip(from, stage string) (string, error) {
	archive, err := zip.OpenReader(from)
	if err != nil {
		if errors.Is(err, os.ErrNotExist) {
			return "", fault.Wrap(fault.NotFound, "plugin.add", "There is no file "+from+".", "", err)
		}
		return "", fault.Wrap(fault.Invalid, "plugin.add", "The archive "+from+" cannot be read.", "", err)
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
	if len(archive.File) > maxUnpackedFiles {
		return "", fault.New(fault.Invalid, "plugin.add", fmt.Sprintf("The archive %s holds %d files; a plugin may have %d.", from, len(archive.File), maxUnpackedFiles), "")
	}
	left := int64(maxUnpacked)
	for _, f := range archive.File {
		if f.FileInfo().IsDir() || !f.Mode().IsRegular() {
			continue
		}
		name := filepath.FromSlash(f.Name)
		if !filepath.IsLocal(name) {
			return "", fault.New(fault.Invalid, "plugin.add", "The archive "+from+" holds a path that leads out of it: "+f.Name+".", "Do not use it.")
		}
		n, err := unzipFile(root, f, name, left)
		if err != nil {
			return "", fault.Wrap(fault.Invalid, "plugin.add", "The archive "+from+" could not be unpacked at "+f.Name+".", "", err)
		}
		if left -= n; left <= 0 {
			return "", fault.New(fault.Invalid, "plugin.add", fmt.Sprintf("The archive %s holds more than %d MiB.", from, maxUnpacked>>20), "")
		}
	}
	entries, err := os.ReadDir(to)
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
	defer in.Close() //nolint:errcheck // read only
	out, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, left+1))
	return n, errors.Join(err, out.Close())
}
