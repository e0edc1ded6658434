package mcp

import (
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/place"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
)

// What a server runs that is no part of what a person approves: its entry is, and files of the plugins folder
// (docs/adr/0057).

// runtimesOf are the programs that run what their arguments name: an update of them is the system's matter.
var runtimesOf = []string{
	"node", "nodejs", "bun", "deno", "tsx", "ts-node", "python", "py", "ruby", "php", "perl", "lua", "java", "dotnet",
	"docker", "podman", "uv", "poetry", "conda", "npm", "pnpm", "yarn", "go", "cargo", "env", "sh", "bash", "zsh",
	"fish", "dash", "ksh", "cmd", "powershell", "pwsh",
}

// systemFolders hold programs that only an administrator changes.
var systemFolders = []string{
	"/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store", `C:\Windows`, `C:\Program Files`,
}

const changesUnasked = ", which lies outside of the plugins folder: what it holds is no part of what you approve, " +
	"and can change without your being asked."

// outside returns a sentence for each file, program or folder outside of the plugins folder whose code a server runs.
func outside(src plugin.Source, s config.Server) (sentences []string) {
	if s.Command == "" {
		return nil
	}
	add := func(what, path string) {
		if sentence := "It runs " + what + path + changesUnasked; !slices.Contains(sentences, sentence) {
			sentences = append(sentences, sentence)
		}
	}
	switch {
	case strings.ContainsAny(s.Command, `/\`):
		if path, out := liesOutside(src, s, s.Command); out {
			add("", path)
		}
	case runnerOf(s.Command) == "" && !isRuntime(s.Command):
		add("the program ", s.Command)
	}
	for i, arg := range s.Args {
		flag, value, joined := strings.Cut(arg, "=")
		switch {
		case joined && slices.Contains(folderFlags, flag), i > 0 && slices.Contains(folderFlags, s.Args[i-1]):
			if !joined {
				value = arg
			}
			if path, out := liesOutside(src, s, value); out && looksLikePath(value) {
				add("code in the folder ", path)
			}
		case !strings.HasPrefix(arg, "-") && !strings.Contains(arg, "://") &&
			slices.Contains(codeEndings, strings.ToLower(filepath.Ext(arg))):
			if path, out := liesOutside(src, s, arg); out {
				add("", path)
			}
		}
	}
	return sentences
}

// looksLikePath reports whether the value of an option is a folder and no address or name of a package.
func looksLikePath(value string) bool {
	return strings.ContainsAny(value, `/\~.`) && !strings.Contains(value, "://") && !strings.HasPrefix(value, "git+")
}

// liesOutside returns a path of an entry as it is written, or from the top where it is relative, and whether it lies
// outside of what is digested and of the system. What a bundle names is in the bundle.
func liesOutside(src plugin.Source, s config.Server, path string) (string, bool) {
	if strings.HasPrefix(path, "${__dirname}") {
		return path, false
	}
	if !filepath.IsAbs(path) && !strings.HasPrefix(path, "~") && !strings.HasPrefix(path, "$") {
		dir := s.Dir
		switch {
		case !filepath.IsAbs(dir) && src.HasFiles():
			dir = filepath.Join(src.Path, filepath.FromSlash(dir))
		case isBundle(src.Path):
			return path, false
		case dir == "":
			return path, true // it starts in its own folder, where nothing lies yet
		}
		path = filepath.Join(dir, path)
	}
	inside := src.HasFiles() && src.Folder && place.Inside(src.Path, path)
	return path, !inside && !slices.ContainsFunc(systemFolders, func(f string) bool { return place.Inside(f, path) })
}

// isRuntime reports whether a command is a program that runs what its arguments name, in whatever version.
func isRuntime(command string) bool {
	name := strings.ToLower(filepath.Base(command))
	for _, ending := range []string{".exe", ".cmd", ".bat"} {
		name = strings.TrimSuffix(name, ending)
	}
	return slices.Contains(runtimesOf, strings.TrimRight(name, "0123456789."))
}
