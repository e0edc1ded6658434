package spindle

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/spindle/job"
	"conclave/app/test/testkit"

	"github.com/rogpeppe/go-internal/txtar"
)

var must = testkit.Must

// unpack writes the files of a txtar archive to their own folder and
// returns it.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700))
		must(t, os.WriteFile(path, f.Data, 0o600))
	}
	return dir
}

func folder(path string) plugin.Source {
	return plugin.Source{ID: "sample", Path: path, Display: path, Folder: true}
}

func file(path string) plugin.Source {
	return plugin.Source{ID: "sample", Path: path, Display: path}
}

const manifestText = `"version":"6.7.6.7 and then some","name":"Sample","identifier":"sample_1","author":"A"`

const screen = "It asks for the permission screen_capture, which is not supported here."

func TestRecognizeReadsFolders(t *testing.T) {
	tests := map[string]struct {
		archive string
		want    plugin.Manifest // without what every one of them has
	}{
		"SP-02: the least there can be": {
			"-- spindle.json --\n{" + manifestText + "}\n-- dist/backend.js --\nx\n",
			plugin.Manifest{Entry: "dist/backend.js"},
		},
		"SP-03: unknown keys and permissions": {
			"-- spindlefile --\n{" + manifestText +
				`,"permissions":["tools","screen_capture",7,"tools"],"requested_capabilities":["x"],"scope":{"a":1},"minimum_lumiverse_version":"9.9"}` + "\n-- dist/backend.js --\nx\n",
			plugin.Manifest{
				Entry: "dist/backend.js", Permissions: []string{"tools", "screen_capture"}, Notices: []string{screen},
			},
		},
		"SP-03: values of the wrong kind": {
			"-- spindlefile.json --\n{" + manifestText +
				`,"permissions":"tools","description":[1],"entry_backend":null,"storage_seed_files":{},"requested_capabilities":["dynamic_code_execution"]}` + "\n-- dist/backend.js --\nx\n",
			plugin.Manifest{Entry: "dist/backend.js", Notices: []string{
				"It asks to run code made from text, which no extension may here; what needs that fails with an error.",
				"Passed over in its manifest, because the value is of the wrong kind: description, storage_seed_files.",
			}},
		},
		"SP-04: no backend is no error": {
			"-- spindlefile.json --\n{" + manifestText + `,"entry_backend":"dist/worker.js"}` +
				"\n-- dist/frontend.js --\nx\n",
			plugin.Manifest{
				Entry: "", Panel: "dist/frontend.js",
				Notices: []string{
					"It has no backend, so it offers no tools; its part for Lumiverse's window (dist/frontend.js) is not run.",
				},
			},
		},
		"SP-04: nothing but a preset": {
			"-- spindle.json --\n{" + manifestText + "}\n-- preset.json --\n{}\n",
			plugin.Manifest{Entry: "", Notices: []string{"It has no backend, so it offers no tools."}},
		},
		"SP-05: sources only": {
			"-- spindle.json --\n{" + manifestText +
				"}\n-- src/backend.ts --\nx\n-- src/frontend.ts --\nx\n",
			plugin.Manifest{
				Entry: "src/backend.ts", Panel: "src/frontend.ts",
				Notices: []string{"Its part for Lumiverse's window (src/frontend.ts) is not run."},
			},
		},
		"SP-05: an entry of its own": {
			"-- spindle.json --\n\uFEFF{" + manifestText +
				`,"entry_backend":"./src/hosts/main.js","homepage":"https://example.org","description":"D"}` +
				"\n-- src/hosts/main.js --\nx\n",
			plugin.Manifest{Entry: "src/hosts/main.js", Homepage: "https://example.org", Description: "D"},
		},
		"SP-06: broken package.json": {
			"-- spindle.json --\n{" + manifestText +
				"}\n-- package.json --\n{\n-- tsconfig.json --\n-- dist/backend.js --\nx\n",
			plugin.Manifest{Entry: "dist/backend.js"},
		},
		"nested in repo/, with data beside it": {
			"-- repo/spindle.json --\n{" + manifestText +
				`,"dev_mode":true,"storage_seed_files":[{"from":"seeds"}]}` +
				"\n-- repo/dist/backend.js --\nx\n-- repo/seeds/a --\n1\n-- storage/b --\n2\n",
			plugin.Manifest{
				Entry: "repo/dist/backend.js", WorkingCopy: true,
				Seeds: []plugin.Seed{{From: "repo/seeds", To: "seeds"}, {From: "storage", To: "."}},
			},
		},
		"SP-11: seeds": {
			"-- spindle.json --\n{" + manifestText +
				`,"storage_seed_files":[{"from":"a.json","to":"b/c.json","overwrite":true},{"from":"./gone"},{"from":"d","required":true}]}` + "\n-- dist/backend.js --\nx\n-- a.json --\n{}\n-- d/e --\n1\n",
			plugin.Manifest{
				Entry: "dist/backend.js",
				Seeds: []plugin.Seed{
					{From: "a.json", To: "b/c.json", Overwrite: true},
					{From: "gone", To: "gone"},
					{From: "d", To: "d", Required: true},
				},
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := New(Options{}).Recognize(t.Context(), folder(unpack(t, test.archive)))
			if err != nil || got == nil {
				t.Fatalf("got %v, %v", got, err)
			}
			want := test.want
			want.Dialect, want.Name, want.Version, want.Author, want.Identity = "spindle", "Sample", "6.7.6.7 and then some",
				"A", "sample_1"
			if want.Permissions == nil {
				want.Permissions = []string{}
			}
			g, _ := json.Marshal(got)
			w, _ := json.Marshal(want)
			if string(g) != string(w) {
				t.Errorf("got  %s\nwant %s", g, w)
			}
		})
	}
}

