package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/config"
	"conclave/app/plugin/dialect/mcp/runtimes"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
)

// A server that npx would fetch each time is installed once, into the plugin's storage, and then started directly: its
// version does not change by itself, and it starts offline. The process that installs it is the first that the host
// starts; once it has ended well, Adapt has the host start another, which is the server.

// node is a package of npm as an entry names it.
type node struct {
	spec string   // name@version, as it is installed
	bin  string   // which of its programs; empty for the one that it has, or that has its name
	args []string // of the server
}

// nodePackage returns the package that an npx command starts; ok is false for other commands, and for one with options
// that are npx's own affair.
func nodePackage(s config.Server) (n node, ok bool) {
	if runnerOf(s.Command) != "npx" {
		return n, false
	}
	args := s.Args
	for ; len(args) > 0 && strings.HasPrefix(args[0], "-"); args = args[1:] {
		name, value, joined := strings.Cut(args[0], "=")
		switch name {
		case "-y", "--yes", "-q", "--quiet", "--prefer-online", "--prefer-offline":
		case "-p", "--package":
			if !joined {
				if len(args) < 2 {
					return n, false
				}
				value, args = args[1], args[1:]
			}
			if n.spec != "" {
				return n, false
			}
			n.spec = value
		default:
			return n, false
		}
	}
	if len(args) == 0 {
		return n, false
	}
	if n.spec != "" {
		n.bin = args[0]
	} else {
		n.spec = args[0]
	}
	n.args = args[1:]
	return n, nodeName(n.spec) != ""
}

// nodeName returns the name in name@version; "" for what is no name of a package in npm's registry.
func nodeName(spec string) string {
	scope, name := "", spec
	if rest, scoped := strings.CutPrefix(spec, "@"); scoped {
		var ok bool
		if scope, name, ok = strings.Cut(rest, "/"); !ok || !plain(scope) {
			return ""
		}
		scope = "@" + scope + "/"
	}
	name, _, _ = strings.Cut(name, "@")
	if !plain(name) {
		return ""
	}
	return scope + name
}

// plain reports whether a part of a package's name is one that npm takes.
func plain(name string) bool {
	return name != "" && name[0] != '.' && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("-_.~", r)
	})
}

// nodeFolder is the folder in a plugin's storage where a package is installed.
func nodeFolder(n node) string { return filepath.Join("npm", plugin.LegalID(n.spec)) }

// installed is the file that says that a package was installed whole.
const installed = "installed"

// installedProgram returns the file of an installed package that is its server, and whether it is installed.
func installedProgram(storage string, n node) (path string, ok bool) {
	dir := nodeFolder(n)
	if _, _, err := safefs.ReadWritable(storage, filepath.ToSlash(filepath.Join(dir, installed)), 1); err != nil {
		return "", false
	}
	in := filepath.Join(dir, "node_modules", filepath.FromSlash(nodeName(n.spec)))
	const most = 1 << 20
	raw, _, err := safefs.ReadWritable(storage, filepath.ToSlash(filepath.Join(in, "package.json")), most)
	if err != nil {
		return "", false
	}
	var about struct {
		Bin json.RawMessage `json:"bin"`
	}
	if json.Unmarshal(raw, &about) != nil {
		return "", false
	}
	file := binOf(about.Bin, n)
	if file == "" || !filepath.IsLocal(filepath.FromSlash(file)) {
		return "", false
	}
	return filepath.Join(storage, in, filepath.FromSlash(file)), true
}

// binOf returns the program of a package that npx would start.
func binOf(raw json.RawMessage, n node) string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return one
	}
	var all map[string]string
	if json.Unmarshal(raw, &all) != nil {
		return ""
	}
	name := nodeName(n.spec)
	if n.bin != "" {
		return all[n.bin]
	}
	if len(all) == 1 {
		for _, file := range all {
			return file
		}
	}
	return all[name[strings.LastIndexByte(name, '/')+1:]]
}

