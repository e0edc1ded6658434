package packages

import (
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/base/shorten"
	"conclave/app/plugin"
	"conclave/app/plugin/python"

	"github.com/BurntSushi/toml"
)

// wanted is one declared requirement.
type wanted struct {
	requirement
	from   string   // requirements.txt:3
	hashes []string // sha256:…, which what is downloaded must have
	// guessed says that nobody declared it and it is not installed: it needs a yes
	// of its own.
	guessed bool
}

// declaration holds what a plugin's files say of packages, as written.
type declaration struct {
	wants   []wanted
	notes   []string
	indexes []string // other indexes that it names, as options: --extra-index-url https://…
	self    string   // the project's own name, which it may name with extras
	python  string   // the Python it is for: >=3.11
}

// maxWants bounds what one plugin may declare.
const maxWants = 500

func (d *declaration) note(format string, args ...any) {
	if len(d.notes) < 50 {
		d.notes = append(d.notes, fmt.Sprintf(format, args...))
	}
}

// add reads one requirement that stands somewhere.
func (d *declaration) add(text, from string, hashes ...string) {
	if strings.TrimSpace(text) == "" {
		return
	}
	r, err := parseRequirement(text)
	switch {
	case err != nil:
		d.note("%s: %q is left out: %v.", from, clip(text), err)
	case len(d.wants) == maxWants:
		d.note("%s: a plugin may want %d packages; the others are left out.", from, maxWants)
	case len(d.wants) < maxWants:
		d.wants = append(d.wants, wanted{requirement: r, from: from, hashes: hashes})
	}
}

// clip shortens a foreign text for a sentence.
func clip(text string) string { return shorten.After(text, 80) }

// declare reads what the files of a plugin say, among them the manifests of
// ecosystems. Nothing of them runs.
func declare(src plugin.Source, m plugin.Manifest, ecosystems []python.Ecosystem) declaration {
	var d declaration
	root := src.Path
	if !src.Folder {
		root = filepath.Dir(src.Path)
	}
	read := func(name string) (string, bool) {
		text, err := python.ReadSource(root, name)
		return string(text), err == nil
	}
	if strings.HasSuffix(m.Entry, ".py") {
		if text, ok := read(m.Entry); ok {
			d.script(text, m.Entry)
		}
	}
	if !src.Folder {
		return d // what lies next to it belongs to others
	}
	if text, ok := read("requirements.txt"); ok {
		d.requirements(text, "requirements.txt", read, map[string]bool{"requirements.txt": true})
	}
	if text, ok := read("pyproject.toml"); ok {
		d.project(text)
	}
	if text, ok := read("setup.cfg"); ok {
		d.setup(text)
	}
	for _, e := range ecosystems {
		if text, ok := read(e.Manifest); ok && e.Requires != nil {
			for _, one := range e.Requires([]byte(text)) {
				d.add(one, e.Manifest)
			}
		}
	}
	return d
}

var scriptBlock = pattern.Lazy(`(?m)^# /// script[ \t]*\r?\n((?:#(?:| [^\n]*)\r?\n)*?)# ///[ \t]*\r?$`)

// script reads the block at the top of a script (PEP 723).
func (d *declaration) script(text, file string) {
	blocks := scriptBlock().FindAllStringSubmatchIndex(text, 2)
	if len(blocks) == 0 {
		return
	}
	from := fmt.Sprintf("%s:%d", file, 1+strings.Count(text[:blocks[0][0]], "\n"))
	if len(blocks) > 1 {
		d.note("%s: there is more than one script block, so none counts.", from)
		return
	}
	var inner strings.Builder
	for line := range strings.Lines(text[blocks[0][2]:blocks[0][3]]) {
		inner.WriteString(strings.TrimPrefix(strings.TrimPrefix(line, "#"), " "))
	}
	var block struct {
		Python       any   `toml:"requires-python"`
		Dependencies []any `toml:"dependencies"`
	}
	if _, err := toml.Decode(inner.String(), &block); err != nil {
		d.note("%s: the script block cannot be read: %s.", from, tomlError(err))
		return
	}
	d.python = asText(block.Python)
	d.list(block.Dependencies, from)
}

