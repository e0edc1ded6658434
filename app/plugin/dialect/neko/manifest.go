package neko

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/safefs"
	"conclave/app/plugin/wire"
)

// manifestName is the file that makes a folder a N.E.K.O plugin.
const manifestName = "plugin.toml"

// sdkVersion is the version of the SDK that the shim says it is: the one that
// every plugin seen asks for.
const sdkVersion = "0.1.0"

// manifest holds a plugin.toml, as far as Conclave acts on it.
type manifest struct {
	table map[string]any // all of it
	text  string

	id      string
	name    string
	version string
	about   string
	author  string
	home    string
	entry   entry
	wants   []string // ids of the plugins it depends on
	notes   []string // what a person may want to know
	timeout float64  // seconds its start may take; 0 when it does not say
	failure string   // warn, fail or ignore
}

// entry names the class that is the plugin: "plugin.plugins.<id>.<module>:<Class>".
type entry struct {
	of     string // the plugin's package: its id, or that as Python can write it
	module string // below the plugin's package, dotted; empty is the package itself
	class  string
	file   string // of module, relative to the folder, with slashes
}

// readManifest understands the plugin.toml of a folder. The error is a
// *plugin.Problem.
func readManifest(src plugin.Source) (*manifest, error) {
	text, err := reader(safefs.ReadSource).text(src.Path, manifestName)
	if err != nil {
		return nil, plugin.Unreadable(manifestName, err)
	}
	table, err := parse(manifestName, text)
	if err != nil {
		return nil, err
	}
	m := &manifest{table: table, text: text}
	if err := m.read(src); err != nil {
		return nil, err
	}
	return m, nil
}

// wrong is a mistake in the manifest, at the line that sets key.
func (m *manifest) wrong(key, message, hint string) *plugin.Problem {
	line := lineOf(m.text, key)
	return &plugin.Problem{
		Kind: "script", File: manifestName, Line: line, Frame: wire.Frame(m.text, line, 0), Message: message, Hint: hint,
	}
}

func (m *manifest) read(src plugin.Source) error {
	about, ok := m.table["plugin"].(map[string]any)
	if !ok {
		return m.wrong("plugin", "plugin.toml has no [plugin] table.", "Begin it with [plugin], id and entry.")
	}
	spelled, _ := about["entry"].(string)
	if spelled == "" {
		return m.wrong("[plugin]", "plugin.toml names no entry.", `Name the class: entry = "plugins.`+src.ID+`:MyPlugin".`)
	}
	var err error
	if m.entry, err = m.readEntry(spelled); err != nil {
		return err
	}
	m.id, _ = about["id"].(string)
	switch {
	case m.id == "":
		m.id = m.entry.of
		m.note("plugin.toml has no id; " + m.id + " is taken from its entry.")
	case !isPackageName(m.id):
		return m.wrong("id", fmt.Sprintf("The id %q is no name of a plugin.", m.id),
			"It is made of letters, digits, “_”, “.” and “-”.")
	case m.entry.of != m.id && m.entry.of != packageOf(m.id):
		return m.wrong("entry", fmt.Sprintf("The entry is in the package %s, but the plugin's id is %s.", m.entry.of, m.id),
			fmt.Sprintf("Write entry = %q.", "plugins."+packageOf(m.id)+":"+m.entry.class))
	}
	if err := m.findEntry(src.Path); err != nil {
		return err
	}
	switch kind := cmpString(about["type"], "plugin"); kind {
	case "plugin", "adapter":
	default:
		return m.wrong("type", "It is of the type "+kind+", which Conclave does not run.",
			"Conclave runs the types plugin and adapter.")
	}
	m.name = cmpString(about["name"], m.id)
	m.version = cmpString(about["version"], "0.0.0")
	m.about = cmpString(about["short_description"], cmpString(about["description"], ""))
	if author, ok := about["author"].(map[string]any); ok {
		m.author = cmpString(author["name"], "")
	} else {
		m.author = cmpString(about["author"], "")
	}
	m.home = cmpString(about["homepage"], cmpString(about["repository"], ""))
	m.readRuntime()
	m.readWants(about)
	return m.checkSDK(about)
}

func (m *manifest) note(text string) { m.notes = append(m.notes, text) }

// cmpString returns value as text. A reference to a translation is its default
// text.
func cmpString(value any, otherwise string) string {
	switch v := value.(type) {
	case string:
		if v != "" {
			return v
		}
	case map[string]any:
		if text, ok := v["default"].(string); ok && text != "" {
			return text
		}
		if key, ok := v["$i18n"].(string); ok && key != "" {
			return key
		}
	}
	return otherwise
}

