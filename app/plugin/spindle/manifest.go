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
	"regexp"
	"strings"

	"conclave/app/plugin"
)

// manifestNames are the names a manifest may have (contract section 1.1), in the
// order they are looked for.
var manifestNames = []string{"spindle.json", "spindlefile.json", "spindlefile"}

// maxManifest is far above any manifest; the rest is not read.
const maxManifest = 1 << 20

// manifest is spindle.json as far as it is heeded (contract section 2). Unknown
// keys are left to the extension, which sees them through spindle.manifest.
type manifest struct {
	Version      string   `json:"version"`
	Name         string   `json:"name"`
	Identifier   string   `json:"identifier"`
	Author       string   `json:"author"`
	GitHub       string   `json:"github"`
	Homepage     string   `json:"homepage"`
	Description  string   `json:"description"`
	Permissions  []string `json:"permissions"`
	EntryBackend string   `json:"entry_backend"`
}

// link is the address a person may look at, or empty.
func (m manifest) link() string {
	if m.Homepage != "" {
		return m.Homepage
	}
	return m.GitHub
}

// openManifest opens a plugin's folder and reads the manifest in it. root is nil
// when there is none; the caller closes it otherwise. The error is a
// *plugin.Problem.
func openManifest(dir string) (root *os.Root, name string, raw []byte, err error) {
	root, err = os.OpenRoot(dir)
	if err != nil {
		return nil, "", nil, unreadable(filepath.Base(dir), err)
	}
	for _, name := range manifestNames {
		info, err := root.Stat(name)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if info.Size() > maxManifest {
			_ = root.Close()
			return nil, "", nil, &plugin.Problem{Kind: "refused", File: name, Message: fmt.Sprintf("%s is larger than %d MB.", name, maxManifest>>20)}
		}
		raw, err := root.ReadFile(name)
		if err != nil {
			_ = root.Close()
			return nil, "", nil, unreadable(name, err)
		}
		return root, name, bytes.TrimPrefix(raw, []byte("\uFEFF")), nil
	}
	_ = root.Close()
	return nil, "", nil, nil
}

var identifier = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// readManifest reads and checks a manifest. The error is a *plugin.Problem that
// names the field.
func readManifest(name string, raw []byte) (manifest, error) {
	var m manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		return m, notJSON(name, raw, err)
	}
	for _, field := range []struct{ name, value string }{
		{"version", m.Version}, {"name", m.Name}, {"identifier", m.Identifier}, {"author", m.Author},
	} {
		if strings.TrimSpace(field.value) == "" {
			return m, wrong(name, raw, field.name, fmt.Sprintf("%s has no %q.", name, field.name))
		}
	}
	if !identifier.MatchString(m.Identifier) {
		return m, wrong(name, raw, "identifier", fmt.Sprintf("The identifier %q in %s is not allowed: small letters, digits and underscores, beginning with a letter.", m.Identifier, name))
	}
	for _, field := range []struct{ name, value string }{{"github", m.GitHub}, {"homepage", m.Homepage}} {
		if field.value != "" && !strings.HasPrefix(field.value, "https://") {
			return m, wrong(name, raw, field.name, fmt.Sprintf("The %s in %s is not an https address: %q.", field.name, name, field.value))
		}
	}
	return m, nil
}

// wrong is the problem of a field, at the line the field is on.
func wrong(file string, raw []byte, field, message string) *plugin.Problem {
	p := &plugin.Problem{Kind: "script", File: file, Message: message}
	if at := bytes.Index(raw, []byte(`"`+field+`"`)); at >= 0 {
		p.Line = bytes.Count(raw[:at], []byte("\n")) + 1
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
		p.Message = fmt.Sprintf("%q in %s is a %s; it must be a %s.", kind.Field, file, kind.Value, kind.Type)
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

// findEntry returns the module that is evaluated, or "" when the extension has
// no backend (contract section 2). The error is a *plugin.Problem.
func findEntry(root *os.Root, file string, m manifest) (string, error) {
	entry := m.EntryBackend
	if entry == "" {
		entry = "dist/backend.js"
	}
	clean := path.Clean(strings.TrimPrefix(entry, "./"))
	if !filepath.IsLocal(filepath.FromSlash(clean)) || strings.Contains(entry, `\`) {
		return "", &plugin.Problem{Kind: "refused", File: file, Message: fmt.Sprintf("The entry_backend in %s leads out of the plugin's folder: %q.", file, entry)}
	}
	for _, name := range []string{clean, "src/backend.ts"} {
		info, err := root.Stat(filepath.FromSlash(name))
		switch {
		case err == nil && info.Mode().IsRegular():
			return name, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			if link, lerr := root.Lstat(filepath.FromSlash(name)); lerr == nil && link.Mode()&fs.ModeSymlink != 0 || escapes(err) {
				return "", &plugin.Problem{Kind: "refused", File: name, Message: fmt.Sprintf("%s is a link that leads out of the plugin's folder.", name)}
			}
			return "", unreadable(name, err)
		}
	}
	return "", nil
}

// escapes reports whether os.Root refused a path because a link on the way leads
// out. The error has no exported name (os.Root, Go 1.24).
func escapes(err error) bool { return strings.Contains(err.Error(), "escapes") }

// headOf makes a manifest for a plugin of one file: its name, and what its first
// comment says with the words of user scripts (@name, @version, @description,
// @author, @homepage).
func headOf(text string, src plugin.Source) *plugin.Manifest {
	m := &plugin.Manifest{
		Contract: "spindle", Name: src.ID, Version: "0", Entry: filepath.Base(src.Path), Permissions: []string{"tools"},
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
		rest = strings.TrimSpace(rest)
		if rest == "" {
			continue
		}
		switch word {
		case "@name":
			m.Name = rest
		case "@version":
			m.Version = rest
		case "@description":
			m.Description = rest
		case "@author":
			m.Author = rest
		case "@homepage":
			m.Homepage = rest
		}
	}
	return m
}