func tomlError(err error) string {
	if p, ok := errors.AsType[toml.ParseError](err); ok {
		return strings.TrimSuffix(p.Message, ".")
	}
	return strings.TrimSuffix(clip(err.Error()), ".")
}

func asText(value any) string {
	text, _ := value.(string)
	return text
}

func (d *declaration) list(items []any, from string) {
	for _, item := range items {
		if text, ok := item.(string); ok {
			d.add(text, from)
			continue
		}
		d.note("%s: %q is left out: a requirement is text.", from, clip(fmt.Sprint(item)))
	}
}

var (
	commentPattern = pattern.Lazy(`(^|\s+)#.*$`)
	hashPattern    = pattern.Lazy(`\s+--hash[=\s]+([a-z0-9]+:[0-9a-fA-F]+)`)
	optionPattern  = pattern.Lazy(`^(-[a-zA-Z]|--[a-z][a-z-]*)(?:[=\s]\s*|)(.*)$`)
)

// maxIncluded bounds the files that requirements.txt includes.
const maxIncluded = 20

// requirements reads a file of pip's format. What it includes with -r is read
// with it; its options are shown and not obeyed.
func (d *declaration) requirements(text, file string, read func(string) (string, bool), seen map[string]bool) {
	number := 0
	joined, first := "", 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if number == 1 {
			line = strings.TrimPrefix(line, "\ufeff")
		}
		if joined == "" {
			first = number
		}
		if strings.HasSuffix(line, `\`) && !strings.HasPrefix(strings.TrimSpace(line), "#") {
			joined += strings.TrimSuffix(line, `\`) + " "
			continue
		}
		joined += line
		line = strings.TrimSpace(commentPattern().ReplaceAllString(joined, ""))
		d.requirementsLine(line, fmt.Sprintf("%s:%d", file, first), file, read, seen)
		joined = ""
	}
	d.requirementsLine(strings.TrimSpace(joined), fmt.Sprintf("%s:%d", file, first), file, read, seen)
}

func (d *declaration) requirementsLine(line, from, file string, read func(string) (string, bool),
	seen map[string]bool,
) {
	switch {
	case line == "":
		return
	case strings.Contains(line, "${"):
		d.note("%s: %q is left out: it holds a variable.", from, clip(redact(line)))
		return
	case line[0] == '-':
		d.option(line, from, file, read, seen)
		return
	}
	var hashes []string
	for _, m := range hashPattern().FindAllStringSubmatch(line, -1) {
		hashes = append(hashes, m[1])
	}
	line = strings.TrimSpace(hashPattern().ReplaceAllString(line, ""))
	if i := strings.Index(line, " --"); i >= 0 {
		d.note("%s: %s is not obeyed.", from, clip(line[i+1:]))
		line = strings.TrimSpace(line[:i])
	}
	name, _, _ := strings.Cut(line, "@")
	switch {
	case strings.Contains(line, "://") && !namePattern().MatchString(name+" "), bareAddress(line):
		d.address(line, from, hashes)
	case strings.HasPrefix(line, ".") || strings.HasPrefix(line, "/") ||
		strings.ContainsAny(strings.SplitN(line, ";", 2)[0], `\/`) && !strings.Contains(line, "@"):
		d.note("%s: %q is left out: it is a file of the plugin, and packages come from an index.", from, clip(line))
	default:
		d.add(line, from, hashes...)
	}
}

// bareAddress reports whether a line is an address without a name before it.
func bareAddress(line string) bool {
	scheme, _, found := strings.Cut(line, "://")
	return found && !strings.ContainsAny(scheme, " @[;")
}

var wheelName = pattern.Lazy(
	`^([A-Za-z0-9](?:[A-Za-z0-9._]*[A-Za-z0-9])?)-[^-]+(?:-[^-]+)?-[^-]+-[^-]+-[^-]+\.whl$`)

// address reads a line that is an address alone: that of a wheel names its
// package.
func (d *declaration) address(line, from string, hashes []string) {
	address, marker := cutMarker(line, " ;")
	u, err := url.Parse(address)
	if err != nil {
		d.note("%s: %q is left out: it is no address.", from, clip(redact(line)))
		return
	}
	name := ""
	if m := wheelName().FindStringSubmatch(path.Base(u.Path)); m != nil {
		name = m[1]
	} else if egg, err := url.ParseQuery(u.Fragment); err == nil {
		name = egg.Get("egg")
	}
	if name == "" {
		d.note("%s: %q is left out: it does not name its package.", from, clip(redact(line)))
		return
	}
	text := name + " @ " + address
	if marker != "" {
		text += " ; " + marker
	}
	d.add(text, from, hashes...)
}

// option reads a line of requirements.txt that is an option.
func (d *declaration) option(line, from, file string, read func(string) (string, bool), seen map[string]bool) {
	m := optionPattern().FindStringSubmatch(line)
	if m == nil {
		d.note("%s: %q is not obeyed.", from, clip(redact(line)))
		return
	}
	value := strings.TrimSpace(m[2])
	switch m[1] {
	case "-r", "--requirement":
		name := path.Join(path.Dir(filepath.ToSlash(file)), filepath.ToSlash(value))
		text, ok := "", false
		if filepath.IsLocal(filepath.FromSlash(name)) && len(seen) <= maxIncluded && !seen[name] {
			seen[name] = true
			text, ok = read(name)
		} else if seen[name] {
			return
		}
		if !ok {
			d.note("%s: the file %s cannot be read.", from, clip(value))
			return
		}
		d.requirements(text, name, read, seen)
	case "-i", "--index-url", "--extra-index-url":
		u, err := url.Parse(value)
		if err != nil || u.Scheme != "https" && !loopback(u) || u.Host == "" {
			d.note("%s: the index %s is not obeyed: an index is asked over https.", from, clip(redact(value)))
			return
		}
		// In addition to ours, never in its place: what a person trusts stays asked.
		d.indexes = append(d.indexes, value)
	case "--require-hashes", "--prefer-binary", "--only-binary":
		// The hashes that are there are checked anyway, and wheels are preferred.
	default:
		d.note("%s: %s is not obeyed.", from, clip(redact(line)))
	}
}

// loopback reports whether an address is of this machine.
func loopback(u *url.URL) bool {
	host := u.Hostname()
	return u.Scheme == "http" && (host == "localhost" || host == "::1" || strings.HasPrefix(host, "127."))
}

// project reads pyproject.toml: the standard table and poetry's.
func (d *declaration) project(text string) {
	const file = "pyproject.toml"
	var doc struct {
		Project struct {
			Name         any `toml:"name"`
			Python       any `toml:"requires-python"`
			Dependencies any `toml:"dependencies"`
		} `toml:"project"`
		Tool struct {
			Poetry struct {
				Name         any `toml:"name"`
				Dependencies any `toml:"dependencies"`
			} `toml:"poetry"`
		} `toml:"tool"`
	}
	if _, err := toml.Decode(text, &doc); err != nil {
		d.note("%s cannot be read: %s.", file, tomlError(err))
		return
	}
	d.self = canonical(asText(doc.Project.Name) + asText(doc.Tool.Poetry.Name))
	if python := asText(doc.Project.Python); python != "" {
		d.python = python
	}
	list, _ := doc.Project.Dependencies.([]any)
	d.list(list, file)
	table, _ := doc.Tool.Poetry.Dependencies.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(table)) {
		d.poetry(name, table[name], file)
	}
}

// poetry reads one entry of [tool.poetry.dependencies].
func (d *declaration) poetry(name string, value any, file string) {
	switch value := value.(type) {
	case string:
		if name == "python" {
			d.python = poetrySpec(value)
			return
		}
		d.add(name+poetrySpec(value), file)
	case map[string]any:
		if optional, _ := value["optional"].(bool); optional {
			return
		}
		for _, place := range []string{"git", "path", "url", "file"} {
			if value[place] != nil {
				d.note("%s: %s is left out: it comes from a %s.", file, clip(name), place)
				return
			}
		}
		text := name
		if extras, _ := value["extras"].([]any); len(extras) > 0 {
			var names []string
			for _, extra := range extras {
				names = append(names, asText(extra))
			}
			text += "[" + strings.Join(names, ",") + "]"
		}
		text += poetrySpec(asText(value["version"]))
		if marker := asText(value["markers"]); marker != "" {
			text += " ; " + marker
		}
		d.add(text, file)
	default:
		d.note("%s: %s is left out: its versions cannot be read.", file, clip(name))
	}
}

// poetrySpec writes poetry's versions the standard way: ^1.2 is >=1.2,<2.
func poetrySpec(text string) string {
	var clauses []string
	for part := range strings.SplitSeq(text, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "" || part == "*":
		case part[0] == '^' || part[0] == '~' && !strings.HasPrefix(part, "~="):
			low := strings.TrimSpace(part[1:])
			v, ok := python.ParseVersion(low)
			if !ok {
				continue
			}
			clauses = append(clauses, ">="+low, "<"+ceiling(v.Release, part[0] == '^'))
		case strings.ContainsAny(part[:1], "<>=!~"):
			clauses = append(clauses, part)
		default:
			clauses = append(clauses, "=="+part)
		}
	}
	return strings.Join(clauses, ",")
}

// ceiling is the first release that a caret, or a tilde, leaves out.
func ceiling(release []int, caret bool) string {
	keep := min(1, len(release)-1) // ~1.2.3 is <1.3, ~1 is <2
	if caret {                     // ^0.2.3 is <0.3
		keep = 0
		for keep < len(release)-1 && release[keep] == 0 {
			keep++
		}
	}
	parts := make([]string, keep+1)
	for i := range parts {
		n := release[i]
		if i == keep {
			n++
		}
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, ".")
}

// setup reads install_requires of setup.cfg.
func (d *declaration) setup(text string) {
	section, inside, number := "", false, 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRight(commentPattern().ReplaceAllString(strings.TrimRight(line, "\r\n"), ""), " \t")
		bare := strings.TrimSpace(line)
		switch {
		case bare == "" || bare[0] == ';':
		case bare[0] == '[':
			section, inside = strings.Trim(bare, "[]"), false
		case line[0] == ' ' || line[0] == '\t':
			if inside {
				d.add(bare, fmt.Sprintf("setup.cfg:%d", number))
			}
		default:
			key, value, _ := strings.Cut(line, "=")
			inside = section == "options" && strings.TrimSpace(key) == "install_requires"
			if inside && !strings.HasPrefix(strings.TrimSpace(value), "file:") {
				for one := range strings.SplitSeq(value, ";;") {
					d.add(strings.TrimSpace(one), fmt.Sprintf("setup.cfg:%d", number))
				}
			}
		}
	}
}

// merge joins the requirements of one package, so that each is shown once.
func merge(wants []wanted) []wanted {
	var out []wanted
	for _, w := range wants {
		i := slices.IndexFunc(out, func(o wanted) bool {
			return canonical(o.name) == canonical(w.name) && o.marker == w.marker &&
				(o.url == w.url || o.url == "" || w.url == "")
		})
		if i < 0 {
			out = append(out, w)
			continue
		}
		o := &out[i]
		if !slices.Contains(strings.Split(o.from, ", "), w.from) {
			o.from += ", " + w.from
		}
		if o.extras == "" {
			o.extras = w.extras
		}
		if o.url == "" && w.url != "" {
			o.url, o.spec = w.url, ""
		}
		if o.url == "" {
			for clause := range strings.SplitSeq(w.spec, ",") {
				if clause != "" && !slices.Contains(strings.Split(o.spec, ","), clause) {
					o.spec = strings.Trim(o.spec+","+clause, ",")
				}
			}
		}
		o.hashes = append(o.hashes, w.hashes...)
	}
	return out
}

var userinfo = pattern.Lazy(`(://)[^/@\s]*@`)

// redact takes names and passwords out of the addresses in a text.
func redact(text string) string { return userinfo().ReplaceAllString(text, "$1…@") }
