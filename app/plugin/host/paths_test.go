package host

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// A folder of an environment, of the runtime or of the storage that is a link, at each
// level: what Conclave made holds none, so none is granted.
func TestNoLinkBelowConclavesDataIsGranted(t *testing.T) {
	const site = "environments/p/env-1/lib/python3.12/site-packages"
	for level, link := range map[string]string{
		"site-packages": site, "python": filepath.Dir(site), "lib": "environments/p/env-1/lib",
		"the environment":           "environments/p/env-1",
		"the plugin's environments": "environments/p", "the storage": "storage/p", "all storages": "storage",
		"the cache": "runtime/built/p", "the copies": "last-good/p",
	} {
		t.Run(level, func(t *testing.T) {
			data, outside := t.TempDir(), t.TempDir()
			path := filepath.Join(data, link)
			must(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.Symlink(outside, path)))
			for what, spec := range map[string]*sandbox.Spec{
				"read": {Read: []string{path}}, "write": {Write: []string{path}},
				"execute": {Execute: []string{path}},
			} {
				err := resolve(spec, plugin.Source{
					Path:    filepath.Join(data, "plugins", "p"),
					Display: filepath.Join(data, "plugins", "p"),
				}, data)
				if p, ok := errors.AsType[*plugin.Problem](err); !ok || p.Kind != "refused" {
					t.Errorf("%s: got %v", what, err)
				}
			}
		})
	}
}

func TestWhatLiesInThePluginsFolderIsGrantedAsItIs(t *testing.T) {
	data, dir := t.TempDir(), t.TempDir()
	folder, err := filepath.EvalSymlinks(dir)
	must(t, err)
	inner := filepath.Join(folder, "v2")
	must(t, errors.Join(os.Mkdir(inner, 0o700), os.Symlink("v2", filepath.Join(folder, "current"))))
	spec := &sandbox.Spec{Read: []string{filepath.Join(folder, "current"), filepath.Join(folder, "nothing"), "/usr/lib"}}
	if err := resolve(spec, plugin.Source{Path: folder, Display: folder}, data); err != nil ||
		!slices.Equal(spec.Read, []string{inner, "/usr/lib"}) {
		t.Errorf("got %v, %v", spec.Read, err)
	}
}
