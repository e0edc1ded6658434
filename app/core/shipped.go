package core

import (
	"context"
	"os"
	"path/filepath"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/watch"
	"conclave/plugins"
)

// shippedVersion describes a shipped plugin to the gate, if its file is as it
// came.
func (c *Core) shippedVersion(ctx context.Context, id string) (gate.PluginVersion, bool, error) {
	for _, ending := range c.Host.Endings() {
		came, err := plugins.Files.ReadFile(id + ending)
		if err != nil {
			continue
		}
		path := filepath.Join(c.o.Plugins, id+ending)
		lies, err := os.ReadFile(path)
		if err != nil || string(lies) != string(came) {
			return gate.PluginVersion{}, false, nil //nolint:nilerr // gone or changed: the person is asked
		}
		digest, _, err := watch.Digest(path)
		if err != nil {
			return gate.PluginVersion{}, false, err
		}
		src := plugin.Source{ID: id, Path: path, Display: path}
		for _, d := range c.dialects {
			if m, err := d.Recognize(ctx, src); err != nil || m != nil {
				version := gate.PluginVersion{
					Plugin: id, Name: id, Dialect: d.Facts().Name, Code: digest, Isolation: c.launcher.Confinement().Level,
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
