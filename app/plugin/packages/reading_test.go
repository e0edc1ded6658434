package packages

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"conclave/app/plugin"
	"conclave/app/plugin/dialect/maibot"
	"conclave/app/plugin/python"
)

func TestVersionsFitAsPEP440Says(t *testing.T) {
	for text, want := range map[string]bool{
		"1.4.5 in ~=1.4.2": true, "1.5 in ~=1.4.2": false, "1.9 in ~=1.4": true, "2.0 in ~=1.4": false,
		"1.0 in ==1.0.0": true, "1.0.post1 in ==1.0": false, "1.0+cpu in ==1.0": true, "1.0+cpu in ==1.0+gpu": false,
		"1.1.3 in ==1.1.*": true, "1.2 in ==1.1.*": false, "1.1 in !=1.1.*": false, "2.3 in !=2.2": true,
		"3.0rc1 in <3.0": false, "3.0rc1 in <3.0rc2": true, "1.0.post1 in >1.0": false, "1.1 in >1.0": true,
		"1.0.dev1 in >=1.0": false,
		"1.0a1 in <1.0b1":   true, "1.0rc1 in >1.0b2": true, "1.0.dev3 in <1.0a1": true, "1!1.0 in >2.0": true,
		"1.10 in >1.9":  true,
		"2.0 in >=1,<3": true, "3.0 in >=1,<3": false, "1.0-1 in ==1.0.post1": true, "v1.0 in ==1.0": true,
		"whatever in >=1": true, "1.0 in nonsense": true, "1.0 in ": true, "abc in ===abc": true, "1.0 in (>=1.0)": true,
	} {
		version, specifiers, _ := strings.Cut(text, " in ")
		if got := python.Satisfies(version, specifiers); got != want {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestMarkersAreAnsweredForThisMachine(t *testing.T) {
	values := markersOf(python.Python{Version: "3.11.7"})
	here := map[string]string{"linux": "linux", "darwin": "darwin", "windows": "win32"}[runtime.GOOS]
	for marker, want := range map[string]bool{
		"": true, `python_version >= "3.10"`: true, `python_version < "3.10"`: false, `python_full_version == '3.11.*'`: true,
		`sys_platform == "` + here + `"`: true, `sys_platform == "plan9"`: false,
		`sys_platform != "plan9" and python_version > "3"`:                                                        true,
		`(os_name == "none" or implementation_name == "cpython") and platform_python_implementation == 'CPython'`: true,
		`"nux" in "linux"`: true, `sys_platform not in "plan9 haiku"`: true, `extra == "test"`: false,
		// unreadable: the installer decides
		`python_version >= `: true, `nonsense == "x"`: true, `(((((`: true, `"open`: true,
	} {
		if got := counts(marker, values); got != want {
			t.Errorf("%s: got %v", marker, got)
		}
	}
}

func TestDeclarationsAreReadAsWritten(t *testing.T) {
	file := func(name, text string) map[string]string { return map[string]string{name: text, "plug.py": ""} }
	py := python.New(python.Options{})
	maibot.New(py)
	for name, one := range map[string]struct {
		files map[string]string
		wants []string // "text from"
		notes []string // parts of them, in order
	}{
		"script block": {
			file("plug.py",
				"#!/usr/bin/env python\n# /// script\n# requires-python = \">=3.9\"\n# dependencies = [\n#   \"httpx>=0.27\", "+
					" # fast\n#   \"rich\",\n# ]\n# ///\nimport httpx\n"),
			[]string{"httpx>=0.27 plug.py:2", "rich plug.py:2"},
			nil,
		},
		"two script blocks": {
			file("plug.py",
				"# /// script\n# dependencies = []\n# ///\n\n# /// script\n# dependencies = [\"a\"]\n# ///\n"), nil,
			[]string{"more than one script block"},
		},
		"broken script": {file("plug.py", "# /// script\n# dependencies = [\"a\n# ///\n"), nil, []string{"cannot be read"}},
		"requirements": {
			map[string]string{
				"plug.py": "", "more/base.txt": "six == 1.16\n-r ../requirements.txt\n",
				"requirements.txt": "\ufeff# ours\nRequests[socks] >= 2.8, < 3 ; python_version >= '3.6'  # http\n\n-r " +
					"more/base.txt\n" +
					"pywin32; sys_platform == 'win32'\nflask==3.0 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n",
			},
			[]string{
				"Requests[socks]>=2.8,<3 ; python_version >= '3.6' requirements.txt:2", "six==1.16 more/base.txt:1",
				"pywin32 ; sys_platform == 'win32' requirements.txt:5", "flask==3.0 requirements.txt:6 sha256:aa sha256:bb",
			},
			nil,
		},
		"options": {
			file("requirements.txt",
				"--index-url http://example.org/simple\n--trusted-host example.org\n-e .\n./wheels/x.whl\n/etc/passwd\n$HOME "+
					"${TOKEN}\n-r ../../../etc/passwd\n--no-binary :all:\nname --global-option=x\n"),
			[]string{"name requirements.txt:9"},
			[]string{
				"asked over https", "--trusted-host", "-e .", "./wheels/x.whl",
				"/etc/passwd", "variable", "cannot be read", "--no-binary", "--global-option",
			},
		},
		"addresses": {
			file("requirements.txt",
				"a @ https://example.org/a-1.0-py3-none-any.whl ; python_version > '3'\n"+
					"https://ada:secret@example.org/b_c-1.0-py3-none-any.whl\ngit+https://example.org/d.git#egg=d\n"+
					"https://example.org/mystery\n"),
			[]string{
				"a @ https://example.org/a-1.0-py3-none-any.whl ; python_version > '3' requirements.txt:1",
				"b_c @ https://…@example.org/b_c-1.0-py3-none-any.whl requirements.txt:2",
				"d @ git+https://example.org/d.git#egg=d requirements.txt:3",
			},
			[]string{"does not name its package"},
		},
		"smuggled": {
			file("pyproject.toml",
				"[project]\ndependencies = [\"a ; python_version>'3' --index-url https://x/\", \"b @ https://x/y.whl --pre\", "+
					"\"c @ file:///etc/passwd\", \"d==1\\n--pre\", \"--pre\", \"e @ https://x/${HOME}\", \"f @ "+
					"http://example.org/f.whl\"]\n"),
			nil,
			[]string{
				"option", "not one of https", "not one of https", "more than one line", "does not begin", "variable",
				"not one of https",
			},
		},
		"project": {file("pyproject.toml",
			"[project]\nname = \"plug\"\ndependencies = ['httpx', \"yarl (>=1)\", 3, \"a b\"]\n[build-system]\nrequires = "+
				"[\"hatchling\"]\n"), []string{"httpx pyproject.toml", "yarl>=1 pyproject.toml"}, []string{`"3"`, `"a b"`}},
		"broken project": {file("pyproject.toml", "[project\n"), nil, []string{"pyproject.toml cannot be read"}},
		"poetry": {
			file("pyproject.toml",
				"[tool.poetry]\nname = \"plug\"\n[tool.poetry.dependencies]\npython = \"^3.9\"\na = \"^1.2.3\"\nb = \"~0.4\"\n"+
					"c = \"*\"\nd = {version = \"^0.2.5\", extras = [\"x\"]}\ne = {version = \"1\", optional = true}\nf = {git = "+
					"\"https://example.org/f\"}\ng = \"1.5\"\nh = \">=2,<3\"\n"),
			[]string{
				"a>=1.2.3,<2 pyproject.toml", "b>=0.4,<0.5 pyproject.toml", "c pyproject.toml",
				"d[x]>=0.2.5,<0.3 pyproject.toml", "g==1.5 pyproject.toml", "h>=2,<3 pyproject.toml",
			},
			[]string{"f is left out"},
		},
		"setup": {
			file("setup.cfg",
				"[metadata]\nname = plug\n[options]\ninstall_requires =\n    httpx>=0.2 ; python_version > '3'\n    # no\n    "+
					"rich\npackages = find:\n[options.extras_require]\ntest =\n    pytest\n"),
			[]string{"httpx>=0.2 ; python_version > '3' setup.cfg:5", "rich setup.cfg:7"},
			nil,
		},
		"maibot": {file("_manifest.json",
			`{"dependencies": [{"type": "python_package", "name": "aiohttp", "version_spec": ">=3.9"}, {"type": "plugin", "id": "a.b"}]}`), []string{"aiohttp>=3.9 _manifest.json"}, nil},
		"merged": {
			map[string]string{
				"plug.py": "", "requirements.txt": "HTTPX>=0.2\n",
				"pyproject.toml": "[project]\ndependencies = [\"httpx<1\"]\n",
			},
			[]string{"HTTPX>=0.2,<1 requirements.txt:1, pyproject.toml"},
			nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for path, text := range one.files {
				write(t, filepath.Join(dir, filepath.FromSlash(path)), text)
			}
			d := declare(plugin.Source{ID: "plug", Path: dir, Folder: true}, plugin.Manifest{Entry: "plug.py"}, py.Ecosystems())
			var got []string
			for _, w := range merge(d.wants) {
				got = append(got, strings.TrimSpace(redact(w.text())+" "+w.from+" "+strings.Join(w.hashes, " ")))
			}
			if !slices.Equal(got, one.wants) {
				t.Errorf("got\n %q\nwant\n %q", got, one.wants)
			}
			if len(d.notes) != len(one.notes) {
				t.Fatalf("notes: %q", d.notes)
			}
			for i, note := range d.notes {
				if !strings.Contains(note, one.notes[i]) || strings.Contains(note, "secret") {
					t.Errorf("got %q, want %q in it", note, one.notes[i])
				}
			}
		})
	}
}

func TestAPythonWithoutPipOrVenvIsSaid(t *testing.T) {
	e := New(Options{})
	py := python.Python{Executable: "/usr/bin/python3", Stdlib: t.TempDir(), Site: []string{t.TempDir()}}
	if got := e.unable(py); !strings.Contains(got, "no module venv") {
		t.Error(got)
	}
	write(t, filepath.Join(py.Stdlib, "venv", "__init__.py"), "")
	if _, ok := pipOf(py); !ok { // the system may keep one for all its Pythons
		if got := e.unable(py); !strings.Contains(got, "neither pip nor ensurepip") {
			t.Error(got)
		}
	}
	if got := New(Options{UV: "/usr/bin/uv"}).unable(py); got != "" {
		t.Error(got)
	}
	write(t, filepath.Join(py.Stdlib, "ensurepip", "_bundled", "pip-24.2-py3-none-any.whl"), "")
	if p, ok := pipOf(py); !ok || p.version != "24.2" || e.unable(py) != "" {
		t.Errorf("got %v, %v", p, ok)
	}
	write(t, filepath.Join(py.Site[0], "pip", "__init__.py"), "")
	write(t, filepath.Join(py.Site[0], "pip-9.0.1.dist-info", "METADATA"), "")
	if p, _ := pipOf(py); p.version != "24.2" { // too old to find its way back
		t.Errorf("got %v", p)
	}
}

// FuzzRequirements looks for a declaration that ends the program, or that reaches
// the installer as more than one line.
func FuzzRequirements(f *testing.F) {
	for _, seed := range []string{
		"a>=1 ; python_version > '3'", "a @ https://x/y.whl", "-r b", "a \\\n--hash=sha256:00",
		"\x00", "a[b,c]==1.*;(((", "a;'", "--index-url https://u:p@h/",
	} {
		f.Add(seed)
	}
	values := markersOf(python.Python{Version: "3.11.7"})
	py := python.New(python.Options{})
	maibot.New(py)
	f.Fuzz(func(t *testing.T, text string) {
		var d declaration
		d.requirements(text, "requirements.txt", func(string) (string, bool) { return text, true }, map[string]bool{})
		d.setup(text)
		d.project(text)
		d.script(text, "plug.py")
		for _, e := range py.Ecosystems() {
			if e.Requires != nil {
				for _, one := range e.Requires([]byte(text)) {
					d.add(one, e.Manifest)
				}
			}
		}
		for _, w := range merge(d.wants) {
			counts(w.marker, values)
			python.Satisfies("1.0", w.spec)
			if line := w.text(); strings.ContainsAny(line, "\r\n\x00") || strings.HasPrefix(strings.TrimSpace(line), "-") {
				t.Errorf("%q becomes the line %q", text, line)
			}
		}
	})
}
