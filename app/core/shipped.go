package core

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/plugin/watch"
	"conclave/plugins"
)

// shippedPlugins are the plugins that come with Conclave, in the plugins folder.
type shippedPlugins struct {
	dir      string
	host     *host.Host
	gate     *gate.Gate
	dialects []plugin.Dialect
	level    string // of their isolation
}

// approve approves those whose files nobody changed: their author is the one who asks.
func (s shippedPlugins) approve(ctx context.Context) error {
	known := map[string]bool{}
	for _, a := range s.gate.Approvals.List() {
		known[a.Plugin] = true
	}
	for id := range shippedIDs() {
		if known[id] {
			continue
		}
		version, ok, err := s.version(ctx, id)
		if err != nil || !ok {
			continue // changed, removed, or not readable: the person is asked
		}
		bundled := gate.ApproveOptions{Bundled: true, By: "comes with Conclave"}
		if err := s.gate.Approvals.Approve(ctx, version, bundled); err != nil {
			return err
		}
	}
	return nil
}

// shippedIDs returns the ids of the plugins that come with Conclave.
func shippedIDs() map[string]bool {
	out := map[string]bool{}
	entries, err := plugins.Files.ReadDir(".")
	if err != nil {
		return out
	}
	for _, e := range entries {
		if !e.IsDir() {
			out[strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))] = true
		}
	}
	return out
}

// version describes a plugin to the gate, if nobody changed its file.
func (s shippedPlugins) version(ctx context.Context, id string) (gate.PluginVersion, bool, error) {
	for _, ending := range s.host.Dialects.Endings() {
		came, err := plugins.Files.ReadFile(id + ending)
		if err != nil {
			continue
		}
		path := filepath.Join(s.dir, id+ending)
		lies, err := os.ReadFile(path)
		if err != nil || string(lies) != string(came) {
			return gate.PluginVersion{}, false, nil //nolint:nilerr // gone or changed: the person is asked
		}
		digest, _, err := watch.Digest(path)
		if err != nil {
			return gate.PluginVersion{}, false, err
		}
		src := plugin.Source{ID: id, Path: path, Display: path}
		for _, d := range s.dialects {
			if m, err := d.Recognize(ctx, src); err != nil || m != nil {
				version := gate.PluginVersion{
					Plugin: id, Name: id, Dialect: d.Facts().Name, Code: digest, Isolation: s.level,
				}
				if m != nil {
					version.Permissions = m.Permissions
				}
				return version, err == nil, err
			}
		}
	}
	return gate.PluginVersion{}, false, nil
}

// installShipped copies the plugins that come with Conclave into a plugins folder
// that does not exist yet, and reports whether it did. A folder that exists is the person's own and
// stays as it is, even when it is empty.
func installShipped(dir string) (bool, error) {
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		return false, notInstalled(dir, err)
	}
	// Written next to it and renamed, so that an incomplete copy is not taken for the person's own folder.
	temp := dir + ".new"
	if err := os.RemoveAll(temp); err != nil {
		return false, notInstalled(dir, err)
	}
	if err := os.MkdirAll(temp, 0o700); err != nil {
		return false, notInstalled(dir, err)
	}
	err := fs.WalkDir(plugins.Files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || path == "." {
			return err
		}
		to := filepath.Join(temp, filepath.FromSlash(path))
		if entry.IsDir() {
			return os.MkdirAll(to, 0o700)
		}
		text, err := plugins.Files.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(to, text, 0o600)
	})
	if err == nil {
		err = os.Rename(temp, dir)
	}
	return err == nil, notInstalled(dir, err)
}

// notInstalled returns the fault of a plugins folder that could not be made, or nil without err.
func notInstalled(dir string, err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(fault.Unavailable, "core.plugins", "The plugins folder "+dir+" cannot be made.",
		"Check the space on its disk and the permissions of the folder above it, then start Conclave again.", err)
}
