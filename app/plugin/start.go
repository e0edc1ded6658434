package plugin

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/base/place"
	"conclave/app/gate"
	"conclave/app/plugin/sandbox"
)

// StartOptions say which folders, permissions and settings a plugin's process starts
// with.
type StartOptions struct {
	Storage string        // the plugin's own folder for data, absolute; it exists, and belongs to the plugin alone
	Runtime string        // Conclave's folder for unpacked shims and caches, absolute; the plugin may only read it
	Work    string        // the working folder the process starts in
	Code    string        // digest of the files it is started from; empty for a throw-away look
	Granted []string      // the permissions the person granted it, in permit's words
	Folders []gate.Folder // what it may reach outside its folders
	// Programs are the files of those that it may start with the permission programs; nil is all
	// on the person's PATH, and those to which links there lead.
	Programs []string
	Proxy    Proxy // its way out, which it has with the permission network

	Options json.RawMessage // what the person set, an object without secrets; nil when nothing
	Secrets []string        // the paths of the secret settings that are set; options.secret tells them
	// Secret returns one of them, for a plugin that cannot ask. What it returned is masked in what the plugin says.
	Secret func(ctx context.Context, path string) (string, error)
	// Mask has a text masked from then on in what the plugin says: a secret that its source holds.
	Mask func(secret string)

	// Opens reports whether the sandbox may be opened for a path that the plugin's configuration names. Where it is nil,
	// any may.
	Opens func(path string) bool

	// Load is the time that the host waits until it has loaded, where that is not host.LoadTimeout; else 0.
	Load time.Duration

	Site []string // folders of packages that were installed for it, which it may read; before the machine's own
}

// Proxy is where the process of a plugin that may use the network connects to; the zero
// value is none, and then it connects nowhere.
type Proxy struct {
	Address string // of this computer: 127.0.0.1:4711
	URL     string // the same with the credential of the process
}

// environment returns the variables by which programs find their proxy. Node reads
// them from version 24 on, where the last one says so.
func (p Proxy) environment() []string {
	var all []string
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		all = append(all, name+"="+p.URL, strings.ToLower(name)+"="+p.URL)
	}
	return append(all, "NODE_USE_ENV_PROXY=1")
}

// Runtime returns the folder for unpacked shims and caches under a data folder.
func Runtime(data string) string { return filepath.Join(data, "runtime") }

// ApplyPermissions adds to the sandbox of spec what the person granted, whatever
// dialect described the process. The engine of scripts ("js") can use none of it, and
// permit grants them none.
func (o StartOptions) ApplyPermissions(spec *sandbox.Spec) {
	if spec.Kind == "js" {
		return
	}
	// others keep theirs
	spec.Read, spec.Write, spec.Execute = slices.Clip(spec.Read), slices.Clip(spec.Write), slices.Clip(spec.Execute)
	spec.Exact = slices.Clip(spec.Exact)
	if slices.Contains(o.Granted, gate.Network) && o.Proxy.Address != "" {
		spec.Sockets, spec.Proxy = true, o.Proxy.Address
		spec.Env = append(slices.Clip(spec.Env), o.Proxy.environment()...)
		spec.Read = append(spec.Read, networkFiles()...)
	}
	if slices.Contains(o.Granted, gate.Listen) {
		spec.Read = append(spec.Read, nameFiles()...)
	}
	// With sockets it may ask for a port, as for a host.
	spec.Listens = spec.Listens || spec.Sockets || slices.Contains(o.Granted, gate.Listen)
	if slices.Contains(o.Granted, gate.Programs) {
		spec.Spawn = true
		path := cmp.Or(valueOf(spec.Env, "PATH"), os.Getenv("PATH"))
		spec.Env = append(slices.Clone(spec.Env), "PATH="+path)
		for _, program := range o.Programs {
			spec.Execute = append(spec.Execute, ProgramFiles(program)...)
		}
		if o.Programs == nil {
			folders, files := pathPrograms(path, o.writes(*spec))
			spec.Execute = slices.Concat(spec.Execute, folders, files)
			spec.Exact = append(spec.Exact, files...)
		}
	}
	for _, f := range o.Folders {
		if !o.reachable(f) {
			continue
		}
		if f.Write {
			spec.Write = append(spec.Write, f.Path)
		} else {
			spec.Read = append(spec.Read, f.Path)
		}
		spec.Exact = append(spec.Exact, f.Path)
	}
}

// valueOf returns a variable of an environment, "" where it is not set.
func valueOf(env []string, name string) string {
	for _, entry := range slices.Backward(env) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// writes returns the folders that a process of spec may change.
func (o StartOptions) writes(spec sandbox.Spec) []string {
	all := slices.Clone(spec.Write)
	for _, f := range o.Folders {
		if f.Write {
			all = append(all, f.Path)
		}
	}
	return all
}

// reachable reports whether the path of a granted folder is still what the person
// granted; a link that replaced it is not. A folder below another that the plugin may
// write is passed over: it is granted with that one, and the plugin could put a link
// there.
func (o StartOptions) reachable(f gate.Folder) bool {
	real, err := filepath.EvalSymlinks(f.Path)
	return err == nil && real == f.Path && !slices.ContainsFunc(o.Folders, func(other gate.Folder) bool {
		return other.Write && other.Path != f.Path && place.Inside(other.Path, f.Path)
	})
}

// nameFiles returns what looking up the name of this computer reads.
func nameFiles() []string {
	return slices.DeleteFunc([]string{"/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf"},
		func(path string) bool { return !isThere(path) })
}

// networkFiles returns what resolving names and checking certificates reads.
func networkFiles() []string {
	return slices.DeleteFunc([]string{
		"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/host.conf", "/etc/gai.conf", "/etc/services",
		"/etc/protocols",
		"/run/systemd/resolve", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates", "/usr/lib/ssl",
	}, func(path string) bool { return !isThere(path) })
}

func isThere(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
