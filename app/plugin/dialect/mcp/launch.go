package mcp

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
	"conclave/app/plugin/dialect/mcp/runtimes"
	"conclave/app/plugin/sandbox"
)

// How a server ends (MC-15): its input is closed, and after patience its group is asked to end, after notice killed.
const (
	patience = 2 * time.Second
	notice   = 3 * time.Second
)

// maxLine is the longest line of a server that is read at all: a message of 32 MiB fails by itself, with its call.
const maxLine = 64 << 20

// memory bounds what a server takes: engines of JavaScript take more than a plugin of ours.
const memory = 2 << 30

// The times to start: installs is for the first start of what a package runner fetches.
const (
	startTime = 30 * time.Second
	installs  = 5 * time.Minute
)

// LoadTime implements plugin.Patient.
func (d *Dialect) LoadTime(m plugin.Manifest) (first, later time.Duration) {
	s := serverOf(m)
	later = cmp.Or(s.StartTimeout, startTime)
	if runnerOf(s.Command) != "" {
		return max(installs, later), later
	}
	return later, later
}

// runners are the programs that fetch a server from a registry before they start it.
var runners = []string{"npx", "uvx", "bunx", "dnx", "pnpx", "pipx"}

// runnerOf returns the package runner that a command is, or "".
func runnerOf(command string) string {
	name := strings.ToLower(filepath.Base(command))
	for _, ending := range []string{".exe", ".cmd"} {
		name = strings.TrimSuffix(name, ending)
	}
	if slices.Contains(runners, name) {
		return name
	}
	return ""
}

