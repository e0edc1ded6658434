package hosttest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/plugintest"
	"conclave/app/tool"
)

// nasty holds what no field of a manifest may bring to a person as it is: line ends that
// draw a card of their own, marks that turn text round, and 10,000 characters.
var nasty = "a\nb\r\n! Approved \u202egpj.exe\u2066\u200b\u00ad\U000e0041\x1b[31m\x07" + strings.Repeat("x", 10_000)

// spoilt returns the manifest once for each of its leaves, with that leaf nasty, by
// the leaf's name.
func spoilt(value any) map[string]any {
	out := map[string]any{}
	switch v := value.(type) {
	case map[string]any:
		for key, item := range v {
			for name, one := range spoilt(item) {
				next := maps.Clone(v)
				next[key] = one
				out[key+"."+name] = next
			}
		}
	case []any:
		for i, item := range v {
			for name, one := range spoilt(item) {
				next := slices.Clone(v)
				next[i] = one
				out[fmt.Sprint(i)+"."+name] = next
			}
		}
	default:
		out["text"], out["list"], out["table"] = nasty, []any{nasty, nasty}, map[string]any{nasty: nasty}
	}
	return out
}

// toml writes tables of one level of texts, lists and tables.
func toml(value any) string {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			parts[i] = toml(one)
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, toml(key)+" = "+toml(v[key]))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	var b strings.Builder
	for _, r := range fmt.Sprint(value) {
		if r >= 0x20 && r < 0x7f && r != '"' && r != '\\' {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, `\U%08x`, r)
	}
	return `"` + b.String() + `"`
}

// readable reports what is wrong with a text that a person is shown.
func readable(t *testing.T, where, text string, lines bool, most int) {
	t.Helper()
	if clean, _ := tool.Strip(text); clean != text || !lines && strings.Contains(text, "\n") ||
		utf8.RuneCountInString(text) > most {
		t.Errorf("%s shows %.120q, of %d characters", where, text, utf8.RuneCountInString(text))
	}
}

