//go:build linux

package hosttest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/test/programtest"
)

const homely = `
import os
from pathlib import Path

def exists() -> str:
    "Look whether it is there."
    file = Path.home() / ".something" / "rc"
    return file.read_text() if file.exists() else "nothing there"

def opens() -> str:
    "Open it."
    try:
        return open(os.path.expanduser("~/.something/rc")).read()
    except FileNotFoundError:
        return "nothing there"

def lists() -> str:
    "List its folder."
    folder = os.path.expanduser("~/.something")
    return " ".join(os.listdir(folder)) if os.path.isdir(folder) else "nothing there"

def other() -> str:
    "Look for what nobody has."
    return str(os.path.exists(os.path.expanduser("~/.nobody")))

def keys() -> str:
    "Look for keys."
    return str(os.path.exists(os.path.expanduser("~/.ssh/id_rsa")))
`

func TestAPluginThatLooksAtThePersonsHomeIsSaidToAndFindsThereWhatWasGranted(t *testing.T) {
	home := real(t)
	t.Setenv("HOME", home)
	folder := filepath.Join(home, ".something")
	must(t, os.MkdirAll(filepath.Join(home, ".ssh"), 0o700), os.Mkdir(folder, 0o700),
		os.WriteFile(filepath.Join(home, ".ssh", "id_rsa"), []byte("key"), 0o600),
		os.WriteFile(filepath.Join(folder, "rc"), []byte("mine"), 0o600))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", homely)
	c.approved("notes")
	s, err := c.host.Status("notes")
	must(t, err)
	if !slices.ContainsFunc(s.Notes, func(note string) bool {
		return strings.HasPrefix(note, "Its source looks at your home folder (~/.something)") &&
			strings.HasSuffix(note, "conclave plugins grant notes filesystem --match path="+folder)
	}) {
		t.Errorf("its card says %q", s.Notes)
	}
	for name, want := range map[string]string{
		"exists": filepath.Join(folder, "rc"), "opens": filepath.Join(folder, "rc"), "lists": folder,
	} {
		got := c.said("notes:"+name, "{}")
		if !strings.HasPrefix(got, "nothing there") ||
			!strings.HasSuffix(got, "conclave plugins grant notes filesystem --match path="+want) {
			t.Errorf("%s: %q", name, got)
		}
	}
	for _, name := range []string{"other", "keys"} { // of which nothing is said, whether they are there or not
		if got := c.said("notes:"+name, "{}"); got != "False" {
			t.Errorf("%s: %q", name, got)
		}
	}
	s, err = c.host.Status("notes")
	must(t, err)
	if len(s.Refused) != 2 || s.Refused[0].Permission != gate.Filesystem || s.Refused[0].Write {
		t.Errorf("its card counts %+v", s.Refused)
	}
	hidden := gate.Folder{Path: "~/.something", Write: true}
	if _, err := c.gate.Reach.GrantFolder(t.Context(), "notes", hidden); err == nil {
		t.Error("a hidden folder was granted for writing")
	}
	_, err = c.gate.Reach.GrantFolder(t.Context(), "notes", gate.Folder{Path: "~/.something"})
	must(t, err)
	for name, want := range map[string]string{"exists": "mine", "opens": "mine", "lists": "rc"} {
		c.answers("notes:"+name, "{}", want)
	}
	s, err = c.host.Status("notes")
	must(t, err)
	about := func(note string) bool { return strings.Contains(note, "home folder") }
	if len(s.Refused) != 0 || slices.ContainsFunc(s.Notes, about) {
		t.Errorf("after the grant its card says %q and counts %+v", s.Notes, s.Refused)
	}
	must(t, c.gate.Reach.RevokeFolder(t.Context(), "notes", "~/.something"))
	if got := c.said("notes:opens", "{}"); strings.Contains(got, "mine") {
		t.Errorf("taken back: %q", got)
	}
}

func TestARefusalThatReachesThePluginAsNothingIsSaidToo(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(real(t), "letters")
	must(t, os.Mkdir(folder, 0o700), os.WriteFile(filepath.Join(folder, "a"), []byte("x"), 0o600))
	c := open(t, t.TempDir(), t.TempDir())
	programtest.Walls(t, c.launcher.Confinement())
	c.write("notes.py", `
import glob, os, ssl

def finds(folder: str) -> str:
    "Find files."
    return str(glob.glob(folder + "/*"))

def walks(folder: str) -> str:
    "Walk."
    return str(sum(len(files) for _, _, files in os.walk(folder)))

def certificates() -> str:
    "Open what C opens."
    paths = ssl.get_default_verify_paths()
    context = ssl.create_default_context()
    for file in (paths.cafile, "/etc/ssl/certs/ca-certificates.crt"):
        if file and os.path.exists(file):
            context.load_verify_locations(file)
    return "read"
`)
	c.approved("notes")
	for name, nothing := range map[string]string{"finds": "[]", "walks": "0"} {
		got := c.said("notes:"+name, object(t, "folder", folder))
		if !strings.HasPrefix(got, nothing) ||
			!strings.HasSuffix(got, "conclave plugins grant notes filesystem --match path="+folder) {
			t.Errorf("%s: %q", name, got)
		}
	}
	c.answers("notes:certificates", "{}", "read")
}
