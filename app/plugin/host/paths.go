package host

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"

	"conclave/app/base/place"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

// leaveOut takes the places out of spec for which no sandbox is opened unasked, such as those of keys and whatever
// holds them: a dialect opens what a configuration names, and what lies next to a program. It makes the paths that stay
// the real ones. What Conclave prepared for the plugin stays as it is.
func (e *entry) leaveOut(spec *sandbox.Spec, start plugin.StartOptions) {
	prepared := slices.Concat([]string{e.files.copies, start.Storage, start.Runtime}, start.Site)
	for _, paths := range []*[]string{&spec.Read, &spec.Execute} {
		stay := make([]string, 0, len(*paths))
		for _, path := range *paths {
			if slices.ContainsFunc(prepared, func(in string) bool { return in != "" && place.Inside(in, path) }) {
				stay = append(stay, path)
				continue
			}
			if !filepath.IsAbs(path) || !start.Opens(path) {
				e.logs("warn", "It does not read "+path+" unasked: that is a place of keys, passwords or Conclave, holds one, "+
					"or is refused by a rule.")
				continue
			}
			real := place.Real(path)
			stay = append(stay, real)
			spec.Exact = append(spec.Exact, real)
		}
		*paths = stay
	}
}

// opensUnasked implements plugin.StartOptions.Opens.
func (e *entry) opensUnasked(path string) bool {
	return e.h.o.Gate.Reach.OpensUnasked(e.grantee(), place.Real(path))
}

// resolve makes the paths of spec that lie in the plugin's folder, or in
// Conclave's data, the real ones, so that the sandbox is opened for what was looked
// at. A plugin's folder may hold links that came with it: one that leads out of the
// folder is refused, and so is any link below Conclave's data, where Conclave makes
// none. What lies elsewhere is the machine's, or the person named it. The error is
// a *Problem of kind refused.
func resolve(spec *sandbox.Spec, src plugin.Source, data string) error {
	for _, paths := range []*[]string{&spec.Read, &spec.Execute, &spec.Write} {
		real := make([]string, 0, len(*paths))
		for _, path := range *paths {
			found, ours, err := resolved(path, src, data)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				continue // there is nothing to open
			case err != nil:
				return err
			}
			real = append(real, found)
			if ours {
				spec.Exact = append(spec.Exact, found)
			}
		}
		*paths = real
	}
	return nil
}

// resolved is resolve of one path. ours reports that it lies in the plugin's folder or in
// Conclave's data, so that what it returns holds no link.
func resolved(path string, src plugin.Source, data string) (real string, ours bool, _ error) {
	for _, folder := range []string{src.Path, src.Display} {
		if folder == "" || !place.Inside(folder, path) {
			continue
		}
		top, err := filepath.EvalSymlinks(folder) // the person may have put a link into the plugins folder
		if err != nil {
			return "", false, err
		}
		real, err = filepath.EvalSymlinks(path)
		if err != nil {
			return "", false, err
		}
		if !place.Inside(top, real) {
			return "", false, leads(path)
		}
		return real, true, nil
	}
	if !place.Inside(data, path) {
		return path, false, nil
	}
	top, err := filepath.EvalSymlinks(data)
	if err != nil {
		return "", false, err
	}
	real, err = filepath.EvalSymlinks(path)
	if err != nil {
		return "", false, err
	}
	if rel, err := filepath.Rel(data, path); err != nil || real != filepath.Join(top, rel) {
		return "", false, leads(path)
	}
	return real, true, nil
}

// leads is the problem of a path that leads over a link to another place.
func leads(path string) *plugin.Problem {
	return &plugin.Problem{
		Kind: "refused", File: filepath.Base(path),
		Message: path +
			" is a link, or lies behind one, that leads to another place, so the plugin was not started: it could have " +
			"read what lies there.",
		Hint: "Put the files themselves there, or delete the link; then reload the plugin.",
	}
}
