package host

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"

	"conclave/app/base/place"
	"conclave/app/gate"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
)

// changeArgs are those of the service files.change {do, path, to?}: what the system refused to a
// process, done for it once the gate says so. do is mkdir, rmdir, unlink or rename; of paths the
// last part is not followed where it is a link. It returns {}, or {errno} of the system.
type changeArgs struct {
	Do   string `json:"do"`
	Path string `json:"path"`
	To   string `json:"to"`
}

// changed is the answer to a change.
type changed struct {
	Errno int `json:"errno,omitempty"`
}

// changeFile answers files.change.
func (s *session) changeFile(ctx context.Context, args json.RawMessage, call string) (any, error) {
	var a changeArgs
	if err := json.Unmarshal(args, &a); err != nil {
		return nil, hostError("invalid", "The arguments of files.change cannot be read.")
	}
	denied := hostError("denied", "PERMISSION_DENIED: "+gate.Filesystem)
	base := s.r.spec.Load()
	if base == nil || base.Open == nil || s.r.h.o.Launcher.Confinement().Level != "process+landlock" {
		return nil, denied
	}
	paths := []string{a.Path}
	switch a.Do {
	case "mkdir", "rmdir", "unlink":
	case "rename":
		paths = append(paths, a.To)
	default:
		return nil, hostError("invalid", "There is no change “"+shownFile(a.Do)+"”.")
	}
	for i, path := range paths {
		real, err := named(path)
		if err != nil {
			return nil, denied
		}
		paths[i] = real
	}
	for i, path := range paths {
		change := gate.Opening{Path: path, Write: true, Remove: a.Do == "unlink" || a.Do == "rmdir"}
		if opened, _ := s.r.opens(ctx, change, call, "change files in "); opened != sandbox.Opened {
			return nil, denied
		}
		if place.Inside(s.r.h.o.Data, path) || i == 1 && path == paths[0] {
			return nil, denied
		}
	}
	if err := change(a.Do, paths); err != nil {
		if number, ok := errors.AsType[syscall.Errno](err); ok {
			return changed{int(number)}, nil
		}
		return nil, hostError("failed", "It could not be done.")
	}
	s.r.e.memory.mayRepeat(savedState{Outside: true})
	return changed{}, nil
}

// named returns where a path leads whose last part is not followed.
func named(path string) (string, error) {
	path = filepath.Clean(path)
	name := filepath.Base(path)
	if !filepath.IsAbs(path) || !filepath.IsLocal(name) || strings.ContainsRune(path, 0) {
		return "", fs.ErrInvalid
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	return filepath.Join(folder, name), err
}

// change does what was allowed, at paths that lead over no link.
func change(do string, paths []string) error {
	folder := filepath.Dir(paths[0])
	for _, path := range paths {
		for !place.Inside(folder, filepath.Dir(path)) {
			folder = filepath.Dir(folder)
		}
	}
	in, err := safefs.OpenExact(folder)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // nothing is buffered
	names := make([]string, len(paths))
	for i, path := range paths {
		if names[i], err = filepath.Rel(folder, path); err != nil {
			return err
		}
	}
	switch do {
	case "mkdir":
		return in.MakeOne(names[0])
	case "rename":
		return in.Rename(names[0], names[1])
	}
	info, err := in.Lstat(names[0])
	switch {
	case err != nil:
		return err
	case do == "unlink" && info.IsDir():
		return syscall.EISDIR
	case do == "rmdir" && !info.IsDir():
		return syscall.ENOTDIR
	}
	return in.RemoveOne(names[0])
}
