package place_test

import (
	"os"
	"path/filepath"
	"testing"

	"conclave/app/base/place"
	"conclave/app/test/testkit"
)

func TestAFolderHoldsItselfAndWhatLiesInIt(t *testing.T) {
	folder := filepath.Join(string(filepath.Separator), "home", "ada")
	for path, want := range map[string]bool{
		".": true, "notes": true, "..notes": true, filepath.Join("notes", "..", "x"): true, "..": false,
		filepath.Join("..", "adam"): false, filepath.Join("notes", "..", "..", "bo"): false,
	} {
		if got := place.Inside(folder, folder+string(filepath.Separator)+path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}

func TestLinksAreFollowedAsFarAsThereIsAPath(t *testing.T) {
	here, err := filepath.EvalSymlinks(t.TempDir())
	testkit.Must(t, err)
	testkit.Must(t, os.MkdirAll(filepath.Join(here, "far", "away"), 0o700))
	testkit.Must(t, os.Symlink(filepath.Join(here, "far", "away"), filepath.Join(here, "near")))
	for path, want := range map[string]string{
		"near/new/file": "far/away/new/file", "near/..": "far", "near/../x": "far/x", "none/../near": "far/away",
		"./near/": "far/away",
	} {
		if got := place.Real(here + "/" + path); got != filepath.Join(here, filepath.FromSlash(want)) {
			t.Errorf("%s leads to %s", path, got)
		}
	}
}

func TestAFolderHoldsWhatLiesInItByAnyName(t *testing.T) {
	here := t.TempDir()
	in := func(name string) string { return filepath.Join(here, filepath.FromSlash(name)) }
	testkit.Must(t, os.MkdirAll(in("kept/deep"), 0o700), os.WriteFile(in("kept/file"), nil, 0o600))
	testkit.Must(t, os.Symlink(in("kept"), in("moved")), os.Link(in("kept/file"), in("second")))
	for name, want := range map[string]struct{ folder, path string }{
		"itself": {"kept", "kept"}, "what is not there yet": {"kept", "kept/new"}, "over a link": {"kept", "moved/deep/new"},
		"of a link": {"moved", "kept/deep"}, "a second name": {"kept/file", "second"},
	} {
		if !place.Holds(in(want.folder), in(want.path)) {
			t.Errorf("%s: not held", name)
		}
	}
	for folder, path := range map[string]string{
		"kept": "second", "kept/deep": "moved", "nothing": "kept", "moved/deep": "x",
	} {
		if place.Holds(in(folder), in(path)) {
			t.Errorf("%s holds %s", folder, path)
		}
	}
}
