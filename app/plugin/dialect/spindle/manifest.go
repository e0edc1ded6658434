package spindle

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/safefs"
)

// manifestNames are the names a manifest may have (contracts/spindle, section 1.1), in the
// order they are looked for.
var manifestNames = []string{"spindle.json", "spindlefile.json", "spindlefile"}

// nested is the folder that a manifest may lie in instead of the plugin's own: an
// extension that was copied out of another installation has its files in repo/
// and its data in storage/ next to it (contracts/spindle, section 1.2).
const nested, nestedData = "repo", "storage"

// maxManifest is far above any manifest; the rest is not read.
const maxManifest = 1 << 20

// manifest is spindle.json as far as it is heeded (contracts/spindle, section 2). Unknown
// keys are left to the extension, which sees them through spindle.manifest.
type manifest struct {
	Version, Name, Identifier, Author string
	GitHub, Homepage, Description     string
	Permissions, Capabilities         []string
	EntryBackend, EntryFrontend       string
	Seeds                             []seed
	DevMode                           bool
	passed                            []string // optional fields that are of no use as they are written
}

// seed is one entry of storage_seed_files.
type seed struct {
	From      string  `json:"from"`
	To        *string `json:"to"`
	Overwrite bool    `json:"overwrite"`
	Required  bool    `json:"required"`
}

// link is the address a person may look at, or empty.
func (m manifest) link() string {
	if m.Homepage != "" {
		return m.Homepage
	}
	return m.GitHub
}

// found is the manifest of a folder, and where it lies.
type found struct {
	root *os.Root // the plugin's folder; the finder closes it
	base string   // the folder of the manifest in it: "" or "repo"
	name string   // of the manifest, in base
	raw  []byte
}

// file is where the manifest lies, relative to the plugin's folder.
func (f *found) file() string { return path.Join(f.base, f.name) }

func (f *found) close() { _ = f.root.Close() } // only read

// openManifest opens a plugin's folder and reads the manifest in it; nil when
// there is none. The error is a *plugin.Problem.
func openManifest(dir string) (*found, error) {
	root, err := safefs.OpenSource(dir)
	if err != nil {
		return nil, unreadable(filepath.Base(dir), err)
	}
	for _, base := range []string{"", nested} {
		for _, name := range manifestNames {
			f := &found{root: root, base: base, name: name}
			info, err := root.Stat(filepath.FromSlash(f.file()))
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			if info.Size() > maxManifest {
				f.close()
				return nil, &plugin.Problem{
					Kind: "refused", File: f.file(), Message: fmt.Sprintf("%s is larger than %d MB.", name, maxManifest>>20),
				}
			}
			raw, _, err := safefs.Read(root, f.file(), maxManifest)
			if err != nil {
				f.close()
				return nil, unreadable(f.file(), err)
			}
			f.raw = bytes.TrimPrefix(raw, []byte("\uFEFF"))
			return f, nil
		}
	}
	_ = root.Close() // only read
	return nil, nil
}

var identifier = pattern.Lazy(`^[a-z][a-z0-9_]*$`)

