package gate

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"unicode"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/base/place"
	"conclave/app/tool"
)

// secretPlaces are below the home folder: of keys and passwords, of programs that keep a token there, and of browsers.
var secretPlaces = []string{
	".ssh", ".gnupg", ".aws", ".azure", ".config/gcloud", ".oci", ".config/doctl", ".config/hcloud", ".fly", ".kube",
	".docker/config.json", ".config/containers/auth.json", ".terraform.d/credentials.tfrc.json", ".vault-token",
	".netrc", "_netrc", ".authinfo", ".authinfo.gpg", ".pgpass", ".my.cnf", ".mylogin.cnf",
	".git-credentials", ".config/git/credentials", ".config/gh", ".config/glab-cli", ".config/hub",
	".npmrc", ".yarnrc.yml", ".cargo/credentials.toml", ".cargo/credentials", ".pypirc", ".gem/credentials",
	".config/composer/auth.json", ".composer/auth.json", ".m2/settings.xml", ".m2/settings-security.xml",
	".gradle/gradle.properties", ".nuget/NuGet/NuGet.Config", ".cache/huggingface/token", ".huggingface/token",
	".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json", ".config/github-copilot",
	".config/rclone", ".config/sops", ".config/op", ".config/Bitwarden", ".config/Bitwarden CLI",
	".password-store", ".local/share/keyrings", ".local/share/kwalletd",
	".mozilla", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware",
	".config/microsoft-edge",
	"snap/firefox/common/.mozilla", "snap/chromium/common/chromium", "snap/brave",
	".var/app/org.mozilla.firefox", ".var/app/com.google.Chrome", ".var/app/org.chromium.Chromium",
	".var/app/com.brave.Browser", ".var/app/com.microsoft.Edge",
	"Library/Keychains", "Library/Application Support/Google/Chrome", "Library/Application Support/Firefox",
	"Library/Safari",
	"AppData/Local/Google/Chrome", "AppData/Roaming/Mozilla", "AppData/Local/Microsoft/Edge",
	"AppData/Roaming/Microsoft/Protect", "AppData/Roaming/GitHub CLI", "AppData/Roaming/NuGet/NuGet.Config",
}

// places resolves paths, and knows what no tool may touch and no plugin is given. It never changes.
type places struct {
	home      string   // the person's; "" where there is none
	protected []string // that no tool may touch
	plugins   string   // the plugins folder; "" where there is none
}

func newPlaces(protected []string, plugins string) *places {
	p := &places{plugins: plugins}
	for _, path := range protected {
		p.protected = append(p.protected, place.Real(path))
	}
	if home, err := os.UserHomeDir(); err == nil && home != "" {
		p.home = home
		real := place.Real(home)
		for _, path := range secretPlaces {
			p.protected = append(p.protected, place.RealIn(real, filepath.FromSlash(path)))
		}
	}
	return p
}

// protectedPath returns the protected folder that text, taken as a path, leads
// into, or "". Links are resolved where they exist.
func (p *places) protectedPath(text string) string {
	for _, path := range pathsOf(text) {
		if path = p.expand(path); !filepath.IsAbs(path) {
			continue
		}
		if len(path) > maxPath {
			path = filepath.Clean(path) // no system opens it as it is, only a program that shortens it
		}
		path = place.Real(path)
		for _, kept := range p.protected {
			if place.Inside(kept, path) {
				return kept
			}
		}
	}
	return ""
}

// escaped is a byte of an address that is written by its number.
var escaped = pattern.Lazy("%[0-9A-Fa-f]{2}")

