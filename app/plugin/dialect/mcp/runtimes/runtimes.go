// Package runtimes finds the programs that MCP servers are started with: it asks the person's login shell for its
// PATH, knows the usual places, and has a sentence with a cure for each runtime that is missing. It starts no server.
//
// Read Login and Environment.Resolve first.
package runtimes

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// Environment is the part of the person's environment in which servers start. It never changes.
type Environment struct {
	// Variables are NAME=value: PATH, HOME, USER, LANG, TMPDIR, proxies and certificates, and nothing else.
	Variables []string
	// FromShell reports that the login shell answered; otherwise this is Conclave's own environment.
	FromShell bool

	all    map[string]string
	path   []string
	chosen map[string]string // programs by command, see Chosen
}

// Lookup returns a variable of the login shell, for placeholders that the person wrote.
func (e *Environment) Lookup(name string) (string, bool) {
	value, ok := e.all[name]
	return value, ok
}

// shellTime bounds how long the login shell may take: one with many plugins takes two seconds.
const shellTime = 5 * time.Second

// asked holds the answer of the login shell.
var asked struct {
	mu     sync.Mutex
	answer *Environment
}

// Login returns the environment of the person's login shell: it asks once, within 5 s, and keeps the answer until
// Forget. A shell that does not answer is no error; Conclave's own environment and the usual places are used then. It
// is safe for concurrent use.
func Login(ctx context.Context) *Environment {
	asked.mu.Lock()
	defer asked.mu.Unlock()
	if asked.answer == nil {
		variables := fromShell(ctx, shellTime)
		if ctx.Err() != nil { // whoever asked has gone; the next asks again
			return newEnvironment(ownVariables(), false)
		}
		if variables == nil {
			asked.answer = newEnvironment(ownVariables(), false)
		} else {
			asked.answer = newEnvironment(variables, true)
		}
	}
	return asked.answer
}

// Forget makes the next Login ask again.
func Forget() {
	asked.mu.Lock()
	defer asked.mu.Unlock()
	asked.answer = nil
}

func ownVariables() map[string]string { return variables(os.Environ()) }

func variables(entries []string) map[string]string {
	all := map[string]string{}
	for _, entry := range entries {
		if name, value, ok := strings.Cut(entry, "="); ok && name != "" {
			all[name] = value
		}
	}
	return all
}

// passed are the variables that servers get, besides PATH.
var passed = []string{
	"HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
	"NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
	"NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "XDG_RUNTIME_DIR",
	"SystemRoot", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "TEMP", "TMP", "PATHEXT", "ComSpec", "ProgramFiles",
	"HOMEDRIVE", "HOMEPATH",
}

func newEnvironment(all map[string]string, shell bool) *Environment {
	e := &Environment{FromShell: shell, all: all}
	home := all["HOME"]
	if home == "" {
		home, _ = os.UserHomeDir()
	}
	add := func(dirs ...string) {
		for _, dir := range dirs {
			if filepath.IsAbs(dir) && !slices.Contains(e.path, dir) {
				e.path = append(e.path, dir)
			}
		}
	}
	add(filepath.SplitList(pathOf(all))...)
	add(usual(home, all)...)
	add(filepath.SplitList(os.Getenv("PATH"))...)
	if runtime.GOOS != "windows" {
		add("/usr/local/bin", "/usr/bin", "/bin", "/usr/sbin", "/sbin")
	}
	e.Variables = []string{"PATH=" + strings.Join(e.path, string(filepath.ListSeparator))}
	for _, name := range passed {
		if value, ok := all[name]; ok {
			e.Variables = append(e.Variables, name+"="+value)
		}
	}
	slices.Sort(e.Variables)
	return e
}

// pathOf returns PATH, which Windows may call Path.
func pathOf(all map[string]string) string {
	for name, value := range all {
		if strings.EqualFold(name, "PATH") {
			return value
		}
	}
	return ""
}

// usual returns the folders in which runtimes lie that a program started from a menu does not see.
func usual(home string, all map[string]string) []string {
	dirs := []string{
		filepath.Join(home, ".local", "bin"), "/opt/homebrew/bin", "/usr/local/bin",
		"/home/linuxbrew/.linuxbrew/bin", filepath.Join(home, ".volta", "bin"),
		filepath.Join(home, ".local", "share", "mise", "shims"), filepath.Join(home, ".asdf", "shims"),
		filepath.Join(home, ".cargo", "bin"), filepath.Join(home, ".bun", "bin"), filepath.Join(home, ".deno", "bin"),
		filepath.Join(home, ".dotnet"), filepath.Join(home, ".dotnet", "tools"), filepath.Join(home, "go", "bin"),
		filepath.Join(home, ".nix-profile", "bin"), "/snap/bin", "/Applications/Docker.app/Contents/Resources/bin",
	}
	nvm := all["NVM_DIR"]
	if nvm == "" {
		nvm = filepath.Join(home, ".nvm")
	}
	dirs = append(dirs, newest(filepath.Join(nvm, "versions", "node", "*", "bin"))...)
	for _, fnm := range []string{filepath.Join(home, ".local", "share", "fnm"), filepath.Join(home, ".fnm")} {
		dirs = append(dirs, filepath.Join(fnm, "aliases", "default", "bin"))
	}
	if runtime.GOOS == "windows" {
		programs := all["ProgramFiles"]
		dirs = append(dirs, filepath.Join(programs, "nodejs"), filepath.Join(all["APPDATA"], "npm"),
			filepath.Join(programs, "Docker", "Docker", "resources", "bin"))
	}
	return slices.DeleteFunc(dirs, func(dir string) bool {
		info, err := os.Stat(dir)
		return err != nil || !info.IsDir()
	})
}

// newest returns the folders of a pattern, the highest version first.
func newest(pattern string) []string {
	found, err := filepath.Glob(pattern)
	if err != nil { // a home folder with brackets in its name
		return nil
	}
	slices.SortFunc(found, func(a, b string) int { return compareVersions(b, a) })
	return found
}

// compareVersions compares texts with numbers in them by the values of those.
func compareVersions(a, b string) int {
	for a != "" && b != "" {
		na, ra := leading(a)
		nb, rb := leading(b)
		if na != nb {
			if len(na) != len(nb) && isDigits(na) && isDigits(nb) {
				return len(na) - len(nb)
			}
			return strings.Compare(na, nb)
		}
		a, b = ra, rb
	}
	return len(a) - len(b)
}

// leading cuts a text after the digits, or the other characters, that it begins with; zeros before digits are dropped.
func leading(s string) (part, rest string) {
	digits := isDigits(s[:1])
	end := 0
	for end < len(s) && isDigits(s[end:end+1]) == digits {
		end++
	}
	part = s[:end]
	if digits {
		part = strings.TrimLeft(part, "0")
	}
	return part, s[end:]
}

func isDigits(s string) bool {
	return s == "" || strings.Trim(s, "0123456789") == ""
}
