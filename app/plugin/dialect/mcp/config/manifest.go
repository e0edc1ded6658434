package config

import (
	"cmp"
	"slices"
	"strings"
)

// Manifest is the manifest.json of a bundle (.mcpb, older .dxt).
type Manifest struct {
	Server      Server // with ${__dirname}, which Fill takes from its value Dirname
	Name        string // of the bundle, as it calls itself
	Title       string // its display name; Name without one
	Version     string
	Description string
	Author      string
	Homepage    string
	Entry       string // the file that is started, relative to the bundle
	Binary      bool   // Entry is a program
	Tools       []NamedText
	Prompts     []NamedText
	Generated   bool // the server may offer other tools and prompts than these
	// Platforms that it is made for, by Node's names: darwin, win32, linux; nil: all.
	Platforms []string
	// Runtimes are the versions that it needs: "node >=18".
	Runtimes []string
}

// NamedText is a tool or a prompt that a manifest lists.
type NamedText struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// manifestVersions are those that are read.
var manifestVersions = []string{"0.1", "0.2", "0.3", "0.4"}

// Platform returns the name that bundles have for a system of Go: darwin, win32, linux.
func Platform(goos string) string {
	if goos == "windows" {
		return "win32"
	}
	return goos
}

// ReadManifest reads the manifest.json of a bundle for a platform. Members that are not known are passed over. The
// error is a Problem.
func ReadManifest(data []byte, platform string) (Manifest, error) {
	if len(data) > MaxBytes {
		return Manifest{}, Problem{Message: "Its manifest.json is too large."}
	}
	root, err := readJSON(decoded(data))
	if err != nil {
		return Manifest{}, problemOf(err)
	}
	version := root.get("manifest_version", "dxt_version").words()
	switch {
	case version == "":
		return Manifest{}, root.problem("", "Its manifest.json names no manifest_version.", "")
	case !slices.Contains(manifestVersions, version):
		return Manifest{}, root.get("manifest_version", "dxt_version").problem("",
			"Its manifest_version "+shown(version)+" is not known; 0.1 to 0.4 are.", "Get another version of the bundle.")
	}
	for _, name := range []string{"name", "version", "description", "author", "server"} {
		if n := root.get(name); n.kind == null || n.kind == text && n.text == "" {
			return Manifest{}, root.problem("", "Its manifest.json has no “"+name+"”, which each bundle needs.", "")
		}
	}
	author := root.get("author")
	m := Manifest{
		Name: root.get("name").words(), Version: root.get("version").words(),
		Description: root.get("description").words(),
		Author:      cmp.Or(author.get("name").words(), author.words()), Homepage: root.get("homepage").words(),
		Tools: named(root.get("tools")), Prompts: named(root.get("prompts")),
		Generated: root.get("tools_generated").isTrue() || root.get("prompts_generated").isTrue(),
		Platforms: root.get("compatibility").get("platforms").texts(),
	}
	m.Title = cmp.Or(root.get("display_name").words(), m.Name)
	for _, runtime := range root.get("compatibility").get("runtimes").members {
		m.Runtimes = append(m.Runtimes, strings.TrimSpace(runtime.name+" "+runtime.value.words()))
	}
	if len(m.Platforms) > 0 && !slices.Contains(m.Platforms, platform) {
		return m, root.get("compatibility").problem("",
			"It is made for "+strings.Join(m.Platforms, ", ")+", and this is "+platform+".",
			"Look for a bundle for this system.")
	}
	return m, m.serverOf(root, platform)
}

func named(all node) []NamedText {
	var texts []NamedText
	for _, n := range all.items {
		if name := n.get("name").words(); name != "" {
			texts = append(texts, NamedText{name, n.get("description").words()})
		}
	}
	return texts
}

// serverOf reads how the server of a bundle is started.
func (m *Manifest) serverOf(root node, platform string) error {
	server := root.get("server")
	kind := server.get("type").words()
	m.Entry, m.Binary = server.get("entry_point").words(), kind == "binary"
	if !slices.Contains([]string{"node", "python", "uv", "binary"}, kind) {
		return server.problem("", "Its server is of the type "+shown(kind)+"; node, python, uv and binary are known.", "")
	}
	how := server.get("mcp_config")
	if how.kind == null && kind == "uv" {
		how = uvConfig(m.Entry)
	}
	entry := node{kind: object, line: server.line, column: server.column, members: slices.Clone(how.members)}
	override := how.get("platform_overrides").get(platform)
	for _, name := range []string{"command", "args", "env"} {
		if override.has(name) { // each as a whole
			entry.members = append(entry.members, member{name, override.get(name)})
		}
	}
	p := &parsing{program: Bundle, inputs: configured(root.get("user_config"))}
	p.entry(m.Name, entry, "")
	if len(p.problems) > 0 {
		return p.problems[0]
	}
	m.Server = p.servers[0]
	m.Server.Dir, m.Server.EnvFile = "", "" // it starts in its own folder, and has its own files alone
	for i := range m.Server.Inputs {        // a bundle gets none of the person's variables unasked
		m.Server.Inputs[i].Env = ""
	}
	for _, in := range p.inputs { // each field of the form, also one that no argument has
		in.ID = legal(in.ID)
		if !slices.ContainsFunc(m.Server.Inputs, func(other Input) bool { return other.ID == in.ID }) {
			in.Optional = true
			m.Server.Inputs = append(m.Server.Inputs, in)
		}
	}
	order := map[string]int{}
	for i, field := range root.get("user_config").members {
		order[legal(field.name)] = i + 1
	}
	slices.SortStableFunc(m.Server.Inputs, func(a, b Input) int { return order[a.ID] - order[b.ID] })
	return nil
}

// uvConfig returns the command of a bundle for uv that names none itself.
func uvConfig(entry string) node {
	one := func(s string) node { return node{kind: text, text: s} }
	args := node{kind: list, items: []node{one("run"), one("--directory"), one(dirname), one(entry)}}
	return node{kind: object, members: []member{{"command", one("uv")}, {"args", args}}}
}

// configured reads the user_config of a manifest.
func configured(fields node) map[string]Input {
	all := map[string]Input{}
	for _, field := range fields.members {
		n := field.value
		kind := InputKind(n.get("type").words())
		in := Input{
			ID: field.name, Title: n.get("title").words(), Description: n.get("description").words(), Kind: kind,
			Secret: n.get("sensitive").isTrue(), Optional: !n.get("required").isTrue(),
			Multiple: n.get("multiple").isTrue(),
			Min:      bound(n.get("min")), Max: bound(n.get("max")),
		}
		if kind == Text {
			in.Kind = ""
		}
		in.Default = defaultOf(n.get("default"), in)
		all[field.name] = in
	}
	return all
}

// defaultOf reads a default, in which the folders of the person may be named.
func defaultOf(n node, in Input) any {
	within := &inputs{program: Bundle}
	switch n.kind {
	case text:
		if n.text == "" {
			return nil
		}
		return within.canonical(n.text, false)
	case number, boolean:
		return n.value()
	case list:
		var all []any
		for _, one := range n.texts() {
			all = append(all, within.canonical(one, false))
		}
		if !in.Multiple && len(all) == 1 {
			return all[0]
		}
		return all
	}
	return nil
}