// installation returns the command that installs a package into a plugin's storage. Scripts of packages run only where
// the plugin may start programs.
func installation(storage string, n node, granted []string) []string {
	command := []string{
		"npm", "install", "--prefix", filepath.Join(storage, nodeFolder(n)), "--no-audit", "--no-fund",
		"--loglevel=error", "--no-save",
	}
	if !slices.Contains(granted, gate.Programs) {
		command = append(command, "--ignore-scripts")
	}
	return append(command, "--", n.spec)
}

// install puts into spec what installs or starts a server that npx would start. It reports false for other servers.
func (d *Dialect) install(spec *sandbox.Spec, s config.Server, id string, start plugin.StartOptions,
	env *runtimes.Environment,
) (bool, error) {
	n, ok := nodePackage(s)
	if !ok {
		return false, nil
	}
	if path, there := installedProgram(start.Storage, n); there {
		// Nothing in the file decides what else is opened for it: the server can write there.
		return true, program(spec, env, slices.Concat([]string{"node", path}, n.args), maxScripts)
	}
	if _, err := env.Resolve("npm", spec.Dir); missing(err) != nil {
		return true, missing(err)
	}
	if p := lacks(id, "npm", []string{gate.Network}, start.Granted); p != nil {
		return true, p
	}
	if err := inStorage(start.Storage, func(f *safefs.Folder) error { return f.MakeFolder(nodeFolder(n)) }); err != nil {
		return true, &plugin.Problem{Kind: "unavailable", Message: "Its folder cannot be made: " + err.Error() + "."}
	}
	d.mu.Lock()
	d.installing[id] = installing{start.Storage, nodeFolder(n)}
	d.mu.Unlock()
	return true, program(spec, env, installation(start.Storage, n, start.Granted), maxScripts)
}

// awaitInstallation waits until the process that installs a plugin's server has ended, if this one does. The error is
// plugin.ErrStartAgain once it is installed, or a *plugin.Problem.
func (d *Dialect) awaitInstallation(ctx context.Context, id string, process sandbox.Process) (is bool, err error) {
	d.mu.Lock()
	to, is := d.installing[id]
	delete(d.installing, id)
	d.mu.Unlock()
	if !is {
		return false, nil
	}
	select {
	case <-process.Done():
	case <-ctx.Done():
		return true, context.Cause(ctx)
	}
	if exit := process.Exit(); exit != "exit 0" {
		said := strings.TrimSpace(process.Stderr())
		return true, &plugin.Problem{
			Kind: "install", Message: "It could not be installed: " + firstLine(said, exit) + ".", Stderr: said,
			Hint: "Read its log, then reload it. It is fetched from npm's registry.",
		}
	}
	name := filepath.Join(to.folder, installed)
	if err := inStorage(to.storage, func(f *safefs.Folder) error { return f.Write(name, nil) }); err != nil {
		return true, &plugin.Problem{Kind: "install", Message: "It could not be installed: " + err.Error() + "."}
	}
	return true, plugin.ErrStartAgain
}

// installing is where a server is being installed.
type installing struct{ storage, folder string }

// inStorage opens a plugin's storage, in which no link is followed.
func inStorage(storage string, do func(*safefs.Folder) error) error {
	folder, err := safefs.Open(storage)
	if err != nil {
		return err
	}
	defer folder.Close() //nolint:errcheck // nothing is buffered
	return do(folder)
}

// firstLine returns the first line of what an installer wrote that says more than a code, without its prefix; or how it
// ended.
func firstLine(said, exit string) string {
	first := exit
	for line := range strings.Lines(said) {
		line = strings.TrimSuffix(strings.TrimSpace(strings.TrimPrefix(line, "npm error ")), ".")
		if code, is := strings.CutPrefix(line, "code "); is || line == "" {
			first = cmp.Or(code, first)
			continue
		}
		return line
	}
	return first
}