// isPackageName reports whether text may name a plugin's package. It is no
// regular expression, and neither is isClassName: every program and every worker
// would compile those at its start, and letters of all languages take 3 ms.
func isPackageName(text string) bool {
	return text != "" && utf8.RuneCountInString(text) <= 100 && !strings.ContainsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !strings.ContainsRune("_.-", r)
	})
}

// isClassName reports whether text may name a class or a module.
func isClassName(text string) bool {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && (i == 0 || !unicode.IsNumber(r)) {
			return false
		}
	}
	return text != ""
}

// readEntry takes plugin.plugins.<id>:Cls, plugins.<id>:Cls and both with
// modules behind the id (contracts/neko, item 10).
func (m *manifest) readEntry(spelled string) (entry, error) {
	module, class, ok := strings.Cut(spelled, ":")
	rest, found := strings.CutPrefix(module, "plugin.plugins.")
	if !found {
		rest, found = strings.CutPrefix(module, "plugins.")
	}
	of, below, _ := strings.Cut(rest, ".")
	if !ok || !found || !isPackageName(of) || !isClassName(class) ||
		(below != "" &&
			slices.ContainsFunc(strings.Split(below, "."), func(part string) bool { return !isClassName(part) })) {
		return entry{}, m.wrong("entry", fmt.Sprintf("The entry %q names no class of the plugin.", spelled),
			`It is written "plugins.<id>:<Class>", or "plugins.<id>.<module>:<Class>".`)
	}
	return entry{of: of, module: below, class: class}, nil
}

// packageOf is an id as a statement of Python can import it: plugins are seen whose
// id has a dash, and whose folder and package the underscore instead.
func packageOf(id string) string { return strings.NewReplacer("-", "_", ".", "_").Replace(id) }

// findEntry finds the file of the entry's module.
func (m *manifest) findEntry(dir string) error {
	path := strings.ReplaceAll(m.entry.module, ".", "/")
	candidates := []string{path + ".py", path + "/__init__.py"}
	if path == "" {
		candidates = []string{"__init__.py"}
	}
	for _, name := range candidates {
		if info, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() {
			m.entry.file = name
			return nil
		}
	}
	return m.wrong("entry", "The entry's file "+candidates[0]+" does not exist.", "It lies next to plugin.toml.")
}

func (m *manifest) readRuntime() {
	table, _ := m.table["plugin_runtime"].(map[string]any)
	switch seconds := table["timeout"].(type) {
	case int64:
		m.timeout = float64(seconds)
	case python.Float:
		m.timeout = float64(seconds)
	}
	m.failure = cmpString(table["startup_failure"], "warn")
}

// readWants reads [[plugin.dependency]]. Only dependencies on a plugin by its id
// can be told apart from the folder.
func (m *manifest) readWants(about map[string]any) {
	list, _ := about["dependency"].([]any)
	for _, item := range list {
		table, ok := item.(map[string]any)
		if !ok {
			continue
		}
		if id := cmpString(table["id"], ""); id != "" {
			m.wants = append(m.wants, id)
		} else {
			m.note("A dependency on an entry or an event of another plugin is not checked.")
		}
	}
}

// allows reports whether the version of the SDK is in ranges of PEP 440, or is the
// one version that they name. What cannot be read allows it: a manifest is never
// refused for its spelling.
func allows(ranges string) bool {
	if ranges = strings.TrimSpace(ranges); ranges != "" && !strings.ContainsAny(ranges[:1], "<>=!~") {
		ranges = "==" + ranges
	}
	return python.Satisfies(sdkVersion, ranges)
}

// checkSDK refuses a plugin that says it does not run with this SDK.
func (m *manifest) checkSDK(about map[string]any) error {
	sdk, _ := about["sdk"].(map[string]any)
	if supported := cmpString(sdk["supported"], ""); supported != "" && !allows(supported) {
		return m.wrong("supported", fmt.Sprintf("It supports the SDK %s; Conclave's is %s.", supported, sdkVersion),
			"Look for a version of the plugin for SDK "+sdkVersion+".")
	}
	if recommended := cmpString(sdk["recommended"], ""); recommended != "" && !allows(recommended) {
		m.note(fmt.Sprintf("It recommends the SDK %s; Conclave's is %s.", recommended, sdkVersion))
	}
	for _, key := range []string{"untested", "conflicts"} {
		ranges, ok := sdk[key].([]any)
		if !ok {
			ranges = []any{sdk[key]}
		}
		for _, one := range ranges {
			if text, ok := one.(string); ok && text != "" && allows(text) {
				m.note(fmt.Sprintf("It lists the SDK %s as %s; Conclave's is %s.", text, key, sdkVersion))
			}
		}
	}
	return nil
}
