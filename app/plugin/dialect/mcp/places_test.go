package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/chat"
)

func TestAttackAConfigurationOpensPlacesOfKeysForItsServer(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, path := range []string{".ssh/id", ".local/share/keyrings/login", ".local/share/notes", "diary", "code/readme"} {
		write(t, filepath.Join(home, path), "mine")
	}
	write(t, filepath.Join(home, ".aws/credentials"), "aws_key = mine")
	write(t, filepath.Join(home, "code/.env"), "LEVEL=debug")
	must(t, os.MkdirAll(filepath.Join(home, ".local/bin"), 0o700))
	must(t, os.Symlink(python, filepath.Join(home, ".local/bin/py")))

	b := newBench(t)
	one := b.entry("+look", "--directory", filepath.Join(home, ".ssh"))
	one["command"], one["cwd"] = filepath.Join(home, ".local/bin/py"), home
	two := b.entry("+look", "+env", "--directory="+b.data)
	two["cwd"], two["envFile"] = filepath.Join(home, "code"), filepath.Join(home, "code/.env")
	three := b.entry()
	three["envFile"] = filepath.Join(home, ".aws/credentials")
	four := b.entry()
	four["envFile"] = "/proc/self/environ"
	b.save("a.mcp.json", map[string]any{"one": one, "two": two, "three": three, "four": four})
	said := strings.Join(b.status("a-two").Manifest.Notices, " ")
	if !strings.Contains(said, home+"/code, and may read it") || !strings.Contains(said, "code/.env") {
		t.Errorf("before the approval its card says %q", said)
	}
	b.approve("a-one", "a-two", "a-three", "a-four")
	for _, path := range []string{
		".ssh/id", ".local/share/keyrings/login", ".local/share/notes", "diary", ".aws/credentials",
	} {
		b.says("a-one:look", `{"path":"`+filepath.Join(home, path)+`"}`, "refused")
	}
	b.says("a-two:look", `{"path":"`+filepath.Join(home, "code/readme")+`"}`, "mine")
	b.says("a-two:look", `{"path":"`+filepath.Join(b.data, "conclave.db")+`"}`, "refused")
	if got := chat.TextOf(b.call(t.Context(), "a-two:env", "{}").Content); !strings.Contains(got, `"LEVEL": "debug"`) {
		t.Errorf("the file of variables in its project gives it %s", got)
	}
	for _, id := range []string{"a-three", "a-four"} {
		if p := b.status(id).Problem; p == nil || !strings.Contains(p.Message, "file of variables cannot be read") {
			t.Errorf("%s: %+v", id, p)
		}
	}
	t.Log("stopped by: no sandbox is opened unasked for a place of keys, or for a folder that holds one")
}
