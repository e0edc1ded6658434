package runtimes

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// Missing is the error of a command that was not found.
type Missing struct {
	Command string // as the configuration has it
	Runtime string // what it belongs to: node, uv, python, docker, bun, deno, dotnet; empty for another
	Message string // one sentence
	Cure    string // what the person can do, one sentence
	Install string // the command that installs it on this system; empty where nobody knows one
}

// Error returns the sentence.
func (m *Missing) Error() string { return m.Message }

// Resolve returns the file that a command starts, absolute with links not resolved; dir is the folder that relative
// paths belong to. The error is a *Missing.
func (e *Environment) Resolve(command, dir string) (string, error) {
	if command == "" {
		return "", &Missing{Message: "It names no command.", Cure: "Name the program that starts the server."}
	}
	if rest, ok := strings.CutPrefix(command, "~/"); ok {
		home, _ := e.Lookup("HOME")
		if home == "" {
			home, _ = os.UserHomeDir()
		}
		command = filepath.Join(home, rest)
	}
	if strings.ContainsRune(command, '/') || strings.ContainsRune(command, filepath.Separator) {
		at := command
		if !filepath.IsAbs(at) {
			at = filepath.Join(dir, at)
		}
		found, err := e.file(at)
		if err != nil {
			return "", notAtPath(command, at, err)
		}
		return found, nil
	}
	if found := e.chosen[command]; found != "" && executable(found) == nil {
		return found, nil
	}
	for _, folder := range e.path {
		if found, err := e.file(filepath.Join(folder, command)); err == nil {
			return found, nil
		}
	}
	return "", missing(command)
}

// file returns the program at a path: itself, or on Windows with one of the endings of programs.
func (e *Environment) file(at string) (string, error) {
	err := executable(at)
	if err == nil || runtime.GOOS != "windows" {
		return at, err
	}
	endings, ok := e.Lookup("PATHEXT")
	if !ok || endings == "" {
		endings = ".COM;.EXE;.BAT;.CMD"
	}
	for _, ending := range strings.Split(strings.ToLower(endings), ";") {
		if executable(at+ending) == nil {
			return at + ending, nil
		}
	}
	return at, err
}

var errNotExecutable = errors.New("it may not be executed")

func executable(path string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return errors.New("it is a folder")
	case runtime.GOOS == "windows" && filepath.Ext(path) == "":
		return fs.ErrNotExist // a script of a shell, next to its .cmd
	case runtime.GOOS != "windows" && info.Mode()&0o111 == 0:
		return errNotExecutable
	}
	return nil
}

// notAtPath is the error of a command that is a path.
func notAtPath(command, at string, err error) *Missing {
	m := &Missing{Command: command}
	switch {
	case errors.Is(err, errNotExecutable):
		m.Message = fmt.Sprintf("The file %s may not be executed.", at)
		m.Cure = "Make it executable, or name the program that runs it, such as python3 or node."
	case errors.Is(err, fs.ErrNotExist):
		m.Message = fmt.Sprintf("The program %s does not exist.", at)
		m.Cure = "Correct the command in its configuration, or install the program."
	default:
		m.Message = fmt.Sprintf("The program %s cannot be started: %v.", at, err)
		m.Cure = "Correct the command in its configuration."
	}
	return m
}

// known are the runtimes that servers are started with, by their commands.
var known = []struct {
	runtime  string
	commands []string
	what     string
	cure     string
}{
	{"node", []string{"npx", "node", "npm"}, "Node.js", "Install Node.js 20 or newer from https://nodejs.org"},
	{"uv", []string{"uvx", "uv"}, "uv", "Install uv from https://docs.astral.sh/uv"},
	{
		"python",
		[]string{"python3", "python", "pipx", "pip"},
		"Python",
		"Install Python 3.10 or newer from https://python.org",
	},
	{"docker", []string{"docker"}, "Docker", "Install Docker from https://docs.docker.com/get-docker"},
	{"bun", []string{"bunx", "bun"}, "Bun", "Install Bun from https://bun.com"},
	{"deno", []string{"deno"}, "Deno", "Install Deno from https://deno.com"},
	{
		"dotnet",
		[]string{"dnx", "dotnet"},
		"the .NET SDK",
		"Install the .NET SDK 10 or newer from https://dotnet.microsoft.com",
	},
}

// missing is the error of a command that is not on the PATH.
func missing(command string) *Missing {
	name := strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(command), ".exe"), ".cmd")
	for _, r := range known {
		for _, one := range r.commands {
			if one == name {
				part := ", a part of " + r.what
				if name == strings.ToLower(r.what) {
					part = ""
				}
				return &Missing{
					Command: command, Runtime: r.runtime, Install: Installs(r.runtime),
					Message: fmt.Sprintf("It is started with %s%s, which was not found.", command, part),
					Cure:    r.cure + ", then try again; or choose where yours is.",
				}
			}
		}
	}
	return &Missing{
		Command: command, Message: fmt.Sprintf("The program %s was not found.", command),
		Cure: "Install it, or choose where it is; the PATH of your login shell was searched.",
	}
}
