package packages

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/sandbox"
)

// Bounds of an installer's process. A resolver keeps what it knows of hundreds of
// packages; the largest wheels have some hundred megabytes.
const (
	installMemory    = 2 << 30
	installFileBytes = 4 << 30
	installFiles     = 1024
)

// pip is the pip that installs: that of the interpreter, or the one it keeps for
// making environments.
type pip struct {
	path    string // a folder that holds pip, or a wheel of it
	version string
}

// minimumPip is the oldest pip whose resolver backtracks.
const minimumPip = ">=20.3"

// pipOf finds a pip. None of it is put into environments.
func pipOf(py python.Python) (pip, bool) {
	for _, site := range py.Site {
		if !holds([]string{site}, "pip") {
			continue
		}
		if version := distributions([]string{site})["pip"]; version != "" && python.Satisfies(version, minimumPip) {
			return pip{site, version}, true
		}
	}
	for _, dir := range []string{
		filepath.Join(py.Stdlib, "ensurepip", "_bundled"), "/usr/share/python-wheels",
		"/usr/share/python-pip-wheels",
	} {
		wheels, _ := filepath.Glob(filepath.Join(dir, "pip-*.whl"))
		if len(wheels) > 0 {
			wheel := wheels[len(wheels)-1]
			version, _, _ := strings.Cut(strings.TrimPrefix(filepath.Base(wheel), "pip-"), "-")
			return pip{wheel, version}, true
		}
	}
	return pip{}, false
}

// unable returns why nothing can be installed with this interpreter, or "".
func (e *Environments) unable(py python.Python) string {
	if !holds([]string{py.Stdlib}, "venv") {
		return "This Python (" + py.Executable +
			") has no module venv, so no environment can be made. Install it (on Debian and Ubuntu: apt install " +
			"python3-venv), or name another Python in the settings."
	}
	if _, ok := pipOf(py); !ok && e.o.UV == "" {
		return "This Python (" + py.Executable +
			") has neither pip nor ensurepip, and there is no uv. Install one of them (on Debian and Ubuntu: apt install " +
			"python3-venv), or name another Python in the settings."
	}
	return ""
}

// runPip runs pip from a place that is no part of the environment: it is imported
// from there, and the place taken off the path again, so that what else lies
// there does not count as installed. What a package requires from an address is
// fetched only if the list names that address: its author may have written
// anything there, and nobody was shown it.
const runPip = `import sys
place, named = sys.argv.pop(1), sys.argv.pop(1).split()
sys.path.insert(0, place)
import pip
import pip._internal.req.constructors as constructors
from pip._internal.exceptions import InstallationError
required = constructors.install_req_from_req_string

def only_named(text, comes_from=None, *rest, **more):
    made = required(text, comes_from, *rest, **more)
    address = getattr(made.req, "url", None)
    if address and address.split("#")[0] not in named:
        raise InstallationError(f"` + unnamed + ` {getattr(comes_from, 'name', '')} requires {made.name} from {address}")
    return made

constructors.install_req_from_req_string = only_named
from pip._internal.cli.main import main
sys.path.remove(place)
sys.argv[0] = "pip"
sys.exit(main())
`

// unnamed begins what is said of an address that no list names.
const unnamed = "Conclave fetches no address that is not named:"

// isWheel reports whether what lies at an address is a wheel, as pip judges it: by the
// last part of its path, whatever stands in its query and its fragment.
func isWheel(address string) bool {
	u, err := url.Parse(address)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && strings.EqualFold(path.Ext(u.Path), ".whl")
}

// job is one installation.
type job struct {
	home  string // the plugin's folder
	env   string // the environment being made; the installer writes it and the cache, and nothing else
	temp  string // what is deleted when it is over
	list  string // the file of requirements
	index string
	more  []string // other indexes, consented to
	// addresses are those that the list names for packages, consented to.
	addresses []string
	hashes    bool
	consent   plugin.InstallOptions
	py        python.Python
}

// venv describes making the empty environment.
func (j job) venv() sandbox.Spec {
	spec := j.py.Program([]string{j.py.Executable, "-I", "-B", "-X", "utf8", "-m", "venv", "--without-pip", j.env})
	return j.sandboxed(spec)
}

// cache is the folder of what was downloaded.
func (j job) cache() string { return filepath.Join(j.home, "cache") }

// sandboxed lets a process write the environment and the cache, with its own temporary
// files there, and nothing of what Conclave itself writes next to them: code of
// packages may run in it.
func (j job) sandboxed(spec sandbox.Spec) sandbox.Spec {
	spec.Dir = j.temp
	spec.Write = []string{j.env, j.cache()}
	spec.Memory, spec.FileBytes, spec.Files = installMemory, installFileBytes, installFiles
	spec.Env = append(slices.DeleteFunc(spec.Env, func(v string) bool {
		return strings.HasPrefix(v, "HOME=") || strings.HasPrefix(v, "TMPDIR=")
	}), "HOME="+j.temp, "TMPDIR="+j.temp, "TMP="+j.temp, "TEMP="+j.temp)
	return spec
}

