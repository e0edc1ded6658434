package python

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"conclave/app/base/place"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/sandbox"
)

// Config describes its plugin to the worker; shim/conclave_worker/main.py says what each
// key means.
type Config struct {
	Loader   string   `json:"loader"`            // module of the shim that loads the plugin
	Modules  []string `json:"modules,omitempty"` // folders of the shim put on the path: "llm", "neko"
	Entry    string   `json:"entry"`
	Display  string   `json:"display"`
	Root     string   `json:"root"`
	Home     string   `json:"home"`
	Package  bool     `json:"package,omitempty"`
	Folder   bool     `json:"folder,omitempty"`
	Siblings []string `json:"siblings,omitempty"`
	Paths    []string `json:"paths,omitempty"` // of a folder: the folders in it that modules are found in
	ID       string   `json:"id"`
	Storage  string   `json:"storage"`
	Site     []string `json:"site"`
	Python   string   `json:"python"`
	Extra    any      `json:"extra,omitempty"` // what the loader needs besides
	Granted  []string `json:"granted,omitempty"`
	Reads    []string `json:"reads"`  // what the sandbox lets it read: what it is refused besides is said in words
	Writes   []string `json:"writes"` // and write
	// GrantedHome are the files and folders of the person's home that it was granted, by their names below that.
	GrantedHome map[string]string `json:"granted_home,omitempty"`
	// Executes are the programs that it may start by itself, with the folders whose programs it may; nil for one
	// that may start none.
	Executes []string `json:"executes,omitempty"`

	// LoadMS is the time that loading may take, in milliseconds, before the worker says where it is stuck; 0:
	// as long as the worker gives by itself.
	LoadMS int64 `json:"load_ms,omitempty"`

	Options json.RawMessage `json:"options,omitempty"` // what the person set, without secrets
	Secrets []string        `json:"secrets,omitempty"` // the secret settings that are set
}

// FolderConfig returns the configuration of a plugin that is a folder; entry is
// relative to it, with slashes. The plugin runs from the copy of what was approved,
// not from the person's folder, which may have changed since.
func FolderConfig(src plugin.Source, entry string) Config {
	path := filepath.Join(src.Path, filepath.FromSlash(entry))
	return Config{ID: src.ID, Folder: true, Root: src.Path, Home: src.Path, Entry: path, Display: path}
}

// loadable are the endings of what Python imports. Of the person's folder none of it
// goes into the copy: what is loaded is the code that was approved.
var loadable = []string{".py", ".pyc", ".pyo", ".pyd", ".pth", ".so", ".dll", ".dylib"}

// UseWritableCopy has a plugin that is a folder run in a copy in its storage
// (safefs.SyncCopy), called name: with the approved files, and the data next to them
// in the person's folder, but without the folders named by skip. If there is too much
// to copy, the plugin runs in its own folder, which it can only read, and notes hold a
// sentence for its card. The error is a *plugin.Problem.
func (c *Config) UseWritableCopy(src plugin.Source, storage, name string, skip ...string) (notes []string, err error) {
	copied := filepath.Join("plugin", name)
	belongs := func(name string) bool {
		return !slices.ContainsFunc(skip, func(folder string) bool { return strings.HasPrefix(name, folder+"/") })
	}
	data := func(name string) bool {
		return belongs(name) && !slices.Contains(loadable, strings.ToLower(filepath.Ext(name)))
	}
	from := []safefs.CopySource{{Folder: src.Path, Takes: belongs}, {Folder: cmp.Or(src.Display, src.Path), Takes: data}}
	switch err := safefs.SyncCopy(storage, copied, from...); {
	case errors.Is(err, safefs.ErrTooLarge):
		return []string{"It has too many files to be given a copy that it may write to; beside its code it can only " +
			"read."}, nil
	case errors.Is(err, safefs.ErrLink):
		return nil, &plugin.Problem{
			Kind:    "refused",
			Message: "Its files were not copied to where it may write, because a link lies there: " + err.Error() + ".",
			Hint: "The plugin may have made it to reach other files. Look at what it is, then delete " +
				filepath.Join(storage, copied) + " and reload the plugin.",
		}
	case err != nil:
		return nil, &plugin.Problem{
			Kind: "unavailable", Message: "Its files could not be copied to where it may write: " + err.Error() + ".",
		}
	}
	entry, err := filepath.Rel(c.Root, c.Entry)
	if err != nil {
		return nil, &plugin.Problem{Kind: "unavailable", Message: err.Error() + "."} // both are absolute
	}
	c.Home = filepath.Join(storage, copied)
	c.Display = filepath.Join(c.Home, entry)
	return nil, nil
}

