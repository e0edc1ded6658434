package walls

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/plugin/sandbox"
)

// SandboxExec is the program of macOS that applies a profile to itself and becomes
// another program. It is named by its path: PATH is the plugin's to set.
const SandboxExec = "/usr/bin/sandbox-exec"

// What every program of macOS opens before its first line: libraries, the cache of the
// dynamic linker, the time zones. None of it is the person's.
var systemFolders = []string{
	"/usr/lib", "/System/Library", "/System/Cryptexes", "/System/Volumes/Preboot/Cryptexes",
	"/Library/Apple/System/Library", "/Library/Apple/usr/libexec/oah", // the latter for programs of Intel's
	"/private/var/db/dyld", "/private/var/db/timezone", "/usr/share/zoneinfo", "/usr/share/icu",
}

// devices are the files that every program expects to be there; sinks are those among
// them that may be written.
var (
	devices = []string{"/dev/null", "/dev/zero", "/dev/random", "/dev/urandom"}
	sinks   = []string{"/dev/null", "/dev/zero"}
)

// facts are the values that a runtime asks the kernel for at its start. Not among them
// is kern.proc…, which tells the arguments and variables of the person's programs.
var facts = []string{
	"hw.activecpu", "hw.byteorder", "hw.cacheconfig", "hw.cachelinesize", "hw.cpufamily", "hw.cpusubtype", "hw.cputype",
	"hw.logicalcpu", "hw.logicalcpu_max", "hw.machine", "hw.memsize", "hw.ncpu", "hw.nperflevels", "hw.pagesize",
	"hw.pagesize_compat", "hw.physicalcpu", "hw.physicalcpu_max", "kern.argmax", "kern.hostname",
	"kern.maxfilesperproc", "kern.ngroups", "kern.osproductversion", "kern.osrelease", "kern.ostype", "kern.osversion",
	"kern.usrstack64", "kern.version", "vm.loadavg",
}

// networkServices are the services of macOS that programs ask about proxies and
// certificates. Without the network, a process reaches no service at all.
var networkServices = []string{"com.apple.SystemConfiguration.configd", "com.apple.trustd.agent"}

// Seatbelt returns the profile for [SandboxExec] that has in it what spec lists and
// nothing else. Paths are resolved, since the kernel compares where they lead; one that
// resolve cannot find is passed over. The error names what cannot be put into a profile.
func Seatbelt(spec sandbox.Spec, resolve func(string) (string, error)) (string, error) {
	p := profile{resolve: resolve}
	p.line("(version 1)")
	p.line("(deny default)")

	// That a path exists is no secret, here as on Linux.
	p.line("(allow file-read-metadata)")
	p.allow("file-read*", "literal", "/")
	p.allow("file-read* file-map-executable", "subpath", systemFolders...)
	p.allow("file-read*", "literal", devices...)
	p.allow("file-write-data", "literal", sinks...)

	p.allow("file-read* file-map-executable", "subpath", p.real(spec.Read, spec.Exact)...)
	execute := p.real(spec.Execute, spec.Exact)
	p.allow("file-read* file-map-executable process-exec", "subpath", execute...)
	// No modes, owners and attributes, no hard links, and no devices, sockets and pipes.
	write := p.real(spec.Write, spec.Exact)
	p.allow("file-read* file-map-executable file-write-data file-write-unlink", "subpath", write...)
	for _, path := range write {
		p.line("(allow file-write-create (require-all (subpath " + p.quoted(path) + ") " +
			"(require-any (vnode-type REGULAR-FILE) (vnode-type DIRECTORY) (vnode-type SYMLINK))))")
	}

	whom := "self"
	if spec.Spawn {
		whom = "same-sandbox"
		p.line("(allow process-fork)")
	}
	p.line("(allow signal (target " + whom + "))")
	p.line("(allow process-info* (target " + whom + "))")
	p.allow("sysctl-read", "sysctl-name", facts...)
	p.allow("sysctl-read", "sysctl-name-prefix", "hw.optional.", "hw.perflevel")
	p.network(spec)
	return p.text.String(), p.err
}

// profile is a profile that is being written, and what was wrong first.
type profile struct {
	resolve func(string) (string, error)
	text    strings.Builder
	err     error
}

func (p *profile) line(text string) { p.text.WriteString(text + "\n") }

// allow writes one rule for all values; none without values, which would be a rule for
// everything.
func (p *profile) allow(what, filter string, values ...string) {
	if len(values) == 0 {
		return
	}
	p.text.WriteString("(allow " + what)
	for _, value := range values {
		p.text.WriteString("\n  (" + filter + " " + p.quoted(value) + ")")
	}
	p.line(")")
}

// network lets a process with sockets connect to its proxy, and to nothing else; where
// it has none, to the internet. It never binds, listens or meets others at a path.
func (p *profile) network(spec sandbox.Spec) {
	if !spec.Sockets {
		return
	}
	p.allow("mach-lookup", "global-name", networkServices...)
	if spec.Proxy == "" {
		p.line(`(allow network-outbound (remote ip "*:*"))`)
		p.allow("network-outbound", "literal", "/private/var/run/mDNSResponder") // it looks up names
		return
	}
	at, err := netip.ParseAddrPort(spec.Proxy)
	if err != nil || !at.Addr().IsLoopback() || at.Port() == 0 {
		p.fail("the proxy %q is no address of this computer", spec.Proxy)
		return
	}
	// A profile knows two names of computers, this one and all.
	p.line(`(allow network-outbound (remote tcp "localhost:` + strconv.Itoa(int(at.Port())) + `"))`)
}

// real returns where paths lead, but for those of exact that lead elsewhere.
func (p *profile) real(paths, exact []string) (found []string) {
	for _, path := range paths {
		if !strings.HasPrefix(path, "/") {
			p.fail("the path %q is not absolute", path)
			continue
		}
		to, err := p.resolve(path)
		switch {
		case err != nil: // there is nothing to open
		case to != path && slices.Contains(exact, path):
		case to == "/":
			p.fail("the path %q is the whole disk", path)
		default:
			found = append(found, to)
		}
	}
	return found
}

// quoted returns text as a string of a profile. Of the escapes in it two are the same on
// every macOS, that of the quotation mark and that of the backslash.
func (p *profile) quoted(text string) string {
	if !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
		p.fail("the name %q has characters that a seatbelt profile cannot hold", text)
		return `""`
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

func (p *profile) fail(format string, what string) {
	if p.err == nil {
		p.err = fmt.Errorf(format, what)
	}
}
