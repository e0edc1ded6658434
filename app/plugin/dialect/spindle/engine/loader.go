package engine

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"conclave/app/plugin/wire"
)

// fileRoot stands for the folder of a plugin in import.meta.url. The real
// folder is nobody's business (contracts/spindle, section 5.1, manifest).
const fileRoot = "file:///plugin/"

// maxModules bounds the modules of one plugin; the largest graph seen has 138.
const maxModules = 4_096

// loader finds and reads a plugin's modules for the engine. It remembers what it
// read, so that a place in built text can be shown in the author's. Only the
// engine's goroutine uses it.
type loader struct {
	source source
	entry  string
	single bool    // the plugin is one file
	lower  bool    // build JavaScript too: it is newer than the engine
	kept   string  // the folder of texts built before; "" keeps none
	fresh  []built // texts that were built and are not there
	read   map[string]*module
	shown  map[string]string // texts of sources that only a shipped map knows
	// first is the first reason an import failed; the engine only keeps text.
	first *Problem
}

// module is one file as it was read.
type module struct {
	text  string     // the author's
	back  *sourceMap // nil when the engine got the author's lines
	shift int        // characters put before the first line

	looked  bool       // for a map that came with the file
	shipped *sourceMap // nil when none did
}

func newLoader(src source, entry string, single bool) *loader {
	return &loader{source: src, entry: entry, single: single, read: map[string]*module{}}
}

// Resolve names the module that base means by specifier: a path relative to the plugin's
// folder.
func (l *loader) Resolve(base, specifier string) (string, error) {
	if strings.HasPrefix(base, preludeScheme) {
		return specifier, nil // boot.js imports the entry
	}
	name, p := l.resolve(base, specifier)
	if p == nil {
		return name, nil
	}
	if m := l.read[base]; m != nil {
		p.File = base
		p.Line, p.Column = find(m.text, specifier)
		p.Frame = wire.Frame(m.text, p.Line, p.Column)
	}
	l.fail(p)
	return "", p
}

