package picoclaw

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
)

// patience is the time that a hook may take to end once its input has ended (section 3).
const patience = 2 * time.Second

// Spec implements plugin.Dialect. The process gets none of the person's environment:
// what upstream lets a hook inherit has their keys in it.
func (d *Dialect) Spec(ctx context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	p := ProcessOf(m)
	spec := sandbox.Spec{
		Kind: "command", Dir: p.folder(src), Read: []string{src.Path}, Write: []string{start.Storage},
		Patience: patience,
		Line:     2 * limit.HookLine, // of a line that is too long one call fails; one without end ends the process
	}
	if err := d.program(ctx, &spec, src, p.Command, maxScripts); err != nil {
		return sandbox.Spec{}, err
	}
	env := map[string]string{"PATH": os.Getenv("PATH"), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUTF8": "1"}
	for _, entry := range python.Environment(start.Storage) {
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	maps.Copy(env, p.Env)
	for _, entry := range spec.Env { // of env, before the program
		name, value, _ := strings.Cut(entry, "=")
		env[name] = value
	}
	spec.Env = nil
	for _, name := range slices.Sorted(maps.Keys(env)) {
		spec.Env = append(spec.Env, name+"="+env[name])
	}
	return spec, nil
}

// maxScripts bounds how many scripts may stand before a program, each the interpreter of
// the one before, as Linux does.
const maxScripts = 4

// program puts the command into spec, with what starting its program reads. Before that
// there may be so many scripts.
func (d *Dialect) program(ctx context.Context, spec *sandbox.Spec, src plugin.Source, command []string,
	scripts int,
) error {
	name := command[0]
	if isEnv(name) && !place.Inside(src.Path, name) {
		if words, set := behindEnv(command[1:]); len(words) > 0 { // it would have to start that program
			spec.Env = append(spec.Env, set...)
			return d.program(ctx, spec, src, words, scripts)
		}
	}
	switch {
	case name == "python3" || name == "python":
		found, err := d.python.Python(ctx)
		if err != nil {
			return err
		}
		base := found.Program(append([]string{found.Executable}, command[1:]...))
		spec.Argv = base.Argv
		spec.Read, spec.Execute = append(spec.Read, base.Read...), append(spec.Execute, base.Execute...)
		return nil
	case strings.ContainsRune(name, '/') || strings.ContainsRune(name, filepath.Separator):
		if !filepath.IsAbs(name) {
			name = filepath.Join(spec.Dir, filepath.FromSlash(name))
		}
	default:
		found, err := exec.LookPath(name)
		if err != nil {
			return &plugin.Problem{
				Kind: "unavailable", File: FileName, Message: fmt.Sprintf("The program %s is not on this computer.", command[0]),
				Hint: "Install it, or correct “command”. It is looked for as the terminal would, without the hook's own env.",
			}
		}
		name = found
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return &plugin.Problem{
			Kind: "unavailable", File: FileName, Message: "The program " + command[0] + " is not there.",
			Hint: "Correct “command”; a relative path begins at “dir”, or at the folder of hook.json.",
		}
	}
	if info, err := os.Stat(real); err != nil || !info.Mode().IsRegular() { // a pipe would be waited for
		return &plugin.Problem{
			Kind: "refused", File: FileName, Message: command[0] + " is no file, so it is no program.",
			Hint: "Correct “command”.",
		}
	}
	if words := interpreter(real); len(words) > 0 { // a script: what reads it is started
		if scripts == 0 {
			return &plugin.Problem{
				Kind: "refused", File: FileName, Message: command[0] + " is a script that only scripts read.",
				Hint: "Name a program behind #! in its first line.",
			}
		}
		return d.program(ctx, spec, src, slices.Concat(words, []string{real}, command[1:]), scripts-1)
	}
	spec.Argv = append([]string{real}, command[1:]...)
	spec.Execute = append(spec.Execute, python.Loader(real)...)
	spec.Read = append(spec.Read, present(filepath.Dir(real), filepath.Join(filepath.Dir(filepath.Dir(real)), "lib"),
		"/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib", "/usr/share", "/etc/ld.so.cache", "/etc/localtime",
		"/etc/ssl/openssl.cnf", "/etc/pki/tls/openssl.cnf")...) // Node does not start without what OpenSSL is set to
	return nil
}

// interpreter returns the words behind #! in the first line of a script.
func interpreter(path string) []string {
	file, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer file.Close() //nolint:errcheck // read only
	line, err := bufio.NewReader(io.LimitReader(file, 256)).ReadBytes('\n')
	if err != nil {
		return nil
	}
	rest, script := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(rest))
	if !script || len(words) == 0 {
		return nil
	}
	return words
}

// isEnv reports whether a command is env, which starts another one.
func isEnv(name string) bool {
	return name == "env" || filepath.IsAbs(name) && filepath.Base(name) == "env"
}

// behindEnv returns the command that env starts with args, and the variables that it sets; no words when
// that is not clear.
func behindEnv(args []string) (words, set []string) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		split, joined := strings.CutPrefix(word, "--split-string=")
		if !joined && len(word) > 2 {
			split, joined = strings.CutPrefix(word, "-S")
		}
		switch {
		case (word == "-S" || word == "--split-string") && len(args) > 0:
			args = append(strings.Fields(args[0]), args[1:]...)
		case joined:
			args = append(strings.Fields(split), args...)
		case (word == "-u" || word == "--unset") && len(args) > 0:
			args = args[1:]
		case slices.Contains([]string{"-", "-i", "--ignore-environment", "-v", "--debug", "--"}, word),
			strings.HasPrefix(word, "--unset="):
		case strings.HasPrefix(word, "-"):
			return nil, nil
		case strings.Contains(word, "="):
			set = append(set, word)
		default:
			return append([]string{word}, args...), set
		}
	}
	return nil, nil
}

func present(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}

// permissions returns the permissions that its modes need, and those that it names.
func (p Process) permissions() []string {
	asked := []string{}
	if p.LLM() {
		asked = append(asked, gate.Interceptor, parameters)
	}
	if p.Tools() || p.Approves() {
		asked = append(asked, gate.ToolCalls)
	}
	if p.Observes() {
		asked = append(asked, gate.TurnEvents)
	}
	for _, name := range p.Own.Permissions {
		if !slices.Contains(asked, name) {
			asked = append(asked, name)
		}
	}
	return asked
}

// describe returns what the hook does, for its card.
func (p Process) describe() string {
	var does []string
	for _, one := range []struct {
		on   bool
		says string
	}{
		{p.LLM(), "sees each request to a model with its answer"},
		{p.Tools(), "sees each call of a tool with its result"},
		{p.Approves(), "decides whether a call may be made"},
		{p.Observes(), "follows what happens"},
	} {
		if one.on {
			does = append(does, one.says)
		}
	}
	return "A hook that " + limit.Listed(does) + "."
}

// notices returns sentences for a person to read before it runs.
func (p Process) notices(src plugin.Source) []string {
	var out []string
	outside := func(path string) bool { return !place.Inside(src.Path, path) }
	for _, arg := range p.Command[min(1, len(p.Command)):] {
		if info, err := os.Stat(arg); filepath.IsAbs(arg) && err == nil && info.Mode().IsRegular() && outside(arg) {
			out = append(out, "It runs "+arg+", which lies outside of its folder: what that holds is not part of what you "+
				"approve, and its sandbox keeps it from reading it. Put it next to "+FileName+".")
		}
	}
	if filepath.IsAbs(p.Dir) && outside(p.Dir) {
		out = append(out, "It runs in "+p.Dir+", outside of its folder, which its sandbox keeps it from reading.")
	}
	return out
}
