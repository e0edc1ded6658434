package maibot

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/pattern"
	"conclave/app/plugin"
	"conclave/app/plugin/python"
	"conclave/app/plugin/safefs"
)

// manifestName is the file that makes a folder a MaiBot plugin.
const manifestName = "_manifest.json"

// The versions that Conclave says it is: the newest host and SDK whose plugins
// were looked at. A plugin that wants others is told so and runs.
const (
	hostVersion = "1.2.1"
	sdkVersion  = "2.10.0"
)

// maxManifest bounds a manifest; real ones have a few kilobytes.
const maxManifest = 64 << 10

// manifest holds a _manifest.json, as far as Conclave acts on it
// (contracts/maibot, section 1.1).
type manifest struct {
	raw map[string]any // all of it

	id, version, name, about, author, home string

	capabilities []string
	plugins      []string // ids of the plugins it needs
	notes        []string // what is odd about it, for a person
}

var (
	idPattern      = pattern.Lazy(`^[A-Za-z0-9_]+(?:[.-][A-Za-z0-9_]+)+$`)
	versionPattern = pattern.Lazy(`^\d+\.\d+\.\d+$`)
)

// known are the keys of a manifest of version 2.
var known = []string{
	"manifest_version", "id", "version", "name", "description", "license", "author", "urls", "host_application", "sdk",
	"capabilities", "i18n", "dependencies", "plugin_type", "type", "display", "llm_providers", "changelog", "webui",
	"pages",
}

// readManifest reads the manifest of the folder at path. The error is a
// *plugin.Problem that names the field.
func readManifest(path string) (manifest, error) {
	var m manifest
	text, err := readText(path, manifestName)
	if err != nil {
		return m, &plugin.Problem{
			Kind: "unavailable", File: manifestName, Message: manifestName + " cannot be read: " + err.Error() + ".",
		}
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&m.raw); err != nil {
		return m, &plugin.Problem{
			Kind: "script", File: manifestName, Line: lineOf(text, err),
			Message: manifestName + " is no JSON object: " + err.Error() + ".",
		}
	}
	if m.raw == nil {
		return m, wrong("", "it is empty")
	}
	return m, m.read()
}

func (m *manifest) read() error {
	switch version := fmt.Sprint(m.raw["manifest_version"]); {
	case m.raw["manifest_version"] == nil:
		return wrong("manifest_version", "it is missing; MaiBot plugins of today say 2")
	case version == "1":
		p := wrong("manifest_version",
			"1 is that of plugins for MaiBot before 1.0, which Conclave does not run, nor does MaiBot any more")
		p.Hint = "Look for a newer version of the plugin."
		return p
	case version != "2":
		return wrong("manifest_version", "Conclave knows version 2, not "+version)
	}
	for _, field := range []struct {
		key  string
		into *string
	}{{"id", &m.id}, {"version", &m.version}, {"name", &m.name}, {"description", &m.about}} {
		text, ok := m.raw[field.key].(string)
		if *field.into = strings.TrimSpace(text); !ok || *field.into == "" {
			return wrong(field.key, "it is missing or empty")
		}
	}
	if !idPattern().MatchString(m.id) {
		return wrong("id", "“"+m.id+"” is not of the form author.plugin")
	}
	if !versionPattern().MatchString(m.version) {
		return wrong("version", "“"+m.version+"” is not of the form 1.2.3")
	}
	if m.raw["capabilities"] != nil {
		list, ok := m.raw["capabilities"].([]any)
		if !ok {
			return wrong("capabilities", "it is no list")
		}
		for _, one := range list {
			if text, ok := one.(string); ok && strings.TrimSpace(text) != "" && !slices.Contains(m.capabilities, text) {
				m.capabilities = append(m.capabilities, text)
			}
		}
	}
	m.author, _ = object(m.raw, "author")["name"].(string)
	urls := object(m.raw, "urls")
	for _, key := range []string{"homepage", "repository"} {
		if text, _ := urls[key].(string); m.home == "" && isWeb(text) {
			m.home = text
		}
	}
	dependencies, _ := m.raw["dependencies"].([]any)
	for _, one := range dependencies {
		d, _ := one.(map[string]any)
		if id, _ := d["id"].(string); d["type"] == "plugin" && id != "" && id != m.id {
			m.plugins = append(m.plugins, id)
		}
	}
	m.remark()
	return nil
}

