package chat_test

import (
	"os"
	"path/filepath"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

func TestAProjectIsTheFolderAChatIsBegunIn(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("HOME", home)
	t.Setenv("USERPROFILE", home)
	notes := filepath.Join(home, "Notes")
	link := filepath.Join(home, "link")
	if err := os.Mkdir(notes, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(notes, link); err != nil {
		t.Skip("no links here:", err)
	}
	root := filepath.VolumeName(home) + string(filepath.Separator)
	for folder, want := range map[string]string{
		notes: notes, link: notes, notes + "/../Notes/": notes, filepath.Join(home, "gone"): filepath.Join(home, "gone"),
		home: "", filepath.Dir(home): "", root: "", "Notes": "", "": "",
	} {
		if got := chat.ProjectOf(folder); got != want {
			t.Errorf("of %q the project is %q, want %q", folder, got, want)
		}
	}
	for folder, want := range map[string]fault.Kind{
		notes: "", home: fault.Invalid, "Notes": fault.Invalid, filepath.Join(home, "gone"): fault.Invalid, "": fault.Invalid,
	} {
		got, err := chat.OpenProject(folder)
		if want != "" && fault.KindOf(err) != want || want == "" && (err != nil || got != folder) {
			t.Errorf("%q is opened as %q, %v", folder, got, err)
		}
	}
}