// Spec describes the worker of a plugin: the interpreter, isolated from the
// person's environment, with what it needs to read (own, of the plugin) and
// nothing to write but the plugin's storage. Storage, Site, Python and, unless
// they are set, Options and Secrets of c are filled in; folders of packages that
// c names in Site come first. The error is a *plugin.Problem of kind unavailable
// when there is no Python.
func (d *Interpreters) Spec(ctx context.Context, start plugin.StartOptions, c Config,
	own []string,
) (sandbox.Spec, error) {
	python, shimDir, err := d.Resolve(ctx, cmp.Or(start.Runtime, d.options.Runtime))
	if err != nil {
		return sandbox.Spec{}, err
	}
	c.Site = slices.Concat(c.Site, start.Site)
	own = slices.Concat(own, c.Site, []string{shimDir})
	c.Storage = start.Storage
	c.LoadMS = (start.Load * 9 / 10).Milliseconds() // before the host gives it up, which does not know the place
	if c.Options == nil {
		c.Options, c.Secrets = start.Options, start.Secrets
	}
	c.Site = slices.Concat(c.Site, python.Site)
	c.Python = strings.Join(python.Command, " ")
	spec := sandbox.Spec{
		Kind:    "command",
		Env:     Environment(start.Storage),
		Dir:     start.Work,
		Read:    readable(python, own),
		Execute: Loader(python.Executable),
		Write:   slices.DeleteFunc([]string{start.Storage}, func(dir string) bool { return dir == "" }),
		Memory:  sandbox.PythonMemory,
	}
	c.setAccess(start, spec)
	if spec.Input, err = json.Marshal(c); err != nil {
		return sandbox.Spec{}, err
	}
	spec.Argv = append(append([]string{python.Executable}, Flags()...), "-c", boot, shimDir, "serve")
	return spec, nil
}

// setAccess writes down for the worker what its sandbox lets it access.
func (c *Config) setAccess(start plugin.StartOptions, spec sandbox.Spec) {
	start.ApplyPermissions(&spec)
	c.Granted = start.Granted
	c.Writes = spec.Write
	c.Reads = slices.Concat(spec.Read, spec.Execute, spec.Write)
	if home, err := os.UserHomeDir(); err == nil {
		home = place.Real(home)
		for _, f := range start.Folders {
			if name, err := filepath.Rel(home, f.Path); err == nil && filepath.IsLocal(name) && name != "." {
				if c.GrantedHome == nil {
					c.GrantedHome = map[string]string{}
				}
				c.GrantedHome[name] = f.Path
			}
		}
	}
	if slices.Contains(start.Granted, gate.Programs) {
		c.Executes = spec.Execute
	}
}

// Flags isolate the interpreter: no PYTHON* variables, no site packages but
// those the worker adds, no bytecode written, UTF-8 whatever the locale.
func Flags() []string { return []string{"-I", "-S", "-B", "-X", "utf8"} }

// person is the name that a worker has for whom it runs for. It is nobody's: what asks for one
// (getpass.getuser) need not know the person's.
const person = "conclave"

// Environment is the whole environment of a worker.
func Environment(home string) []string {
	// One arena of the C library for all threads: each further one takes memory from the worker's limit,
	// and Python's own allocator, under its lock, serves nearly everything.
	env := []string{"LANG=C.UTF-8", "LOGNAME=" + person, "USER=" + person, "MALLOC_ARENA_MAX=1"}
	if home != "" {
		env = append(env, "HOME="+home, "TMPDIR="+home)
	}
	if zone := zone(); zone != "" {
		env = append(env, "TZ="+zone)
	}
	if runtime.GOOS == "windows" {
		// Python does not start without it.
		env = append(env, "SYSTEMROOT="+os.Getenv("SYSTEMROOT"), "USERNAME="+person)
	}
	return env
}

// zone returns the name of the person's time zone, or "": /etc is not among what
// a worker may read.
func zone() string {
	if name := os.Getenv("TZ"); name != "" {
		return name
	}
	target, err := os.Readlink("/etc/localtime")
	if err != nil {
		return ""
	}
	_, name, _ := strings.Cut(target, "zoneinfo/")
	return name
}

// impersonal are files that libraries read when they are imported or asked for the machine, and that say
// nothing about the person or other processes: the kinds of files by their endings (mimetypes.knownfiles),
// the memory and processors that there are, the user that stands for those of other namespaces (bubblewrap
// reads it first), and whose certificates of servers are trusted (OpenSSL opens them in C, where a refusal
// has no words). /proc/stat is not among them, since its counts of interrupts show when keys are pressed;
// nor is anything below /proc/self, which has the environment and the memory of the process.
var impersonal = []string{
	"/etc/mime.types", "/etc/httpd/mime.types", "/etc/httpd/conf/mime.types", "/etc/apache/mime.types",
	"/etc/apache2/mime.types", "/usr/local/etc/httpd/conf/mime.types", "/usr/local/lib/netscape/mime.types",
	"/usr/local/etc/mime.types", "/proc/meminfo", "/proc/cpuinfo",
	"/proc/sys/kernel/overflowuid", "/proc/sys/kernel/overflowgid",
	"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/openssl.cnf", "/etc/pki/tls/certs", "/etc/pki/tls/cert.pem",
	"/etc/pki/ca-trust/extracted", "/etc/ca-certificates/extracted", "/usr/share/ca-certificates",
	"/usr/local/share/ca-certificates",
}

// readable returns what the interpreter needs to read, as far as it is there,
// and own.
func readable(python Python, own []string) []string {
	paths := slices.Concat(own, []string{filepath.Dir(python.Executable), python.Stdlib, python.Platstdlib}, python.Site,
		python.Libraries)
	paths = append(paths,
		"/lib", "/lib64", "/usr/lib", "/usr/lib64", // shared libraries
		"/etc/ld.so.cache", "/etc/localtime", "/usr/share/zoneinfo")
	paths = append(paths, impersonal...)
	var found []string
	for _, path := range paths {
		if _, err := os.Stat(path); path == "" || err != nil || slices.Contains(found, path) {
			continue
		}
		found = append(found, path)
	}
	return found
}