// readManifest reads and checks a manifest. Only what an extension cannot do
// without is insisted on; anything else that is odd is passed over (SP-03). The
// error is a *plugin.Problem that names the field.
func (f *found) readManifest() (manifest, error) {
	var m manifest
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(f.raw, &fields); err != nil {
		return m, notJSON(f.file(), f.raw, err)
	}
	if fields == nil {
		return m, &plugin.Problem{Kind: "script", File: f.file(), Line: 1, Message: f.name + " holds no object."}
	}
	for _, field := range []struct {
		name string
		to   *string
	}{{"version", &m.Version}, {"name", &m.Name}, {"identifier", &m.Identifier}, {"author", &m.Author}} {
		raw, ok := fields[field.name]
		if ok && string(raw) != "null" && json.Unmarshal(raw, field.to) != nil {
			return m, f.wrong(field.name, fmt.Sprintf("The %s in %s is no text.", field.name, f.name))
		}
		if strings.TrimSpace(*field.to) == "" {
			return m, f.wrong(field.name, fmt.Sprintf("%s has no %q.", f.name, field.name))
		}
	}
	if !identifier().MatchString(m.Identifier) || len(m.Identifier) > maxIdentifier {
		return m, f.wrong("identifier",
			fmt.Sprintf("The identifier %q in %s is not allowed: up to %d small letters, digits and underscores, "+
				"beginning with a letter.", m.Identifier, f.name, maxIdentifier))
	}
	for name, to := range map[string]any{
		"github": &m.GitHub, "homepage": &m.Homepage, "description": &m.Description, "dev_mode": &m.DevMode,
		"entry_backend": &m.EntryBackend, "entry_frontend": &m.EntryFrontend, "storage_seed_files": &m.Seeds,
	} {
		if raw, ok := fields[name]; ok && json.Unmarshal(raw, to) != nil {
			m.passed = append(m.passed, name)
		}
	}
	m.Permissions, m.Capabilities = texts(fields["permissions"]), texts(fields["requested_capabilities"])
	for _, field := range []struct{ name, value string }{{"github", m.GitHub}, {"homepage", m.Homepage}} {
		if field.value != "" && !strings.HasPrefix(field.value, "https://") {
			return m, f.wrong(field.name,
				fmt.Sprintf("The %s in %s is not an https address: %q.", field.name, f.name, field.value))
		}
	}
	return m, nil
}

// maxIdentifier bounds an id of Conclave's, in bytes.
const maxIdentifier = 64

// texts returns the texts of a list, without what is none and without repeats.
func texts(raw json.RawMessage) []string {
	var list []any
	if json.Unmarshal(raw, &list) != nil {
		return []string{}
	}
	out, seen := []string{}, map[string]bool{}
	for _, each := range list {
		if s, ok := each.(string); ok && strings.TrimSpace(s) != "" && !seen[s] {
			seen[s] = true
			out = append(out, s)
		}
	}
	return out
}

// wrong is the problem of a field, at the line the field is on.
func (f *found) wrong(field, message string) *plugin.Problem {
	p := &plugin.Problem{Kind: "script", File: f.file(), Message: message}
	if at := bytes.Index(f.raw, []byte(`"`+field+`"`)); at >= 0 {
		p.Line = bytes.Count(f.raw[:at], []byte("\n")) + 1
	}
	return p
}

func notJSON(file string, raw []byte, err error) *plugin.Problem {
	p := &plugin.Problem{Kind: "script", Type: "SyntaxError", File: file, Line: 1}
	offset := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
		p.Message = fmt.Sprintf("%s is not JSON: %v.", file, err)
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
		p.Message = fmt.Sprintf("%s holds a %s; it must be an object.", file, kind.Value)
	}
	if p.Message == "" {
		p.Message = fmt.Sprintf("%s cannot be read: %v.", file, err)
	}
	if offset > 0 {
		before := raw[:min(int(offset), len(raw))]
		p.Line = bytes.Count(before, []byte("\n")) + 1
		p.Column = max(len(before)-bytes.LastIndexByte(before, '\n')-1, 1)
		lines := strings.Split(string(raw), "\n")
		p.Frame = fmt.Sprintf("> %d | %s", p.Line, strings.TrimRight(lines[p.Line-1], "\r"))
	}
	return p
}

// findEntry returns the module that is evaluated, relative to the plugin's
// folder, or "" when the extension has no backend (contracts/spindle, section 2). The error
// is a *plugin.Problem.
func (f *found) findEntry(m manifest) (string, error) {
	return f.find("entry_backend", m.EntryBackend, "dist/backend.js", "src/backend.ts")
}

// findFrontend is findEntry for the part that runs in Lumiverse's window.
func (f *found) findFrontend(m manifest) (string, error) {
	return f.find("entry_frontend", m.EntryFrontend, "dist/frontend.js", "src/frontend.ts")
}