// remark notes what MaiBot would refuse and Conclave only says.
func (m *manifest) remark() {
	isKnown := func(key string) bool { return slices.Contains(known, key) }
	if odd := slices.DeleteFunc(slices.Sorted(maps.Keys(m.raw)), isKnown); len(odd) > 0 {
		m.notes = append(m.notes, "Its manifest has keys that Conclave does not know: "+strings.Join(odd, ", ")+".")
	}
	for _, gate := range []struct{ key, name, is string }{
		{"host_application", "MaiBot", hostVersion}, {"sdk", "its SDK", sdkVersion},
	} {
		low, _ := object(m.raw, gate.key)["min_version"].(string)
		high, _ := object(m.raw, gate.key)["max_version"].(string)
		if !python.Satisfies(gate.is, ">="+low+",<="+high) { // bounds that are no versions hold nothing
			m.notes = append(m.notes,
				fmt.Sprintf("It was written for %s %s to %s; Conclave does what %s does.", gate.name, low, high, gate.is))
		}
	}
	if strange := slices.DeleteFunc(slices.Clone(m.capabilities), isCapability); len(strange) > 0 {
		m.notes = append(m.notes, "It asks for what MaiBot does not have: "+strings.Join(strange, ", ")+".")
	}
}

func object(of map[string]any, key string) map[string]any {
	inner, _ := of[key].(map[string]any)
	return inner
}

func isWeb(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// requires returns the Python packages that the text of a manifest names
// (contracts/maibot, section 1.1: dependencies). What is wrong with it, its dialect
// says when it is recognized.
func requires(text []byte) []string {
	var doc struct {
		Dependencies []struct {
			Type    string `json:"type"`
			Name    string `json:"name"`
			Version string `json:"version_spec"`
		} `json:"dependencies"`
	}
	if json.Unmarshal(bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), &doc) != nil {
		return nil
	}
	var wanted []string
	for _, one := range doc.Dependencies {
		if one.Type == "python_package" {
			wanted = append(wanted, one.Name+" "+one.Version)
		}
	}
	return wanted
}

// wrong is the problem of one field of the manifest.
func wrong(field, why string) *plugin.Problem {
	message := "The manifest cannot be used: " + why + "."
	if field != "" {
		message = field + ": " + why + "."
	}
	return &plugin.Problem{Kind: "script", File: manifestName, Message: message}
}

func lineOf(text []byte, err error) int {
	if syntax, ok := err.(*json.SyntaxError); ok { //nolint:errorlint // a decoder wraps nothing
		return 1 + bytes.Count(text[:min(int(syntax.Offset), len(text))], []byte("\n"))
	}
	return 0
}

// readText reads one file of a plugin's folder.
func readText(dir, name string) ([]byte, error) {
	text, size, err := safefs.ReadSource(dir, name, maxManifest)
	if err == nil && size > maxManifest {
		err = fmt.Errorf("it has more than %d KiB", maxManifest>>10)
	}
	return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf")), err
}

// neighbours returns the folders next to the plugin that are MaiBot plugins, by
// the ids in their manifests.
func neighbours(src plugin.Source) map[string][]string {
	if src.Alone {
		return nil
	}
	parent := filepath.Dir(src.Display)
	entries, err := os.ReadDir(parent)
	if err != nil {
		return nil
	}
	found := map[string][]string{}
	for _, entry := range entries {
		path := filepath.Join(parent, entry.Name())
		if plugin.Ignored(entry.Name()) || !isFile(filepath.Join(path, entryName)) {
			continue
		}
		text, err := readText(path, manifestName)
		if err != nil {
			continue
		}
		var m struct {
			ID string `json:"id"`
		}
		if json.Unmarshal(text, &m) == nil && m.ID != "" {
			found[m.ID] = append(found[m.ID], path)
		}
	}
	return found
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