// fill returns the server of a manifest with the values that it starts with. The error is a *plugin.Problem.
func (d *Dialect) fill(ctx context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions, env *runtimes.Environment,
) (config.Server, error) {
	values := map[string]any{}
	if len(start.Options) > 0 {
		if err := json.Unmarshal(start.Options, &values); err != nil {
			return config.Server{}, &plugin.Problem{
				Kind: "settings", Message: "Its settings cannot be read: " + err.Error() + ".",
			}
		}
	}
	secret := map[string]bool{}
	for id, value := range d.secretsOf(src.ID) {
		values[id], secret[value] = value, true
		start.Mask(value)
	}
	for _, id := range start.Secrets {
		value, err := start.Secret(ctx, id)
		if err != nil {
			return config.Server{}, &plugin.Problem{
				Kind: "settings", Message: "Its setting " + id + " cannot be read: " + err.Error() + ".",
				Hint: "Set it again.",
			}
		}
		values[id], secret[value] = value, true
	}
	for _, input := range serverOf(m).Inputs {
		if value, ok := env.Lookup(input.Env); ok && input.Secret {
			secret[value] = true
			if start.Mask != nil {
				start.Mask(value)
			}
		}
	}
	folder, err := d.withBundle(src, start, values)
	if err != nil {
		return config.Server{}, err
	}
	s, err := config.Fill(serverOf(m), values, env.Lookup)
	if folder != "" && s.Dir == "" {
		s.Dir = folder
	}
	if missing, ok := errors.AsType[*config.Unresolved](err); ok {
		return s, unset(src.ID, missing.Inputs)
	}
	if err != nil {
		return s, &plugin.Problem{Kind: "settings", Message: "Its settings do not fit: " + err.Error() + "."}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.work[src.ID] = slices.DeleteFunc(data(s), func(path string) bool { return secret[path] })
	return s, nil
}

// unset is the problem of a server without the values that it needs.
func unset(id string, inputs []config.Input) *plugin.Problem {
	names := make([]string, 0, len(inputs))
	for _, input := range inputs {
		names = append(names, cmp.Or(input.Title, input.ID))
	}
	return &plugin.Problem{
		Kind: "settings", Message: "It needs settings before it is started: " + listed(names) + ".",
		Hint: "Fill them in on its card, or with: conclave plugins settings " + id,
	}
}

// Spec implements plugin.Dialect.
func (d *Dialect) Spec(ctx context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions,
) (sandbox.Spec, error) {
	env := d.programs.In(runtimes.Login(ctx))
	s, err := d.fill(ctx, src, m, start, env)
	if err != nil {
		return sandbox.Spec{}, err
	}
	spec := sandbox.Spec{
		Kind: "command", Dir: folderOf(src, s, start), Write: []string{start.Storage}, Memory: memory,
		Patience: patience, Notice: notice, Line: maxLine, Files: 4096,
	}
	if spec.Env, err = environment(s, env, start); err != nil {
		return sandbox.Spec{}, err
	}
	ours, err := d.install(&spec, s, src.ID, start, env)
	if err == nil && !ours {
		err = d.runs(&spec, s, src.ID, start, env)
	}
	if err != nil {
		return sandbox.Spec{}, err
	}
	d.mu.Lock()
	d.started[src.ID] = spec.Argv[0]
	d.mu.Unlock()
	spec.Read = append(spec.Read, system()...)
	if src.HasFiles() {
		spec.Read = append(spec.Read, src.Path)
	}
	if s.Dir != "" && !broad(spec.Dir) {
		spec.Read = append(spec.Read, spec.Dir)
	}
	if isBundle(src.Path) { // it starts what it holds
		spec.Execute = append(spec.Execute, spec.Dir)
	}
	return spec, nil
}

// runs puts the command of a server into spec, as it is.
func (d *Dialect) runs(spec *sandbox.Spec, s config.Server, id string, start plugin.StartOptions,
	env *runtimes.Environment,
) error {
	if runner := runnerOf(s.Command); runner != "" { // it starts what it fetched
		if _, err := env.Resolve(s.Command, spec.Dir); missing(err) != nil {
			return missing(err)
		}
		if p := lacks(id, runner, []string{gate.Network, gate.Programs}, start.Granted); p != nil {
			return p
		}
		spec.Execute = append(spec.Execute, start.Storage)
	}
	for _, path := range named(spec.Dir, s.Args) {
		if !place.Inside(start.Storage, path) && !place.Inside(path, start.Storage) { // that is its own
			spec.Read = append(spec.Read, path)
			if slices.Contains(start.Granted, gate.Programs) && !writes(start.Folders, path) {
				spec.Execute = append(spec.Execute, path) // many packages bring programs that they start
			}
		}
	}
	return program(spec, env, append([]string{s.Command}, s.Args...), maxScripts)
}

// writes reports whether a server may write to something in a folder.
func writes(folders []gate.Folder, dir string) bool {
	return slices.ContainsFunc(folders, func(f gate.Folder) bool {
		return f.Write && (place.Inside(f.Path, dir) || place.Inside(dir, f.Path))
	})
}

// lacks returns the problem of a server that is fetched, without the permissions that this needs; nil where it has
// them.
func lacks(id, runner string, needs, granted []string) *plugin.Problem {
	missing := slices.DeleteFunc(slices.Clone(needs), func(p string) bool { return slices.Contains(granted, p) })
	if len(missing) == 0 {
		return nil
	}
	commands := make([]string, 0, len(missing))
	for _, p := range missing {
		commands = append(commands, plugin.Refusal{Permission: p}.Command(id))
	}
	return &plugin.Problem{
		Kind: "permissions", Permissions: missing,
		Message: "The server is fetched with " + runner + ", which needs what it was not granted: " + listed(missing) + ".",
		Hint:    "Allow that on its card, under “What it may reach…”, or with: " + strings.Join(commands, " · "),
	}
}

// folderOf is the folder in which a server is started: the one that its entry names, else its own.
func folderOf(src plugin.Source, s config.Server, start plugin.StartOptions) string {
	switch {
	case filepath.IsAbs(s.Dir):
		return s.Dir
	case src.HasFiles():
		return filepath.Join(src.Path, filepath.FromSlash(s.Dir))
	}
	return start.Storage
}

// environment returns the variables of a server: what the person's login shell has of those that servers get,
// UTF-8, and what its entry names. Its home is its own folder, where its sandbox lets it write.
func environment(s config.Server, env *runtimes.Environment, start plugin.StartOptions) ([]string, error) {
	all := map[string]string{"LANG": "C.UTF-8"}
	set := func(entries []string) {
		for _, entry := range entries {
			name, value, _ := strings.Cut(entry, "=")
			all[name] = value
		}
	}
	set(env.Variables)
	if !strings.Contains(strings.ToLower(all["LANG"]), "utf") {
		all["LANG"] = "C.UTF-8"
	}
	set([]string{
		"PYTHONUTF8=1", "PYTHONIOENCODING=utf-8", "HOME=" + start.Storage, "TMPDIR=" + start.Storage,
		"npm_config_update_notifier=false",
	})
	if all["LC_ALL"] != "" {
		all["LC_ALL"] = all["LANG"]
	}
	if runtime.GOOS == "windows" {
		for _, name := range []string{"SYSTEMROOT", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE"} {
			all[name] = os.Getenv(name)
		}
	}
	if s.EnvFile != "" {
		named, err := variablesIn(s.EnvFile, start.Opens)
		if err != nil {
			return nil, &plugin.Problem{
				Kind: "settings", Message: "Its file of variables cannot be read: " + err.Error() + ".", Hint: "Correct “envFile”.",
			}
		}
		for name, value := range named {
			if config.IsSecret(name, value) && start.Mask != nil {
				start.Mask(value)
			}
		}
		maps.Copy(all, named)
	}
	maps.Copy(all, s.Env)
	out := make([]string, 0, len(all))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		out = append(out, name+"="+all[name])
	}
	return out, nil
}