func (l *loader) resolve(base, specifier string) (string, *Problem) {
	var target string
	switch {
	case strings.HasPrefix(specifier, "./"), strings.HasPrefix(specifier, "../"), specifier == ".", specifier == "..":
		target = path.Join(path.Dir(base), specifier)
	case strings.HasPrefix(specifier, fileRoot):
		u, err := url.Parse(specifier)
		if err != nil {
			return "", unresolved(specifier, "is not an address")
		}
		target = strings.TrimPrefix(u.Path, "/plugin/")
	case strings.HasPrefix(specifier, "/"), strings.Contains(specifier, `\`):
		return "", outside(specifier)
	case strings.HasPrefix(specifier, "node:"), strings.HasPrefix(specifier, "bun:"):
		return "", &Problem{
			Kind: "unavailable", Missing: []string{specifier},
			Message: fmt.Sprintf("It imports %q, which belongs to another JavaScript host.", specifier),
			Hint:    "A plugin reaches files and the network through the spindle global only.",
		}
	case strings.Contains(specifier, ":"):
		return "", unresolved(specifier, "is no file of the plugin")
	default:
		return "", &Problem{
			Kind: "unavailable", Missing: []string{packageName(specifier)},
			Message: fmt.Sprintf("It imports the package %q; packages cannot be installed here.", packageName(specifier)),
			Hint:    "Bundle it into the plugin, for example with esbuild --bundle --format=esm.",
		}
	}
	target, _, _ = strings.Cut(target, "?")
	target, ok := inside(target)
	if !ok || strings.Contains(target, ":") {
		return "", outside(specifier)
	}
	for _, name := range candidates(target) {
		if l.source.Exists(name) {
			return name, nil
		}
	}
	p := unresolved(specifier, "does not exist")
	if l.single {
		p.Hint = "A plugin of one file cannot import its neighbours: they are other plugins. " +
			"Make it a folder with a spindle.json."
	}
	return "", p
}

// candidates are the files an import may mean, in the order they are tried:
// TypeScript is written with the ending its output would have.
func candidates(target string) []string {
	names := []string{target}
	switch ext := path.Ext(target); ext {
	case ".js", ".jsx":
		stem := strings.TrimSuffix(target, ext)
		return append(names, stem+".ts", stem+".tsx")
	case ".mjs":
		return append(names, strings.TrimSuffix(target, ext)+".mts")
	}
	for _, ending := range []string{
		".ts", ".tsx", ".mts", ".js", ".mjs", ".json", "/index.ts", "/index.js", "/index.mjs",
	} {
		names = append(names, target+ending)
	}
	return names
}

func unresolved(specifier, why string) *Problem {
	return &Problem{Kind: "script", Message: fmt.Sprintf("It imports %q, which %s.", specifier, why)}
}

func outside(specifier string) *Problem {
	return &Problem{
		Kind: "refused", Message: fmt.Sprintf("It imports %q, which is outside the plugin's folder.", specifier),
	}
}

// packageName is the part of a bare import that names the package.
func packageName(specifier string) string {
	parts := strings.SplitN(specifier, "/", 3)
	if strings.HasPrefix(specifier, "@") && len(parts) > 1 {
		return parts[0] + "/" + parts[1]
	}
	return parts[0]
}

// find returns the line and column of a quoted specifier, or zeros.
func find(text, specifier string) (line, column int) {
	for _, quote := range []string{`"`, "'", "`"} {
		if at := strings.Index(text, quote+specifier+quote); at >= 0 {
			before := text[:at]
			start := strings.LastIndexByte(before, '\n') + 1
			return strings.Count(before, "\n") + 1, len([]rune(before[start:])) + 1
		}
	}
	return 0, 0
}

// Source returns the JavaScript of a module that Resolve named.
func (l *loader) Source(name string) (string, error) {
	js, p := l.build(name)
	if p != nil {
		l.fail(p)
		return "", p
	}
	return js, nil
}

func (l *loader) build(name string) (string, *Problem) {
	if len(l.read) >= maxModules {
		return "", &Problem{
			Kind: "refused", File: name, Message: fmt.Sprintf("The plugin imports more than %d files.", maxModules),
		}
	}
	bytes, err := l.source.Read(name)
	if err != nil {
		return "", unreadable(name, err)
	}
	m := &module{text: strings.TrimPrefix(string(bytes), "\uFEFF")}
	l.read[name] = m
	if path.Ext(name) == ".json" {
		return l.buildJSON(name, m)
	}
	js := m.text
	if strings.ContainsRune(js, 0) {
		return "", &Problem{
			Kind: "script", Type: "SyntaxError", File: name, Line: 1,
			Message: "SyntaxError: the file holds a zero byte; it is not a script.",
		}
	}
	if isTypeScript(name) || l.lower {
		text, back, err := l.transformed(name, js)
		if p, ok := errors.AsType[*Problem](err); ok {
			return "", p
		}
		if err != nil {
			return "", &Problem{Kind: "script", File: name, Message: "The file could not be built: " + err.Error()}
		}
		js, m.back = text, back
	}
	if strings.HasPrefix(js, "#!") {
		js = "//" + js // keeps the columns of every other line
		m.shift = 2
	} else if strings.Contains(js, "import.meta") {
		where, _ := json.Marshal(fileRoot + (&url.URL{Path: name}).EscapedPath()) // a string always marshals
		prefix := "import.meta.url=" + string(where) + ";"
		js = prefix + js
		m.shift = len([]rune(prefix))
	}
	return js, nil
}

func (l *loader) buildJSON(name string, m *module) (string, *Problem) {
	var value any
	err := json.Unmarshal([]byte(m.text), &value)
	if err == nil {
		return "export default " + m.text + ";", nil
	}
	p := &Problem{
		Kind: "script", Type: "SyntaxError", File: name, Line: 1,
		Message: "SyntaxError: the file is not JSON: " + err.Error(),
	}
	if at, ok := errors.AsType[*json.SyntaxError](err); ok {
		before := m.text[:min(int(at.Offset), len(m.text))]
		p.Line = strings.Count(before, "\n") + 1
		p.Frame = wire.Frame(m.text, p.Line, 0)
	}
	return "", p
}

func unreadable(name string, err error) *Problem {
	p := &Problem{Kind: "unavailable", File: name}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		p.Message = fmt.Sprintf("%s does not exist.", name)
	case errors.Is(err, fs.ErrPermission):
		p.Message = fmt.Sprintf("%s cannot be read: permission denied.", name)
	case errors.Is(err, errTooBig):
		p.Kind = "refused"
		p.Message = fmt.Sprintf("It %v, the most a script may have.", errTooBig)
	default:
		p.Message = fmt.Sprintf("%s cannot be read: %v.", name, err)
	}
	return p
}

