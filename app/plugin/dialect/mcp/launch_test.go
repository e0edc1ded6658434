package mcp

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"conclave/app/plugin/dialect/mcp/config"
	"conclave/app/test/testkit"
)

func TestMC114OnlyTheProjectOfAScriptIsOpenedForIt(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	testkit.Write(t, filepath.Join(home, "code/srv/package.json"), "{}")
	testkit.Write(t, filepath.Join(home, "code/srv/dist/index.js"), "")
	testkit.Write(t, filepath.Join(home, "alone.py"), "")
	testkit.Write(t, filepath.Join(home, "docs/notes.sqlite"), "")
	testkit.Write(t, filepath.Join(home, "npm/node_modules/@a/b/dist/x.mjs"), "")
	for name, c := range map[string]struct{ args, want []string }{
		"a script of a project": {[]string{home + "/code/srv/dist/index.js"}, []string{home + "/code/srv"}},
		"one in the home":       {[]string{home + "/alone.py"}, []string{home + "/alone.py"}},
		"data":                  {[]string{home + "/docs/notes.sqlite", home + "/docs"}, nil},
		"an installed package": {
			[]string{home + "/npm/node_modules/@a/b/dist/x.mjs"}, []string{home + "/npm/node_modules/"},
		},
		"a folder of code": {[]string{"--directory", home + "/code", "run"}, []string{home + "/code"}},
		"the home as code": {[]string{"--directory=" + home}, nil},
	} {
		if got := named(os.TempDir(), c.args); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if !broad("/tmp") || !broad("/") || broad("/opt/x") {
		t.Error("a folder right below the root is no project")
	}
}

func TestMC114AProgramReadsItsInstallationAndNoTokenNextToIt(t *testing.T) {
	home := t.TempDir()
	t.Setenv("HOME", home)
	for _, folder := range []string{".cargo/bin", ".local/bin", ".local/lib", "node/bin"} {
		testkit.Write(t, filepath.Join(home, folder, "x"), "")
	}
	for path, want := range map[string][]string{
		".cargo/bin/x": {home + "/.cargo/bin"},
		".local/bin/x": {home + "/.local/bin", home + "/.local/lib"},
		"node/bin/x":   {home + "/node"},
	} {
		if got := homeOf(filepath.Join(home, path)); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

func TestMC14ACommandOfNpxIsRead(t *testing.T) {
	for name, c := range map[string]struct {
		args      []string
		spec, bin string
		ok        bool
	}{
		"plain":            {[]string{"-y", "@a/b@1.2", "--x"}, "@a/b@1.2", "", true},
		"with a package":   {[]string{"--yes", "--package=@a/b", "tool", "x"}, "@a/b", "tool", true},
		"two packages":     {[]string{"-p", "a", "-p", "b", "tool"}, "", "", false},
		"a call":           {[]string{"-c", "rm x"}, "", "", false},
		"an address":       {[]string{"-y", "github:a/b"}, "", "", false},
		"a path":           {[]string{"../evil"}, "", "", false},
		"nothing to start": {[]string{"-y"}, "", "", false},
	} {
		n, ok := nodePackage(config.Server{Command: "npx", Args: c.args})
		if ok != c.ok || ok && (n.spec != c.spec || n.bin != c.bin) {
			t.Errorf("%s: %+v, %t", name, n, ok)
		}
	}
}