// pathsOf returns the paths that programs may take a text for: itself, and of an address
// file://HOST/PATH what it names, with and without its host, as it is written and decoded.
func pathsOf(text string) []string {
	scheme, rest, isAddress := strings.Cut(strings.TrimSpace(text), ":")
	if !isAddress || !strings.EqualFold(scheme, "file") {
		return []string{text}
	}
	path := rest
	if afterHost, ok := strings.CutPrefix(rest, "//"); ok {
		rest, path = afterHost, afterHost[max(strings.IndexByte(afterHost, '/'), 0):]
	}
	path, _, _ = strings.Cut(path, "#")
	path, _, _ = strings.Cut(path, "?")
	decoded := escaped().ReplaceAllStringFunc(path, func(code string) string {
		b, _ := hex.DecodeString(code[1:]) // it is of two digits
		return string(b)
	})
	return []string{rest, path, decoded}
}

// systemPlaces belong to the machine, and nothing in them can be granted: a plugin has what it
// needs of them to run anyway.
var systemPlaces = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/libx32", "/proc", "/run", "/sbin", "/sys", "/usr",
	"/lost+found",
	"/var/backups", "/var/cache", "/var/lib", "/var/local", "/var/log", "/var/mail", "/var/run", "/var/spool", "/System",
	"/Library", "/private/etc", `C:\Windows`,
}

// removable is where desktops show disks that somebody plugs in.
const removable = "/run/media"

func (p *places) grantable(path string, hiddenToo bool) (string, error) {
	refuse := func(why, hint string) (string, error) {
		return "", fault.New(fault.Invalid, "gate.folder", plain(path)+" "+why+", so no plugin is given it.", hint)
	}
	whole := p.expand(path)
	if !filepath.IsAbs(whole) || strings.ContainsRune(whole, 0) {
		return refuse("is no absolute path", "Write it from the top, as in /home/me/Notes, or ~/Notes for a folder of yours.")
	}
	real, err := filepath.EvalSymlinks(whole)
	if err != nil {
		return "", fault.Wrap(fault.NotFound, "gate.folder", "There is no "+plain(path)+", or you may not read it.",
			"Make it first, or correct the path.", err)
	}
	home := p.home
	if at, err := filepath.EvalSymlinks(home); err == nil {
		home = at
	}
	const narrower = "Name a folder in it that holds what the plugin needs, and nothing else."
	for _, kept := range p.apart() {
		switch {
		case place.Inside(kept, real):
			return refuse("is a place of keys, passwords or of Conclave itself",
				"Copy what the plugin needs to its own folder.")
		case place.Inside(real, kept) && !place.Inside(real, home):
			return refuse("holds places of keys, passwords or of Conclave itself", narrower)
		}
	}
	inHome := home != "" && place.Inside(home, real)
	switch {
	case home != "" && real == home:
		return refuse("is your whole home folder", narrower)
	case home != "" && place.Inside(real, home):
		return refuse("holds your home folder", narrower)
	case inHome && hidden(home, real) && !hiddenToo:
		return refuse("is hidden, or lies in a hidden folder, where programs keep what is not for others",
			"Grant it to be read alone, or copy what the plugin needs to its own folder.")
	}
	for _, of := range systemPlaces {
		if !inHome && (place.Inside(of, real) || place.Inside(real, of)) &&
			!(place.Inside(removable, real) && real != removable) {
			return refuse("is a folder of the system", "Name your own folder.")
		}
	}
	return real, nil
}

// apart are the places that no plugin is given: the protected ones, and other
// plugins.
func (p *places) apart() []string {
	if p.plugins == "" {
		return p.protected
	}
	return append(slices.Clone(p.protected), place.Real(p.plugins))
}

// hidden reports whether a part of path below home begins with a dot.
func hidden(home, path string) bool {
	rel, err := filepath.Rel(home, path)
	return err == nil && strings.Contains(string(filepath.Separator)+rel, string(filepath.Separator)+".")
}

// plain returns a path, or another text of an argument or a rule, as a sentence may hold it.
func plain(text string) string {
	_, unseen := tool.Strip(text) // an emoji may have some
	clean := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || unseen > 0 && tool.Unseen(r) {
			return '?'
		}
		return r
	}, text)
	if short := []rune(clean); len(short) > 200 {
		return string(short[:200]) + "…"
	}
	return clean
}