func TestEveryFieldOfEveryManifestIsCleaned(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	write := func(n int, kind, field string, files map[string]string) string {
		id := fmt.Sprintf("%s%03d", kind, n)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			c.write(id+"/"+name, strings.ReplaceAll(files[name], "IDENT", id))
		}
		return id
	}
	asJSON := func(v any) string {
		raw, err := json.Marshal(v)
		must(t, err)
		return string(raw)
	}
	fields := map[string]string{} // plugin id → what is nasty in it
	n := 0
	for field, m := range spoilt(map[string]any{
		"identifier": "IDENT", "name": "N", "version": "1.0.0", "author": "A", "github": "https://example.com/a",
		"homepage": "https://example.com", "description": "D",
		"permissions": []any{"tools", "x"}, "entry_backend": "dist/backend.js", "entry_frontend": "dist/frontend.js",
		"minimum_lumiverse_version": "1.0.0",
		"storage_seed_files":        []any{map[string]any{"from": "a", "to": "b"}}, "requested_capabilities": []any{"c"},
		"unknown": "u",
	}) {
		n++
		fields[write(n, "s", field, map[string]string{
			"dist/backend.js": "1;", "spindle.json": asJSON(m),
		})] = "spindle.json " + field
	}
	for field, m := range spoilt(map[string]any{
		"manifest_version": 2, "id": "test.IDENT", "version": "1.0.0", "name": "N", "description": "d", "license": "MIT",
		"author":           map[string]any{"name": "A", "url": "https://example.com"},
		"urls":             map[string]any{"repository": "https://example.com", "homepage": "https://example.com"},
		"host_application": map[string]any{"min_version": "1.0.0", "max_version": "1.99.99"},
		"sdk":              map[string]any{"min_version": "2.5.0", "max_version": "2.99.99"}, "capabilities": []any{"c"},
		"i18n": map[string]any{"default_locale": "zh-CN"},
		"dependencies": []any{
			map[string]any{"type": "plugin", "id": "a.b"},
			map[string]any{"type": "python_package", "name": "x", "version_spec": ">1"},
		}, "plugin_type": "p", "unknown": "u",
	}) {
		n++
		fields[write(n, "m", field, map[string]string{
			"plugin.py": "from maibot_sdk import MaiBotPlugin\n", "_manifest.json": asJSON(m),
		})] = "_manifest.json " + field
	}
	for field, m := range spoilt(map[string]any{
		"id": "IDENT", "name": "N", "version": "1.0.0", "entry": "plugins.IDENT:P", "type": "plugin",
		"short_description": "d", "description": "d",
		"author": map[string]any{"name": "A"}, "homepage": "h", "repository": "r",
		"sdk": map[string]any{"supported": ">=0.1"}, "dependency": []any{"x"}, "keywords": []any{"k"}, "unknown": "u",
	}) {
		n++
		var text strings.Builder
		for key, value := range m.(map[string]any) {
			fmt.Fprintf(&text, "%s = %s\n", key, toml(value))
		}
		fields[write(n, "n", field, map[string]string{"__init__.py": "class P: pass\n", "plugin.toml": "[plugin]\n" +
			text.String()})] = "plugin.toml " + field
	}
	for field, m := range spoilt(map[string]any{
		"name": "N", "version": "1", "description": "d",
		"authors": []any{map[string]any{"name": "A"}},
	}) {
		n++
		var text strings.Builder
		for key, value := range m.(map[string]any) {
			fmt.Fprintf(&text, "%s = %s\n", key, toml(value))
		}
		fields[write(n, "l", field, map[string]string{"mod.py": "import llm\n", "pyproject.toml": "[project]\n" +
			text.String() + "[project.entry-points.llm]\nx = \"mod\"\n"})] = "pyproject.toml " + field
	}
	marks := strings.NewReplacer("\n", " ", "\r", " ").Replace(nasty[:60]) + strings.Repeat("x", 100)
	c.write("head.py", "\"\"\""+nasty+"\"\"\"\n__version__ = \""+marks+"\"\n__author__ = \""+marks+"\"\n__url__ = \""+
		marks+"\"\ndef f(): pass\n")
	c.write("head.js", "// @name "+nasty+"\n// @version "+marks+"\nspindle.registerTool({name:\"f\"});\n")
	fields["head"], fields["head-py"] = "a script's head", "a script's head"

	must(t, c.host.Scan(), c.host.WaitIdle(t.Context()))
	name, text := limit.ManifestName, limit.ManifestText
	hidden := 0
	for id, field := range fields {
		s, err := c.host.Status(id)
		if err != nil {
			t.Errorf("%s (%s): %v", field, id, err)
			continue
		}
		if s.State == plugin.Ready || s.State == plugin.Loading {
			t.Errorf("%s is %s", field, s.State)
		}
		m := s.Manifest
		hidden += m.Hidden
		for what, value := range map[string]string{"name": m.Name, "version": m.Version, "author": m.Author} {
			readable(t, field+": the "+what, value, false, name)
		}
		for _, p := range append(slices.Clone(m.Permissions), s.Imports...) {
			readable(t, field+": a permission or import", p, false, name)
		}
		for what, value := range map[string]string{"homepage": m.Homepage, "entry": m.Entry, "identity": m.Identity} {
			readable(t, field+": the "+what, value, false, text)
		}
		for _, notice := range append(slices.Clone(m.Notices), s.Notes...) {
			readable(t, field+": a notice", notice, false, text)
		}
		readable(t, field+": the description", m.Description, true, text)
		if p := s.Problem; p != nil {
			readable(t, field+": the problem", p.Message, false, text)
			readable(t, field+": the hint", p.Hint, false, text)
			readable(t, field+": the problem's file", p.File, false, text)
			readable(t, field+": the frame", p.Frame, true, 4*text)
			for _, one := range p.Missing {
				readable(t, field+": what is missing", one, false, name)
			}
		}
	}
	if hidden == 0 {
		t.Error("no hidden character was counted")
	}
	for _, p := range c.gate.Questions.List() {
		readable(t, "a card's title", p.Title, false, name+100)
	}
}

// A permission with a hidden character in it is told as one that does nothing here,
// and cleaning it does not make it one.
func TestAPermissionWithHiddenCharactersIsNone(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.write("sly/dist/backend.js", "1;")
	c.write("sly/spindle.json",
		`{"identifier":"sly","name":"N","version":"1.0.0","author":"A","github":"https://example.com/a","homepage":"https://example.com","description":"D","entry_backend":"dist/backend.js","permissions":["tools","chats\u200b"," generation","chat_mutation\n"]}`)
	must(t, c.host.Scan(), c.host.WaitIdle(t.Context()), plugintest.Approve(t.Context(), c.host, "sly", false))
	s, err := c.host.Status("sly")
	must(t, err)
	if want := []string{"tools"}; !slices.Equal(s.Granted, want) || !slices.Equal(s.Manifest.Permissions, want) {
		t.Errorf("it asks for %q and is granted %q, want %q; notices %q", s.Manifest.Permissions, s.Granted, want,
			s.Manifest.Notices)
	}
}