func (l *loader) fail(p *Problem) {
	if l.first == nil {
		l.first = p
	}
}

// author leads a place in what the engine ran back to the author's file: through
// what was built here, and through the source map a bundle came with.
func (l *loader) author(p place) place {
	m := l.read[p.file]
	if m == nil {
		return p
	}
	if p.line == 1 {
		p.column = max(p.column-m.shift, 1)
	}
	_, p.line, p.column, _ = m.back.at(p.line, p.column)
	if !m.looked {
		m.looked, m.shipped = true, shippedMap(p.file, m.text, l.source)
	}
	source, line, column, ok := m.shipped.at(p.line, p.column)
	if !ok || source < 0 || source >= len(m.shipped.sources) {
		return p
	}
	name := sourceName(p.file, m.shipped.sources[source])
	if name == "" || name == p.file {
		return p
	}
	if source < len(m.shipped.texts) && m.shipped.texts[source] != "" {
		if l.shown == nil {
			l.shown = map[string]string{}
		}
		l.shown[name] = m.shipped.texts[source]
	}
	return place{function: p.function, file: name, line: line, column: column}
}

// text returns the author's text of a file, or nothing when it is not known.
func (l *loader) text(name string) string {
	if m := l.read[name]; m != nil {
		return m.text
	}
	if text, ok := l.shown[name]; ok {
		return text
	}
	if name, ok := inside(name); ok && l.source != nil {
		if text, err := l.source.Read(name); err == nil {
			return string(text)
		}
	}
	return ""
}

// frame shows the lines around the first place of a stack that the engine wrote.
func (l *loader) frame(stack string) string {
	places := stackOf(stack)
	if len(places) == 0 {
		return ""
	}
	at := l.author(places[0])
	return wire.Frame(l.text(at.file), at.line, at.column)
}

// readable rewrites the stacks inside a line of the log.
func (l *loader) readable(text string) string {
	head, _, found := strings.Cut(text, "\n    at ")
	if !found {
		return text
	}
	var b strings.Builder
	b.WriteString(head)
	for line := range strings.SplitSeq(text[len(head)+1:], "\n") {
		if !strings.HasPrefix(line, "    at ") {
			b.WriteString("\n" + line)
		} else if stack := l.stack(line); stack != "" {
			b.WriteString("\n" + strings.TrimSuffix(stack, "\n"))
		}
	}
	return b.String()
}

// stack rewrites a stack for a person: the author's files and lines only.
func (l *loader) stack(text string) string {
	var b strings.Builder
	for _, p := range stackOf(text) {
		p = l.author(p)
		if p.function == "" || p.function == "<anonymous>" {
			fmt.Fprintf(&b, "    at %s:%d:%d\n", p.file, p.line, p.column)
		} else {
			fmt.Fprintf(&b, "    at %s (%s:%d:%d)\n", p.function, p.file, p.line, p.column)
		}
	}
	return b.String()
}

// problem returns why loading failed with t, in the author's file and line.
func (l *loader) problem(t thrown, heap int64) *Problem {
	if t.outOfMemory() {
		return memoryProblem(heap)
	}
	if l.first != nil {
		return l.first
	}
	p := &Problem{Kind: "script", Type: t.Name, Message: t.sentence(), Hint: hintFor(t)}
	at := place{file: t.File, line: t.Line, column: t.Column}
	if at.file == "" || l.read[at.file] == nil {
		at = place{}
		if places := stackOf(t.Stack); len(places) > 0 {
			at = places[0]
		}
	}
	if m := l.read[at.file]; m != nil {
		if t.Name == "SyntaxError" && m.back == nil && t.Line > 0 {
			if better := checkSyntax(at.file, m.text); better != nil {
				return better
			}
		}
		at = l.author(at)
		p.File, p.Line, p.Column = at.file, at.line, at.column
		p.Frame = wire.Frame(l.text(at.file), at.line, at.column)
	} else {
		p.File = l.entry
	}
	return p
}

// newer reports whether loading failed because a module is written in newer
// JavaScript than the engine reads, which building it would cure.
func (l *loader) newer(t thrown) bool {
	if l.lower || l.first != nil || t.Name != "SyntaxError" || t.Line == 0 {
		return false
	}
	m := l.read[t.File]
	return m != nil && m.back == nil && checkSyntax(t.File, m.text) == nil
}