// expand makes a path that begins with ~ absolute.
func (p *places) expand(path string) string {
	switch {
	case p.home == "":
	case path == "~":
		return p.home
	case strings.HasPrefix(path, "~/"):
		return filepath.Join(p.home, path[2:])
	}
	return path
}

// realPath returns an absolute path with its links resolved. One that is relative is
// not known: what it is relative to is its tool's business. Nor is one that no system opens.
func (p *places) realPath(text string) (string, bool) {
	path := p.expand(text)
	if len(path) > maxPath || !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
		return "", false
	}
	return place.Real(path), true
}

// short is a path as a person reads it: from the home folder, where it lies in that.
func (p *places) short(path string) string {
	if home := place.Real(p.home); p.home != "" && place.Inside(home, path) {
		if rel, err := filepath.Rel(home, path); err == nil {
			return rel
		}
	}
	return path
}

// askedPlace returns what is asked about for a path: the folder that it is or lies in, or
// the file alone where no plugin is given its folder.
func (p *places) askedPlace(path string) (at, file string, ok bool) {
	folder, file := path, ""
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		folder, file = filepath.Dir(path), filepath.Base(path)
	}
	if plain(path) != path || len(path) > maxPath { // a person could not judge it
		return "", "", false
	}
	home := place.Real(p.home)
	isHidden := p.home != "" && place.Inside(home, path) && hidden(home, path)
	if at, err := p.grantable(folder, false); err == nil && at == folder && !isHidden {
		return folder, file, true
	}
	if at, err := p.grantable(path, false); err == nil && at == path {
		return path, "", true
	}
	return "", "", false
}

// programFile returns the file of a program.
func (p *places) programFile(program string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fault.New(fault.Invalid, "gate.program", "The program "+shown(program)+" cannot be granted: "+why+".",
			"Name one on your PATH, or an absolute path.")
	}
	path := p.expand(program)
	if strings.ContainsRune(path, filepath.Separator) && !filepath.IsAbs(path) {
		return refuse("it is no absolute path")
	}
	path, found := ProgramFile(path, "")
	if !found {
		if _, err := os.Stat(path); err == nil {
			return refuse("it is no program")
		}
		return refuse("it was not found")
	}
	path = place.Real(path)
	switch {
	case plain(path) != path || len(path) > maxPath:
		return refuse("its name cannot be shown")
	case p.protectedPath(path) != "":
		return refuse("it is " + p.protectedPath(path))
	}
	return path, nil
}

// maxPath is the longest path that Linux opens, in bytes.
const maxPath = 4096

// shown is a name that somebody invented, as a sentence may hold it.
func shown(name string) string {
	short := []rune(strings.ToValidUTF8(name, "\uFFFD"))
	for i, r := range short {
		if r < ' ' || r > '~' {
			short[i] = '?'
		}
	}
	return "“" + string(short[:min(len(short), 64)]) + "”"
}

// ProgramFile returns the file that a command in folder means by the name of its program: one
// on the person's PATH, or a path. Links to its folder are followed; the file itself may be a
// link, by whose name some programs know what they are to do. found is false where no program
// is there.
func ProgramFile(name, folder string) (path string, found bool) {
	switch {
	case !strings.ContainsRune(name, filepath.Separator):
		path = onPath(name)
	case filepath.IsAbs(name):
		path = name
	default:
		path = filepath.Join(folder, name)
	}
	if path == "" {
		return "", false
	}
	if at, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(at, filepath.Base(path))
	}
	info, err := os.Stat(path)
	return path, err == nil && Executable(info)
}

// onPath returns the first program of that name on the person's PATH, or "".
func onPath(name string) string {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && filepath.IsAbs(path) && Executable(info) {
			return path
		}
	}
	return ""
}

// Executable reports whether a file may be a program: Windows goes by its name alone.
func Executable(info os.FileInfo) bool {
	return info.Mode().IsRegular() && (runtime.GOOS == "windows" || info.Mode()&0o111 != 0)
}
