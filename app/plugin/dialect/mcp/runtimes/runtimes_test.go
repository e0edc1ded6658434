//go:build !windows

package runtimes

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// shell makes a program that stands for the login shell, and sets HOME to a folder of the test's.
func shell(t *testing.T, script string) (home string) {
	t.Helper()
	home = t.TempDir()
	path := filepath.Join(home, "shell")
	write(t, path, "#!/bin/sh\n"+script, 0o700)
	t.Setenv("SHELL", path)
	t.Setenv("HOME", home)
	Forget()
	t.Cleanup(Forget)
	return home
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

func TestMC11ThePathIsThatOfTheLoginShell(t *testing.T) {
	home := shell(t, `
echo "a line of a profile"
export PATH="$HOME/tools:$PATH" SECRET_KEY=hidden LANG=de_DE.UTF-8 MULTI="a
b=c"
echo x >> "$HOME/asked"
eval "$2"
echo "good bye"
`)
	write(t, filepath.Join(home, "tools", "npx"), "#!/bin/sh\n", 0o700)
	e := Login(t.Context())
	if !e.FromShell {
		t.Fatal("the shell was not asked")
	}
	if got, err := e.Resolve("npx", "/"); err != nil || got != filepath.Join(home, "tools", "npx") {
		t.Errorf("%s %v", got, err)
	}
	whole := strings.Join(e.Variables, "\n")
	if strings.Contains(whole, "hidden") || strings.Contains(whole, "MULTI") ||
		!strings.Contains(whole, "LANG=de_DE.UTF-8") {
		t.Errorf("servers get %q", e.Variables)
	}
	if value, ok := e.Lookup("SECRET_KEY"); !ok || value != "hidden" {
		t.Error("a placeholder cannot name a variable of the shell")
	}
	if value, _ := e.Lookup("MULTI"); value != "a\nb=c" {
		t.Errorf("%q", value)
	}
	Login(t.Context())
	if asked, _ := os.ReadFile(filepath.Join(home, "asked")); string(asked) != "x\n" {
		t.Errorf("it was asked %d times", len(asked)/2)
	}
	Forget()
	Login(t.Context())
	if asked, _ := os.ReadFile(filepath.Join(home, "asked")); string(asked) != "x\nx\n" {
		t.Error("it was not asked again on request")
	}
}

func TestMC11AShellThatHangsOrFailsIsGivenUp(t *testing.T) {
	for name, script := range map[string]string{
		"hangs": "sleep 60\n", "hangs in a child": "sleep 60 & wait\n", "fails": "exit 3\n",
		"prints without an end": "yes\n", "answers without marks": "echo PATH=/x\n",
	} {
		shell(t, script)
		began := time.Now()
		if got := fromShell(t.Context(), time.Second/2); got != nil {
			t.Errorf("%s: %v", name, got)
		}
		if took := time.Since(began); took > 4*time.Second {
			t.Errorf("%s: it took %v", name, took)
		}
	}
	if shellTime > 5*time.Second {
		t.Errorf("the limit is %v", shellTime)
	}
}

func TestMC11TheUsualPlacesAreSearchedAfterThePath(t *testing.T) {
	home := shell(t, "exit 1")
	for _, place := range []string{
		".local/bin", ".volta/bin", ".cargo/bin", ".bun/bin", ".deno/bin", ".asdf/shims", ".local/share/mise/shims",
		".nvm/versions/node/v9.1.0/bin", ".nvm/versions/node/v22.3.0/bin", ".nvm/versions/node/v20.11.1/bin",
		".local/share/fnm/aliases/default/bin",
	} {
		write(t, filepath.Join(home, place, "program"+strings.ReplaceAll(place, "/", "-")), "", 0o700)
		write(t, filepath.Join(home, place, "everywhere"), "", 0o700)
	}
	e := Login(t.Context())
	for _, name := range []string{"program.local-bin", "program.volta-bin", "program.nvm-versions-node-v9.1.0-bin"} {
		if _, err := e.Resolve(name, "/"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var versions []string
	for _, dir := range e.path {
		if strings.Contains(dir, ".nvm") {
			versions = append(versions, filepath.Base(filepath.Dir(dir)))
		}
	}
	if !slices.Equal(versions, []string{"v22.3.0", "v20.11.1", "v9.1.0"}) {
		t.Errorf("%q: the newest is not the first", versions)
	}
}

func TestMC12AMissingRuntimeIsNamedWithItsCure(t *testing.T) {
	e := &Environment{}
	for command, runtime := range map[string]string{
		"npx": "node", "node": "node", "uvx": "uv", "uv": "uv", "python3": "python", "docker": "docker", "bunx": "bun",
		"deno": "deno", "dnx": "dotnet", "npx.cmd": "node", "weather-server": "",
	} {
		_, err := e.Resolve(command, "/")
		m, ok := errors.AsType[*Missing](err)
		if !ok || m.Runtime != runtime || !strings.Contains(m.Message, command) || m.Cure == "" {
			t.Errorf("%s: %+v", command, m)
		}
	}
}

func TestMC12PathsAndHomeFoldersAreResolved(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "bin", "serve"), "", 0o700)
	write(t, filepath.Join(home, "bin", "text"), "", 0o600)
	e := newEnvironment(map[string]string{"HOME": home, "PATH": "relative:/nowhere"}, true)
	for command, dir := range map[string]string{
		"~/bin/serve": "/", "./bin/serve": home, "bin/serve": home, "../serve": filepath.Join(home, "bin", "x"),
		filepath.Join(home, "bin/serve"): "/",
	} {
		if got, err := e.Resolve(command, dir); err != nil || got != filepath.Join(home, "bin", "serve") {
			t.Errorf("%s: %s %v", command, got, err)
		}
	}
	for command, want := range map[string]string{
		"~/bin/none": "does not exist", "~/bin/text": "may not be executed", "~/bin": "it is a folder", "": "no command",
		"none": "was not found",
	} {
		_, err := e.Resolve(command, "/")
		if m, ok := errors.AsType[*Missing](err); !ok || !strings.Contains(m.Message, want) || m.Cure == "" {
			t.Errorf("%s: %v", command, err)
		}
	}
	if slices.ContainsFunc(e.path, func(dir string) bool { return !filepath.IsAbs(dir) }) {
		t.Errorf("a relative folder is on the PATH of servers: %q", e.path)
	}
}

func TestMC12TheCommandThatInstallsARuntimeIsThatOfTheSystem(t *testing.T) {
	for want, c := range map[string]struct {
		runtime, system string
		there           []string
	}{
		"sudo apt install nodejs npm":              {"node", "linux", []string{"npm", "apt"}},
		"sudo pacman -S uv":                        {"uv", "linux", []string{"pacman"}},
		"sudo apt install pipx && pipx install uv": {"uv", "linux", []string{"apt"}},
		"brew install uv":                          {"uv", "darwin", []string{"brew"}},
		"winget install DenoLand.Deno":             {"deno", "windows", []string{"npm", "winget"}},
		"npm install --global bun":                 {"bun", "linux", []string{"apt", "npm"}},
		"":                                         {"dotnet", "linux", []string{"apt"}},
	} {
		got := installsWith(c.runtime, c.system, func(manager string) bool { return slices.Contains(c.there, manager) })
		if got != want {
			t.Errorf("%s on %s with %v: %q, not %q", c.runtime, c.system, c.there, got, want)
		}
	}
}

func TestMC12AProgramThatThePersonChoseIsUsedAlsoAfterARestart(t *testing.T) {
	dir := t.TempDir()
	program, file := filepath.Join(dir, "my-uvx"), filepath.Join(dir, "kept", "programs.json")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	none := &Environment{}
	c := &Chosen{Path: file}
	if err := c.Choose("uvx", filepath.Join(dir, "nothing")); err == nil {
		t.Error("a file that is not there was chosen")
	}
	if err := c.Choose("uvx", program); err != nil {
		t.Fatal(err)
	}
	for name, chosen := range map[string]*Chosen{"now": c, "later": {Path: file}} {
		if found, err := chosen.In(none).Resolve("uvx", dir); err != nil || found != program {
			t.Errorf("%s: %q, %v", name, found, err)
		}
		if _, err := chosen.In(none).Resolve("bunx", dir); err == nil {
			t.Errorf("%s: another command was found", name)
		}
	}
}
