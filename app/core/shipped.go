package core

import (
	"context"
	"os"
	"path/filepath"

	"conclave/app/permit"
	"conclave/app/plugin/watch"
	"conclave/plugins"
)

// shippedCandidate describes a shipped plugin to the gate, if its file is as it
// came.
func (c *Core) shippedCandidate(_ context.Context, id string) (permit.Candidate, bool, error) {
	for _, ending := range []string{".py", ".js"} {
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
		contract := map[string]string{".py": "functions", ".js": "spindle"}[ending]
		candidate := permit.Candidate{Plugin: id, Name: id, Contract: contract, Code: digest, Isolation: c.launcher.Confinement().Level}
		if contract == "spindle" {
			candidate.Permissions = []string{"tools"}
		}
		return candidate, true, err
	}
	return permit.Candidate{}, false, nil
}