func TestRecognizeLeavesOthersAlone(t *testing.T) {
	d := New(Options{})
	dir := unpack(t, "-- plugin.py --\nx\n-- types.d.ts --\nx\n-- notes.txt --\nx\n-- other/main.py --\nx\n")
	for _, src := range []plugin.Source{
		file(filepath.Join(dir, "plugin.py")), file(filepath.Join(dir, "types.d.ts")), file(filepath.Join(dir, "notes.txt")),
		folder(filepath.Join(dir, "other")),
	} {
		if got, err := d.Recognize(t.Context(), src); got != nil || err != nil {
			t.Errorf("%s: %v, %v", src.Path, got, err)
		}
	}
}

func TestRecognizeNamesWhatIsWrong(t *testing.T) {
	tests := map[string]struct {
		archive string
		want    plugin.Problem // Message is looked for inside
	}{
		"no version": {
			"-- spindle.json --\n{\"name\":\"N\",\"identifier\":\"n\",\"author\":\"a\"}",
			plugin.Problem{Kind: "script", File: "spindle.json", Message: `has no "version"`},
		},
		"SP-02: identifier": {
			"-- spindle.json --\n{\"version\":\"1\",\"name\":\"N\",\"author\":\"a\",\n\"identifier\":\"My-Plugin\"}",
			plugin.Problem{Kind: "script", File: "spindle.json", Line: 2, Message: `The identifier "My-Plugin"`},
		},
		"not https": {
			"-- spindle.json --\n{" + manifestText + ",\"github\":\"http://x\"}",
			plugin.Problem{Kind: "script", File: "spindle.json", Line: 1, Message: "not an https address"},
		},
		"not JSON": {
			"-- spindle.json --\n{\n  \"version\": 1.0,,\n}",
			plugin.Problem{Kind: "script", Type: "SyntaxError", File: "spindle.json", Line: 2, Message: "is not JSON"},
		},
		"a list": {
			"-- spindle.json --\n[]",
			plugin.Problem{Kind: "script", Type: "SyntaxError", File: "spindle.json", Line: 1, Message: "must be a"},
		},
		"empty": {
			"-- spindle.json --\n",
			plugin.Problem{Kind: "script", Type: "SyntaxError", File: "spindle.json", Line: 1, Message: "is not JSON"},
		},
		"a text": {
			"-- spindle.json --\n{\"version\":1,\"name\":\"N\",\"identifier\":\"n\",\"author\":\"a\"}",
			plugin.Problem{Kind: "script", File: "spindle.json", Line: 1, Message: "version in spindle.json is no text"},
		},
		"SP-11: upwards": {
			"-- spindle.json --\n{" + manifestText + `,"storage_seed_files":[{"from":"../x"}]}`,
			plugin.Problem{Kind: "refused", File: "spindle.json", Line: 1, Message: "leads out of the plugin's folder"},
		},
		"SP-11: outside": {
			"-- spindle.json --\n{" + manifestText + `,"storage_seed_files":[{"from":"x","to":"a/../../x"}]}`,
			plugin.Problem{Kind: "refused", File: "spindle.json", Line: 1, Message: "leads out of the plugin's storage"},
		},
		"SP-11: absolute": {
			"-- spindle.json --\n{" + manifestText + `,"storage_seed_files":[{"from":"x","to":"/etc"}]}`,
			plugin.Problem{Kind: "refused", File: "spindle.json", Line: 1, Message: "leads out of the plugin's storage"},
		},
		"SP-11: missing": {
			"-- spindle.json --\n{" + manifestText + `,"storage_seed_files":[{"from":"x","required":true}]}`,
			plugin.Problem{Kind: "script", File: "spindle.json", Line: 1, Message: "x is missing"},
		},
		"nested": {
			"-- repo/spindle.json --\n{}",
			plugin.Problem{Kind: "script", File: "repo/spindle.json", Message: `has no "version"`},
		},
		"SP-04: frontend": {
			"-- spindle.json --\n{" + manifestText + `,"entry_frontend":"../x.js"}`,
			plugin.Problem{Kind: "refused", File: "spindle.json", Message: "entry_frontend in spindle.json leads out"},
		},
		"SP-04: upwards": {
			"-- spindle.json --\n{" + manifestText + `,"entry_backend":"dist/../../x.js"}`,
			plugin.Problem{Kind: "refused", File: "spindle.json", Message: "leads out"},
		},
		"SP-04: absolute": {
			"-- spindle.json --\n{" + manifestText + `,"entry_backend":"/etc/passwd"}`,
			plugin.Problem{Kind: "refused", File: "spindle.json", Message: "leads out"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := problem(t, folder(unpack(t, test.archive)))
			if got.Kind != test.want.Kind || got.File != test.want.File || got.Type != test.want.Type ||
				!strings.Contains(got.Message, test.want.Message) || test.want.Line != 0 && got.Line != test.want.Line {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func problem(t *testing.T, src plugin.Source) *plugin.Problem {
	t.Helper()
	m, err := New(Options{}).Recognize(t.Context(), src)
	p, ok := errors.AsType[*plugin.Problem](err)
	if !ok {
		t.Fatalf("got %v, %v", m, err)
	}
	return p
}

func TestSP04ALinkOutOfTheFolderIsRefused(t *testing.T) {
	dir := unpack(t, "-- in/spindle.json --\n{"+manifestText+"}\n-- out.js --\nx\n")
	must(t, os.MkdirAll(filepath.Join(dir, "in", "dist"), 0o700))
	if err := os.Symlink(filepath.Join(dir, "out.js"), filepath.Join(dir, "in", "dist", "backend.js")); err != nil {
		t.Skip("links cannot be made here:", err)
	}
	if got := problem(t, folder(filepath.Join(dir, "in"))); got.Kind != "refused" ||
		!strings.Contains(got.Message, "leads out") {
		t.Errorf("got %+v", got)
	}
}

func TestOddScriptsAreProblems(t *testing.T) {
	dir := unpack(t, "-- empty.js --\n-- big.js --\n")
	must(t, os.Truncate(filepath.Join(dir, "big.js"), 50<<20))
	if got := problem(t, file(filepath.Join(dir, "empty.js"))); got.Message != "empty.js is empty." {
		t.Errorf("got %+v", got)
	}
	var utf16 []byte
	for _, c := range []byte("spindle.registerTool({name: 'x'})") {
		utf16 = append(utf16, c, 0)
	}
	for name, mark := range map[string]string{"marked.js": "\xff\xfe", "unmarked.ts": ""} {
		must(t, os.WriteFile(filepath.Join(dir, name), append([]byte(mark), utf16...), 0o600))
		if got := problem(t, file(filepath.Join(dir, name))); got.Message != name+" is not written in UTF-8." {
			t.Errorf("got %+v", got)
		}
	}
	in := unpack(t, "-- spindle.json --\n{"+manifestText+"}\n")
	must(t, os.MkdirAll(filepath.Join(in, "dist"), 0o700),
		os.WriteFile(filepath.Join(in, "dist", "backend.js"), utf16, 0o600))
	m, err := New(Options{}).Recognize(t.Context(), folder(in))
	must(t, err)
	if _, err := New(Options{}).Inspect(t.Context(), folder(in), *m); err == nil ||
		!strings.Contains(err.Error(), "dist/backend.js is not written in UTF-8.") {
		t.Errorf("of an extension: %v", err)
	}
	if got := problem(t, file(filepath.Join(dir, "gone.ts"))); got.Kind != "unavailable" {
		t.Errorf("got %+v", got)
	}
}

func TestAScriptMayNameItself(t *testing.T) {
	dir := unpack(t,
		"-- dice.ts --\n#!/usr/bin/env x\n// A comment.\n/**\n * @name Dice and dates\n * @version 1.2\n * @author Ann "+
			"*/\nconst x = '@name Wrong'\n")
	got, err := New(Options{}).Recognize(t.Context(), file(filepath.Join(dir, "dice.ts")))
	must(t, err)
	if got.Name != "Dice and dates" || got.Version != "1.2" || got.Author != "Ann" || got.Entry != "dice.ts" ||
		!slices.Equal(got.Permissions, []string{"tools"}) {
		t.Errorf("got %+v", got)
	}
}

func TestInspectFindsRegistrationsThatAreWrittenOut(t *testing.T) {
	dir := unpack(t, `-- a.js --
import { x } from "./x.js";
import './y.js'
export * from 'z';

spindle.registerTool({
  display_name: 'Roll',
  parameters: { type: "object", properties: { name: { description: "not the tool's" } } },
  "x": [{ name: "nor this" }],
  name: "roll", description: "Rolls } dice", inline_available: true,
});
s.registerTool({name:"min",description:`+"`d`"+`,council_eligible:!0});
spindle.registerTool({ name: "roll" });
spindle.registerTool({ name: computed });
for (const t of tools) spindle.registerTool(t);
`)
	src := file(filepath.Join(dir, "a.js"))
	d := New(Options{})
	m, err := d.Recognize(t.Context(), src)
	must(t, err)
	got, err := d.Inspect(t.Context(), src, *m)
	must(t, err)
	if got.Known || len(got.Tools) != 2 || !slices.Equal(got.Imports, []string{"./x.js", "./y.js", "z"}) {
		t.Fatalf("got %+v", got)
	}
	roll, small := got.Tools[0], got.Tools[1]
	if roll.Name != "roll" || roll.Title != "Roll" || roll.Line != 5 ||
		roll.Description != "Rolls } dice\nnot the tool's" ||
		!roll.InlineAvailable || roll.CouncilEligible || roll.File != "a.js" || roll.Plugin != "sample" {
		t.Errorf("roll = %+v", roll)
	}
	if small.Name != "min" || small.Title != "min" || small.Description != "d" || small.Line != 11 ||
		!small.CouncilEligible {
		t.Errorf("min = %+v", small)
	}
}

func TestInspectKnowsThatNoBackendMeansNoTools(t *testing.T) {
	src := folder(unpack(t, "-- spindle.json --\n{"+manifestText+"}\n"))
	got, err := New(Options{}).Inspect(t.Context(), src, plugin.Manifest{})
	if err != nil || !got.Known || len(got.Tools) != 0 || got.Tools == nil || got.Imports == nil {
		t.Errorf("got %+v, %v", got, err)
	}
}

func TestSpecGivesTheWorkerThePluginAndNothingElse(t *testing.T) {
	dir := unpack(t,
		"-- p/spindle.json --\n{"+manifestText+`,"permissions":["tools"],"own":1}`+"\n-- p/dist/backend.js --\nimport "+
			"'./x.js'\n-- p/dist/x.js --\n1\n-- p/node_modules/y.js --\n1\n-- one.ts --\n1\n")
	t.Setenv("TZ", "Asia/Tokyo")
	t.Setenv("SECRET", "s")
	for name, test := range map[string]struct {
		src    plugin.Source
		inside bool
		want   job.Config
		files  []string
	}{
		"folder": {
			folder(filepath.Join(dir, "p")), false,
			job.Config{Folder: filepath.Join(dir, "p"), Entry: "dist/backend.js", Identifier: "sample_1"},
			nil,
		},
		"folder, source inside": {
			folder(filepath.Join(dir, "p")), true,
			job.Config{Folder: filepath.Join(dir, "p"), Entry: "dist/backend.js", Identifier: "sample_1"},
			[]string{"dist/backend.js", "dist/x.js", "spindle.json"},
		},
		"file": {
			file(filepath.Join(dir, "one.ts")), false,
			job.Config{Folder: dir, Entry: "one.ts", Single: true, Identifier: "sample"},
			nil,
		},
		"file, source inside": {
			file(filepath.Join(dir, "one.ts")), true,
			job.Config{Folder: dir, Entry: "one.ts", Single: true, Identifier: "sample"},
			[]string{"one.ts"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := New(Options{SourceInside: test.inside})
			m, err := d.Recognize(t.Context(), test.src)
			must(t, err)
			spec, err := d.Spec(t.Context(), test.src, *m, plugin.StartOptions{Work: "/work"})
			must(t, err)
			var got job.Config
			must(t, json.Unmarshal(spec.Input, &got))
			if got.Folder != test.want.Folder || got.Entry != test.want.Entry || got.Single != test.want.Single ||
				got.Identifier != test.want.Identifier || got.Plugin != "sample" ||
				!slices.Equal(got.Permissions, []string{"tools"}) {
				t.Errorf("configuration = %+v", got)
			}
			if test.src.Folder != strings.Contains(string(got.Manifest), `"own":1`) {
				t.Errorf("manifest = %s", got.Manifest)
			}
			if strings.Contains(string(got.Manifest), dir) {
				t.Errorf("the manifest names a folder of this machine: %s", got.Manifest)
			}
			var names []string
			for name := range got.Sources {
				names = append(names, name)
			}
			slices.Sort(names)
			if !slices.Equal(names, test.files) {
				t.Errorf("sources = %v", names)
			}
			if spec.Kind != "js" || !slices.Equal(spec.Read, []string{test.src.Path}) || spec.Write != nil ||
				spec.Execute != nil || spec.Sockets || spec.Spawn || spec.Dir != "/work" {
				t.Errorf("spec = %+v", spec)
			}
			if env := strings.Join(spec.Env, " "); !strings.Contains(env, "TZ=Asia/Tokyo") || strings.Contains(env, "SECRET") {
				t.Errorf("environment = %s", env)
			}
		})
	}
}

func FuzzReadManifest(f *testing.F) {
	f.Add([]byte("{" + manifestText + "}"))
	f.Add([]byte(`{"permissions":null,"version":[]}`))
	f.Add([]byte("\n\n,"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		m, err := (&found{name: "spindle.json", raw: raw}).readManifest()
		if err == nil && !identifier().MatchString(m.Identifier) {
			t.Errorf("accepted the identifier %q", m.Identifier)
		}
		var p *plugin.Problem
		if err != nil && (!errors.As(err, &p) || p.Message == "" || p.File == "") {
			t.Errorf("err = %#v", err)
		}
	})
}

func FuzzScanTools(f *testing.F) {
	f.Add(`spindle.registerTool({ name: "a", x: {} })`)
	f.Add(".registerTool({'\\")
	f.Fuzz(func(t *testing.T, text string) {
		for _, found := range scanTools(text) {
			if found.Name == "" || found.Line < 1 {
				t.Errorf("found %+v", found)
			}
		}
	})
}

func TestAScriptOverTheBoundIsRefusedWithItsSizeAndNameOnce(t *testing.T) {
	dir := unpack(t,
		"-- big.js --\n-- one/spindle.json "+
			"--\n{\"version\":\"1\",\"name\":\"One\",\"identifier\":\"one\",\"author\":\"A\"}\n-- one/dist/backend.js --\n1;\n")
	path := filepath.Join(dir, "big.js")
	must(t, os.WriteFile(path, append(bytes.Repeat([]byte(" "), limit.ScriptFile-1), ';'), 0o600))
	m, err := New(Options{}).Recognize(t.Context(), file(path))
	if err != nil || len(m.Notices) != 1 ||
		m.Notices[0] != "Its backend has 32 MiB: it may take 704 MiB of memory while it runs, and some seconds to start." {
		t.Errorf("of the bound's size: %+v, %v", m, err)
	}
	must(t, os.Truncate(path, limit.ScriptFile+1))
	if got := problem(t, file(path)); got.Kind != "refused" ||
		got.Message != "It has 32.0 MiB; a script may have 32 MiB." || strings.Contains(got.Message, "big.js") ||
		got.File != "big.js" {
		t.Errorf("over the bound: %+v", got)
	}
	small, err := New(Options{}).Recognize(t.Context(), plugin.Source{
		ID: "one", Path: filepath.Join(dir, "one"), Folder: true,
	})
	if err != nil || len(small.Notices) != 0 {
		t.Errorf("an ordinary one: %+v, %v", small, err)
	}
}