// maxVariables bounds a file of variables in bytes.
const maxVariables = 1 << 20

// variablesIn reads a file of variables that an entry names. Of a place for which the server's sandbox would not be
// opened, it gets none: that is where keys are.
func variablesIn(path string, opens func(path string) bool) (map[string]string, error) {
	if opens != nil && !opens(path) {
		return nil, fmt.Errorf("%s is, or lies in, a place of keys, passwords or Conclave", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxVariables || place.Inside("/proc", place.Real(path)) {
		return nil, fmt.Errorf("%s is no file of at most %s", path, limit.Size(maxVariables))
	}
	text, err := os.ReadFile(path) //nolint:gosec // the person's entry names it
	if err != nil {
		return nil, err
	}
	return config.ParseEnv(text), nil
}

// maxScripts bounds how many scripts may stand before a program, each the interpreter of the one before, as Linux
// does.
const maxScripts = 4

// program puts the command into spec, with what starting it reads and executes. A script is started by its
// interpreter, which is looked for on the PATH of the login shell.
func program(spec *sandbox.Spec, env *runtimes.Environment, command []string, scripts int) error {
	path, err := env.Resolve(command[0], spec.Dir)
	if p := missing(err); p != nil {
		return p
	}
	if err != nil {
		return &plugin.Problem{
			Kind: "unavailable", Message: "The program " + command[0] + " cannot be started: " + err.Error() + ".",
		}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return &plugin.Problem{
			Kind: "unavailable", Message: "The program " + path + " is not there.", Hint: "Correct “command”.",
		}
	}
	spec.Execute = append(spec.Execute, plugin.ProgramFiles(real)...)
	spec.Read = append(spec.Read, slices.Concat(homeOf(path), homeOf(real))...)
	if words := interpreterOf(real); len(words) > 0 && scripts > 0 {
		spec.Read = append(spec.Read, projectOf(real))
		return program(spec, env, slices.Concat(words, []string{real}, command[1:]), scripts-1)
	}
	spec.Argv = append([]string{path}, command[1:]...)
	return nil
}

// missing returns the problem of a program that was not found, with what to do; nil for any other error, and none.
func missing(err error) *plugin.Problem {
	not, ok := errors.AsType[*runtimes.Missing](err)
	if !ok {
		return nil
	}
	p := &plugin.Problem{Kind: "unavailable", Message: not.Message, Hint: not.Cure, Install: not.Install}
	if !strings.ContainsAny(not.Command, `/\`) { // a path is corrected where it is written
		p.Program = not.Command
	}
	return p
}

// interpreterOf returns the words behind #! in the first line of a script; of env those that it starts.
func interpreterOf(path string) []string {
	in, err := os.Open(path) //nolint:gosec // the program that the person named
	if err != nil {
		return nil
	}
	defer in.Close() //nolint:errcheck // read only
	line, err := bufio.NewReader(io.LimitReader(in, 256)).ReadBytes('\n')
	rest, script := bytes.CutPrefix(line, []byte("#!"))
	words := strings.Fields(string(rest))
	if err != nil || !script || len(words) == 0 {
		return nil
	}
	if filepath.Base(words[0]) == "env" {
		words = slices.DeleteFunc(words[1:], func(word string) bool {
			return strings.HasPrefix(word, "-") || strings.Contains(word, "=")
		})
	}
	return words
}

// homeOf returns what a program reads of its installation: the folder above bin, with its libraries. Where that is one
// for everything, such as ~/.local, or for a token as well, as ~/.cargo, it is bin and the libraries alone.
func homeOf(path string) []string {
	dir := filepath.Dir(path)
	switch filepath.Base(dir) {
	case "bin", "Scripts", "sbin":
		above := filepath.Dir(dir)
		if broad(above) || slices.Contains([]string{".local", ".cargo", ".composer", ".gem"}, filepath.Base(above)) {
			return append([]string{dir}, present(filepath.Join(above, "lib"))...)
		}
		return []string{above}
	}
	if broad(dir) {
		return []string{path}
	}
	return []string{dir}
}

// broad reports whether a folder is the person's home, or holds it, or is right below the root, as /tmp is: too much to
// be read for one program's sake.
func broad(dir string) bool {
	if above := filepath.Dir(dir); above == filepath.Dir(above) {
		return true
	}
	home, err := os.UserHomeDir()
	return err == nil && (place.Inside(dir, home) || place.Inside(dir, place.Real(home)))
}

// system returns what programs read of the system itself, which says nothing about the person.
func system() []string {
	return present("/usr", "/lib", "/lib64", "/bin", "/sbin", "/opt", "/etc/ld.so.cache", "/etc/localtime", "/etc/ssl",
		"/etc/pki", "/etc/ca-certificates", "/etc/mime.types", "/etc/alternatives", "/proc/meminfo", "/proc/cpuinfo",
		"/proc/sys/kernel/overflowuid", "/proc/sys/kernel/overflowgid", "/proc/sys/vm/overcommit_memory",
		"/sys/fs/cgroup", "/sys/devices/system/cpu")
}

// folderFlags are options that name the folder of a server's code.
var folderFlags = []string{"--directory", "--project", "--from", "--prefix", "-C", "--cwd"}

// codeEndings are those of files that a command names because they are run.
var codeEndings = []string{
	".js", ".mjs", ".cjs", ".ts", ".mts", ".py", ".pyz", ".rb", ".php", ".jar", ".dll", ".lua", ".sh",
}

// named returns what the arguments of a server name of its code: a file with its project, and the folder behind an
// option for that. Any other file or folder is data, which the person is asked about when the server opens it.
func named(dir string, args []string) (paths []string) {
	for i, arg := range args {
		if name, value, ok := strings.Cut(arg, "="); ok && slices.Contains(folderFlags, name) {
			arg = value
		} else if strings.HasPrefix(arg, "-") {
			continue
		}
		path := arg
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		info, err := os.Stat(path)
		code := i > 0 && slices.Contains(folderFlags, args[i-1]) || arg != args[i]
		switch {
		case err != nil:
		case info.Mode().IsRegular() && slices.Contains(codeEndings, strings.ToLower(filepath.Ext(path))):
			paths = append(paths, projectOf(path))
		case info.IsDir() && code && !broad(path):
			paths = append(paths, path)
		}
	}
	return paths
}

// projects are the files by which a folder is recognised as that of a whole project.
var projects = []string{"package.json", "pyproject.toml", "node_modules", "deno.json", "go.mod", "Cargo.toml"}

// projectOf returns the folder of the project that a file belongs to, at most four above it; else its folder, and
// where that is too broad, the file. Of an installed package of Node it is the folder of all that are installed there,
// since they need one another.
func projectOf(path string) string {
	dir := filepath.Dir(path)
	const installed = string(filepath.Separator) + "node_modules" + string(filepath.Separator)
	if above, _, ok := strings.Cut(path, installed); ok {
		return above + installed
	}
	for at, n := dir, 0; n < 4 && !broad(at); at, n = filepath.Dir(at), n+1 {
		for _, name := range projects {
			if _, err := os.Lstat(filepath.Join(at, name)); err == nil {
				return at
			}
		}
	}
	if broad(dir) {
		return path
	}
	return dir
}

func present(paths ...string) []string {
	return slices.DeleteFunc(paths, func(path string) bool {
		_, err := os.Stat(path)
		return err != nil
	})
}
