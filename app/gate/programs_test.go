package gate_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
)

func TestOfAProgramTheFolderIsRealAndItsNameStays(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	bin, linked := filepath.Join(dir, "bin"), filepath.Join(dir, "linked")
	must(t, os.Mkdir(bin, 0o700))
	must(t, os.WriteFile(filepath.Join(bin, "sh"), []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // a program
	must(t, os.WriteFile(filepath.Join(bin, "text"), []byte("x"), 0o600))
	must(t, os.Symlink("sh", filepath.Join(bin, "a")))
	must(t, os.Symlink(bin, linked))
	t.Setenv("PATH", linked)
	for _, name := range []string{"a", "./a", "../linked/a", filepath.Join(linked, "a")} {
		if path, found := gate.ProgramFile(name, linked); !found || path != filepath.Join(bin, "a") {
			t.Errorf("%s is %s, %v", name, path, found)
		}
	}
	for _, name := range []string{"text", "./text", "./absent", "absent", "."} {
		if path, found := gate.ProgramFile(name, linked); found {
			t.Errorf("%s is %s", name, path)
		}
	}
}

func TestAProgramIsGrantedByItsFileAndTakenBack(t *testing.T) {
	g := approvedNotes(t)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	tool, link, plain := filepath.Join(dir, "tool"), filepath.Join(dir, "link"), filepath.Join(dir, "plain")
	must(t, os.WriteFile(tool, []byte("#!/bin/sh\n"), 0o700)) //nolint:gosec // a program
	must(t, os.WriteFile(plain, []byte("x"), 0o600))
	must(t, os.Symlink(tool, link))
	t.Setenv("PATH", dir)
	for name, refused := range map[string]string{
		"nothing there": "absent", "no program": plain, "a folder": dir, "no absolute path": "./tool", "a key": "~/.ssh/tool",
	} {
		if _, err := g.Reach.AllowProgram(t.Context(), "notes", refused); fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	granted := func() bool { all, _ := g.Reach.Permissions("notes"); return slices.Contains(all, gate.Programs) }
	if granted() || g.Reach.Programs("notes") != nil {
		t.Error("something is granted before anything was")
	}
	must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Programs, gate.Allow))
	if !granted() || g.Reach.Programs("notes") != nil {
		t.Error("all programs are not all")
	}
	for _, name := range []string{"tool", link, tool} {
		path, err := g.Reach.AllowProgram(t.Context(), "notes", name)
		if err != nil || path != tool || !granted() || !slices.Equal(g.Reach.Programs("notes"), []string{tool}) {
			t.Errorf("%s: %s, %v, may start %v", name, path, err, g.Reach.Programs("notes"))
		}
	}
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	if len(rules) != 1 || gate.Sentence(rules[0], "Notes") != "Notes may start "+tool {
		t.Errorf("kept %+v", rules)
	}
	must(t, os.Remove(link), os.Remove(tool))
	must(t, g.Reach.RevokeProgram(t.Context(), "notes", tool)) // though it is gone
	if granted() || g.Reach.Programs("notes") != nil {
		t.Error("it stays granted")
	}
	if err := g.Reach.RevokeProgram(t.Context(), "notes", tool); fault.KindOf(err) != fault.NotFound {
		t.Error(err)
	}
}
