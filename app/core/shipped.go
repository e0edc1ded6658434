package core

import (
	"context"
	"os"
	"path/filepath"

	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/plugin/watch"
	"conclave/plugins"
)

// shippedCandidate describes a shipped plugin to the gate, if its file is as it
// came.
func (c *Core) shippedCandidate(ctx context.Context, id string) (permit.Candidate, bool, error) {
	for _, ending := range c.Host.Endings() {
		came, err := plugins.Files.ReadFile(id + ending)
		if err != nil {
			continue
		}
		path := filepath.Join(c.o.Plugins, id+ending)
		lies, err := os.ReadFile(path)
		if err != nil || string(lies) != string(came) {
			return permit.Candidate{}, false, nil //nolint:nilerr // gone or changed: the person is asked
		}
		digest, _, err := watch.Digest(path)
		if err != nil {
			return permit.Candidate{}, false, err
		}
		src := plugin.Source{ID: id, Path: path, Display: path}
		for _, d := range c.dialects {
			if m, err := d.Recognize(ctx, src); err != nil || m != nil {
				candidate := permit.Candidate{
					Plugin: id, Name: id, Contract: d.Facts().Contract, Code: digest, Isolation: c.launcher.Confinement().Level,
				}
				if m != nil {
					candidate.Permissions = m.Permissions
				}
				return candidate, err == nil, err
			}
		}
	}
	return permit.Candidate{}, false, nil
}