// find returns the first of a module named by field, or built by default, and its
// source that is there.
func (f *found) find(field, named, built, source string) (string, error) {
	if named == "" {
		named = built
	}
	clean, ok := local(named)
	if !ok {
		return "", f.refused(field, fmt.Sprintf("The %s in %s leads out of the plugin's folder: %q.", field, f.name, named))
	}
	for _, name := range []string{clean, source} {
		name = path.Join(f.base, name)
		info, err := f.root.Stat(filepath.FromSlash(name))
		switch {
		case err == nil && info.Mode().IsRegular():
			return name, nil
		case err == nil, errors.Is(err, fs.ErrNotExist) && !f.link(name):
		case f.link(name) || escapes(err):
			return "", &plugin.Problem{
				Kind: "refused", File: name, Message: fmt.Sprintf("%s is a link that leads out of the plugin's folder.", name),
			}
		default:
			return "", unreadable(name, err)
		}
	}
	return "", nil
}

func (f *found) link(name string) bool {
	info, err := f.root.Lstat(filepath.FromSlash(name))
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

func (f *found) refused(field, message string) *plugin.Problem {
	p := f.wrong(field, message)
	p.Kind = "refused"
	return p
}

// local cleans a path of a manifest and reports whether it stays inside.
func local(name string) (string, bool) {
	clean := path.Clean(strings.TrimPrefix(name, "./"))
	return clean, !strings.ContainsAny(name, "\\\x00") && !path.IsAbs(name) && filepath.IsLocal(filepath.FromSlash(clean))
}

// escapes reports whether os.Root refused a path because a link on the way leads
// out. The error has no exported name (os.Root, Go 1.24).
func escapes(err error) bool { return strings.Contains(err.Error(), "escapes") }

// seeds returns what is copied into the plugin's storage (contracts/spindle, section 2,
// SP-11), with paths relative to the plugin's folder. The data that came with an
// extension out of another installation is part of it. The error is a
// *plugin.Problem.
func (f *found) seeds(m manifest) ([]plugin.Seed, error) {
	const field = "storage_seed_files"
	var out []plugin.Seed
	for _, s := range m.Seeds {
		target := s.From
		if s.To != nil {
			target = *s.To
		}
		from, inside := local(s.From)
		to, stays := local(target)
		switch {
		case s.From == "":
			return nil, f.wrong(field, fmt.Sprintf("One of the storage_seed_files in %s does not say from where.", f.name))
		case !inside:
			return nil, f.refused(field,
				fmt.Sprintf("One of the storage_seed_files in %s leads out of the plugin's folder: %q.", f.name, s.From))
		case !stays:
			return nil, f.refused(field,
				fmt.Sprintf("One of the storage_seed_files in %s leads out of the plugin's storage: %q.", f.name, target))
		}
		from = path.Join(f.base, from)
		_, err := f.root.Stat(filepath.FromSlash(from))
		switch {
		case err != nil && escapes(err):
			return nil, &plugin.Problem{
				Kind: "refused", File: from, Message: fmt.Sprintf("%s is a link that leads out of the plugin's folder.", from),
			}
		case err != nil && s.Required:
			return nil, f.wrong(field,
				fmt.Sprintf("%s is missing; the storage_seed_files in %s say that the extension needs it.", s.From, f.name))
		}
		out = append(out, plugin.Seed{From: from, To: to, Overwrite: s.Overwrite, Required: s.Required})
	}
	if f.base != "" {
		if info, err := f.root.Stat(nestedData); err == nil && info.IsDir() {
			out = append(out, plugin.Seed{From: nestedData, To: "."})
		}
	}
	return out, nil
}

// headOf makes a manifest for a plugin of one file: its name, and what its first
// comment says with the words of user scripts (@name, @version, @description,
// @author, @homepage).
func headOf(text string, src plugin.Source) *plugin.Manifest {
	m := &plugin.Manifest{
		Dialect: Name, Name: src.ID, Version: "0", Entry: filepath.Base(src.Path), Permissions: []string{"tools"},
	}
	fields := map[string]*string{
		"@name": &m.Name, "@version": &m.Version, "@description": &m.Description, "@author": &m.Author,
		"@homepage": &m.Homepage,
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#!") {
			continue
		}
		body := strings.TrimLeft(line, "/* ")
		if body == line {
			break // the first line of code
		}
		word, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(body), "*/"), " ")
		if field, rest := fields[word], strings.TrimSpace(rest); field != nil && rest != "" {
			*field = rest
		}
	}
	return m
}
