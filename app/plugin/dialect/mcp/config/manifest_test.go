package config

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const bundled = `{
	"manifest_version": "0.3", "name": "files", "display_name": "Files", "version": "2.0.0", "description": "Reads files",
	"author": {"name": "Ann", "url": "https://ann.example"}, "homepage": "https://files.example", "unknown": {"x": 1},
	"server": {"type": "node", "entry_point": "server/index.js", "mcp_config": {
		"command": "node",
		"args": ["${__dirname}${/}server${/}index.js", "${user_config.folders}", "--key", "${user_config.key}", "--max=${user_config.max}", "${user_config.mode}"],
		"env": {"HOME_OF": "${HOME}", "MODE": "${user_config.mode}", "DRY": "${user_config.dry}"},
		"platform_overrides": {"win32": {"command": "node.exe", "env": {"ONLY": "windows"}}}
	}},
	"tools": [{"name": "read", "description": "Reads"}, {"name": "list"}], "tools_generated": true,
	"compatibility": {"claude_desktop": ">=99.0.0", "platforms": ["darwin", "win32", "linux"], "runtimes": {"node": ">=18"}},
	"user_config": {
		"folders": {"type": "directory", "title": "Folders", "description": "To read", "required": true, "multiple": true, "default": ["${HOME}/Desktop", "${DOCUMENTS}"]},
		"key": {"type": "string", "title": "Key", "sensitive": true, "required": true},
		"max": {"type": "number", "title": "Most", "min": 1, "max": 9, "default": 5},
		"dry": {"type": "boolean", "title": "Dry", "default": false},
		"mode": {"type": "string", "title": "Mode"},
		"unused": {"type": "file", "title": "Unused"}
	}
}`

func TestMC101ABundlesCommandIsMadeOfItsManifest(t *testing.T) {
	m, err := ReadManifest([]byte(bundled), "linux")
	if err != nil {
		t.Fatal(err)
	}
	if m.Title != "Files" || m.Author != "Ann" || !m.Generated || len(m.Tools) != 2 || m.Runtimes[0] != "node >=18" {
		t.Errorf("%+v", m)
	}
	env := func(name string) (string, bool) { return "/home/ann", name == "HOME" }
	s, err := Fill(m.Server, map[string]any{Dirname: "/b", "key": "k", "folders": []any{"/a", "/c"}}, env)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"/b/server/index.js", "/a", "/c", "--key", "k", "--max=5"}; !slices.Equal(s.Args, want) {
		t.Errorf("%q", s.Args)
	}
	if want := map[string]string{"HOME_OF": "/home/ann", "DRY": "false"}; !reflect.DeepEqual(s.Env, want) {
		t.Errorf("%q", s.Env)
	}
	s, err = Fill(m.Server, map[string]any{Dirname: "/b", "key": "k", "mode": "m"}, env)
	if err != nil || !slices.Equal(s.Args[1:3], []string{"/home/ann/Desktop", "/home/ann/Documents"}) || s.Args[6] != "m" {
		t.Errorf("%q %v", s.Args, err)
	}
	m, err = ReadManifest([]byte(bundled), "win32")
	if err != nil || m.Server.Command != "node.exe" || len(m.Server.Env) != 1 || len(m.Server.Args) != 6 {
		t.Errorf("%+v %v", m.Server, err)
	}
}

func TestMC102MissingRequiredValuesAreNamed(t *testing.T) {
	m, err := ReadManifest([]byte(bundled), "linux")
	if err != nil {
		t.Fatal(err)
	}
	_, err = Fill(m.Server, map[string]any{Dirname: "/b"}, nil)
	lacks, ok := errors.AsType[*Unresolved](err)
	if !ok || len(lacks.Inputs) != 1 || !strings.Contains(err.Error(), "key (Key)") {
		t.Errorf("%v", err)
	}
	var ids []string
	for _, in := range m.Server.Inputs {
		ids = append(ids, in.ID)
	}
	if !slices.Equal(ids, []string{"folders", "key", "max", "dry", "mode", "unused"}) {
		t.Errorf("%q", ids)
	}
	form := string(Form(m.Server))
	for _, want := range []string{
		`"folders":{"type":"array","title":"Folders"`, `"format":"directory-path"`, `"format":"password"`, `"minimum":1`,
		`"maximum":9`, `"default":5`, `"format":"file-path"`,
	} {
		if !strings.Contains(form, want) {
			t.Errorf("the form lacks %s: %s", want, form)
		}
	}
}

func TestMC98ManifestsThatLackSomethingAreRefusedByName(t *testing.T) {
	for _, name := range []string{"name", "version", "description", "author", "server"} {
		text := strings.Replace(bundled, `"`+name+`":`, `"not_`+name+`":`, 1)
		if _, err := ReadManifest([]byte(text), "linux"); err == nil || !strings.Contains(err.Error(), "“"+name+"”") {
			t.Errorf("without %s: %v", name, err)
		}
	}
	for version, ok := range map[string]bool{"0.1": true, "0.2": true, "0.4": true, "0.5": false, "1.0": false} {
		text := strings.Replace(bundled, `"0.3"`, `"`+version+`"`, 1)
		if _, err := ReadManifest([]byte(text), "linux"); err == nil != ok {
			t.Errorf("%s: %v", version, err)
		}
	}
	older := strings.Replace(bundled, "manifest_version", "dxt_version", 1)
	if _, err := ReadManifest([]byte(older), "linux"); err != nil {
		t.Error(err)
	}
	for _, text := range []string{"", "{", "[]", "7", `{"manifest_version": 3}`} {
		if _, err := ReadManifest([]byte(text), "linux"); err == nil {
			t.Errorf("%q was read", text)
		}
	}
}

func TestMC100TypesAndPlatformsAreChecked(t *testing.T) {
	uv := `{"manifest_version":"0.4","name":"u","version":"1","description":"d","author":"A",
		"server":{"type":"uv","entry_point":"src/main.py"}}`
	m, err := ReadManifest([]byte(uv), "linux")
	if err != nil || m.Server.Command != "uv" ||
		!slices.Equal(m.Server.Args, []string{"run", "--directory", "${__dirname}", "src/main.py"}) {
		t.Errorf("%+v %v", m.Server, err)
	}
	if _, err := ReadManifest([]byte(strings.Replace(uv, `"uv"`, `"ruby"`, 1)), "linux"); err == nil {
		t.Error("an unknown type was read")
	}
	other := strings.Replace(bundled, `["darwin", "win32", "linux"]`, `["darwin"]`, 1)
	if _, err := ReadManifest([]byte(other), "linux"); err == nil || !strings.Contains(err.Error(), "darwin") {
		t.Errorf("%v", err)
	}
	if Platform("windows") != "win32" || Platform("darwin") != "darwin" {
		t.Error("platforms have other names")
	}
}