// passed are the variables of the person's that say how to reach the network.
var passed = []string{
	"http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
	"NO_PROXY",
	"SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "PIP_CERT",
}

// network lets a process reach the network: names, certificates, proxies.
func (j job) network(spec sandbox.Spec) sandbox.Spec {
	spec.Sockets = true
	for _, name := range passed {
		if value := os.Getenv(name); value != "" {
			spec.Env = append(spec.Env, name+"="+value)
			if filepath.IsAbs(value) {
				spec.Read = append(spec.Read, value)
			}
		}
	}
	if runtime.GOOS != "windows" {
		spec.Read = append(spec.Read, "/etc/resolv.conf", "/run/systemd/resolve", "/etc/hosts", "/etc/nsswitch.conf",
			"/etc/host.conf", "/etc/gai.conf",
			"/etc/services", "/etc/protocols", "/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr/share/ca-certificates",
			"/usr/local/share/ca-certificates",
			"/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release", "/etc/debian_version", "/etc/mime.types",
			"/dev/urandom", "/dev/null")
	}
	if j.consent.Build {
		// The code of packages runs, with what a compiler needs; it still writes
		// nothing but this plugin's folder.
		spec.Spawn = true
		spec.Env = append(spec.Env, "PATH=/usr/local/bin:/usr/bin:/bin")
		spec.Read = append(spec.Read, "/usr/include", "/usr/local/include", "/usr/share", "/dev/zero", "/proc")
		spec.Execute = append(spec.Execute, "/usr/bin", "/bin", "/usr/local/bin", "/usr/lib", "/usr/libexec", "/lib",
			"/lib64", filepath.Dir(j.py.Executable), j.env)
	}
	return spec
}

// named returns the addresses of the list for runPip.
func (j job) named() string {
	var all []string
	for _, address := range j.addresses {
		address, _, _ = strings.Cut(address, "#")
		all = append(all, address)
	}
	return strings.Join(all, " ")
}

// places returns where packages come from, for a sentence: the index and others that were
// allowed, unless all have addresses, and the addresses.
func (j job) places(packages int) string {
	var all []string
	if packages > len(j.addresses) {
		for _, index := range append([]string{j.index}, j.more...) {
			all = append(all, serverOf(index))
		}
	}
	for _, address := range j.addresses {
		all = append(all, redact(address))
	}
	return strings.Join(all, ", ")
}

// pip describes the installation with pip.
func (j job) pip(p pip) sandbox.Spec {
	argv := []string{
		interpreterOf(j.env), "-I", "-X", "utf8", "-c", runPip, p.path, j.named(), "install",
		"--isolated", "--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar", "off",
		"--require-virtualenv",
		"--no-warn-script-location", "--cache-dir", j.cache(), "--timeout", "30", "--retries", "3",
		"--log", filepath.Join(j.temp, pipLog), "--index-url", j.index,
	}
	for _, index := range j.more {
		argv = append(argv, "--extra-index-url", index)
	}
	for _, index := range append([]string{j.index}, j.more...) {
		// A loopback index has no certificate, and pip keeps nothing of such a one
		// unless it is set to trust it.
		if u, err := url.Parse(index); err == nil && loopback(u) {
			argv = append(argv, "--trusted-host", u.Host)
		}
	}
	if j.consent.Build {
		argv = append(argv, "--prefer-binary")
	} else {
		argv = append(argv, "--only-binary", ":all:")
	}
	if j.hashes {
		argv = append(argv, "--require-hashes")
	}
	return j.network(j.sandboxed(j.py.Program(append(argv, "-r", j.list))))
}

// pipLog is pip's own log, which has more than what it prints.
const pipLog = "pip.log"

// withUV describes the installation with uv, which starts the environment's
// interpreter to ask it what it is.
func (j job) withUV(program string) sandbox.Spec {
	argv := []string{
		program, "pip", "install", "--python", interpreterOf(j.env), "--no-config", "--no-progress", "--color", "never",
		"--link-mode", "copy",
		"--cache-dir", filepath.Join(j.cache(), "uv"), "--default-index", j.index, "--no-python-downloads",
		"--compile-bytecode",
	}
	for _, index := range j.more {
		argv = append(argv, "--index", index)
	}
	if !j.consent.Build {
		argv = append(argv, "--no-build")
	}
	if j.hashes {
		argv = append(argv, "--require-hashes")
	}
	spec := j.network(j.sandboxed(j.py.Program(append(argv, "-r", j.list))))
	spec.Spawn = true
	spec.Execute = slices.Concat(spec.Execute, python.Loader(program))
	spec.Read = append(spec.Read, "/proc/self", "/sys/fs/cgroup")
	return spec
}
