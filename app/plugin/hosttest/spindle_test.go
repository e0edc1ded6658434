package hosttest

import (
	"archive/zip"
	"encoding/json"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/spindle/job"
	"conclave/app/plugin/plugintest"
	"conclave/app/plugin/watch"
	"conclave/app/test/testkit"
	"conclave/app/tool"
)

// tree is the files of an extension, by path.
type tree map[string]string

// lay writes files into a folder of that name, somewhere else, and returns it.
func lay(t *testing.T, name string, files tree) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	return dir
}

// manifest is a spindle.json that says no more than it must, and more.
func manifest(id, more string) string {
	return `{"version":"6.7.6.7 Final","name":"The ` + id + `","identifier":"` + id +
		`","author":"A","permissions":["tools"]` + more + "}"
}

// says is a backend whose one tool answers what JavaScript makes of the expression.
func says(name, expression string) string {
	return `spindle.registerTool({ name: "` + name +
		`", display_name: "Say it", description: "Say something.", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.on("TOOL_INVOCATION", async (call, user) => { if (call.toolName === "` + name + `") return ` +
		expression + `; });
`
}

// add adds a plugin and returns its id, having checked that nothing of it ran.
func (c *core) add(from string) string {
	c.t.Helper()
	before := c.launcher.Started()
	id, err := c.library.Add(c.t.Context(), from)
	if err != nil {
		c.t.Fatalf("add %s: %v", from, err)
	}
	must(c.t, c.host.WaitIdle(c.t.Context()))
	if s, err := c.host.Status(id); err != nil || s.State != plugin.NeedsApproval || c.launcher.Started() != before {
		c.t.Errorf("%s was added and is %s, with %d processes started; %v %v", id, s.State, c.launcher.Started()-before,
			s.Problem, err)
	}
	return id
}

// accept approves a plugin, and what it then turns out to offer.
func (c *core) accept(id string) plugin.Status {
	c.t.Helper()
	must(c.t, plugintest.Approve(c.t.Context(), c.host, id, false), c.host.WaitIdle(c.t.Context()))
	s, err := c.host.Status(id)
	must(c.t, err)
	return s
}

// runs adds an extension, approves it and checks what its tool say answers.
func (c *core) runs(id string, files tree, want string) {
	c.t.Helper()
	if got := c.add(lay(c.t.(*testing.T), "some-folder", files)); got != id {
		c.t.Errorf("it was added as %s, want %s", got, id)
	}
	if s := c.accept(id); s.State != plugin.Ready {
		c.t.Errorf("%s is %s: %+v", id, s.State, s.Problem)
		return
	}
	c.answers(id+":say", "{}", want)
}

func TestSP01AnExtensionIsAddedAndRunsOnceApproved(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	files := tree{
		"spindle.json": manifest("plain_one", ""), "dist/backend.js": says("say", `"built"`),
		"package.json":   `{"dependencies":{"nothing":"1"}}`,
		"src/backend.ts": "export nonsense that was never built",
	}
	c.runs("plain_one", files, "built")
	if _, err := os.Stat(filepath.Join(c.dir, "plain_one", "spindle.json")); err != nil {
		t.Error("its folder is not named as it calls itself:", err)
	}
	_, err := c.library.Add(t.Context(), lay(t, "another", files))
	if err == nil || !strings.Contains(err.Error(), "There is a plugin plain_one already") {
		t.Errorf("the same identifier twice: %v", err)
	}
}

func TestSP02SP03WhatAManifestLacksOrHasTooMuchBlocksNothing(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	bare := c.add(lay(t, "bare",
		tree{
			"spindlefile":     `{"version":"1.7.1.0","name":"N","identifier":"bare_one","author":"A"}`,
			"dist/backend.js": says("say", `"bare"`),
		}))
	if s := c.accept(bare); s.State != plugin.Ready || len(s.Tools) != 0 || s.Manifest.Version != "1.7.1.0" {
		t.Errorf("without permissions it is %s with %d tools: %+v", s.State, len(s.Tools), s.Problem)
	}
	c.runs("much_one", tree{
		"spindlefile.json": manifest("much_one",
			`,"permissions":["tools","screen_capture","providers.tts.register"],"requested_capabilities":["teleport"],"install_scope":"user","entry_frontend_widget":7,"minimum_lumiverse_version":"99.0.0"`),
		"dist/backend.js": says("say", "spindle.manifest.install_scope"), "dist/frontend.js": "throw new Error('never run')",
	}, "user")
	s, err := c.host.Status("much_one")
	must(t, err)
	for _, words := range []string{
		"dist/frontend.js) is not run",
		"screen_capture, providers.tts.register, which are not supported",
	} {
		if !strings.Contains(strings.Join(s.Manifest.Notices, "\n"), words) {
			t.Errorf("the card says %q, which lacks %q", s.Manifest.Notices, words)
		}
	}
	id := lay(t, "wrong", tree{"spindle.json": manifest("Wrong-Name", ""), "dist/backend.js": says("say", "1")})
	_, err = c.library.Add(t.Context(), id)
	if err == nil || !strings.Contains(err.Error(), `identifier "Wrong-Name"`) {
		t.Errorf("a wrong identifier: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(c.dir, "wrong")); err == nil {
		t.Error("what was refused was copied")
	}
}

func TestSP04EntriesThatLeaveTheFolderAreRefused(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	for name, more := range map[string]string{
		"upwards":  `,"entry_backend":"../other/x.js"`,
		"absolute": `,"entry_backend":"/etc/passwd"`,
	} {
		_, err := c.library.Add(t.Context(), lay(t, name, tree{"spindle.json": manifest("one_"+name, more)}))
		if err == nil || !strings.Contains(err.Error(), "leads out") {
			t.Errorf("%s: %v", name, err)
		}
	}
	linked := lay(t, "linked", tree{"spindle.json": manifest("linked", "")})
	must(t, os.Mkdir(filepath.Join(linked, "dist"), 0o700),
		os.Symlink("/etc/hostname", filepath.Join(linked, "dist", "backend.js")))
	if _, err := c.library.Add(t.Context(), linked); err == nil || !strings.Contains(err.Error(), "link that leads out") {
		t.Errorf("a link out: %v", err)
	}
	id := c.add(lay(t, "empty", tree{"spindle.json": manifest("no_backend", ""), "preset.json": "{}"}))
	if s := c.accept(id); s.State != plugin.Ready || len(s.Tools) != 0 ||
		!slices.Equal(s.Manifest.Notices, []string{"It has no backend, so it offers no tools."}) {
		t.Errorf("without a backend it is %s with %d tools: %+v, %q", s.State, len(s.Tools), s.Problem, s.Manifest.Notices)
	}
}

// forms are an extension in each form of contracts/spindle, section 3, all of which answer
// "right".
var forms = map[string]tree{
	"plain_script": {"dist/backend.js": "(function () { 'use strict'; " + says("say", `"right"`) + " })();"},
	"esm_bundle":   {"dist/backend.js": "var a = 'right'; " + says("say", "a") + "\nexport { a as default };"},
	"sources_only": {"src/backend.ts": "import type { Host } from 'lumiverse-spindle-types';\ndeclare const " +
		"spindle: any;\nimport { right } from './words';\n" + says("say", "right satisfies "+
		"string"), "src/words.ts": "export const right: string = 'right';\n"},
	"ts_entry": {
		"spindle.json":      manifest("ts_entry", `,"entry_backend":"src/hosts/main.ts"`),
		"src/hosts/main.ts": "enum Word { Right = 'right' }\n" + says("say", "Word.Right as string"),
	},
	"unbundled": {
		"spindle.json":              manifest("unbundled", `,"entry_backend":"src/hosts/spindle/main.js"`),
		"src/hosts/spindle/main.js": "import { word } from '../../core/word.mjs';\n" + says("say", "word()"),
		"src/core/word.mjs":         "import data from '../data/words.json';\nexport const word = () => data.word;\n",
		"src/data/words.json":       `{"word":"right"}`,
	},
	"broken_config": {
		"dist/backend.js": says("say", `"right"`), "package.json": "",
		"tsconfig.json": "{ // no\n \"compilerOptions\": {", "src/backend.ts": "nonsense that",
	},
	"awaits": {"dist/backend.js": "await spindle.storage.mkdir('a'); await spindle.storage.mkdir('b');\nawait " +
		"spindle.storage.write('a/word', 'right');\n" + says("say", "spindle.storage.read('a/word')")},
	"beside": {
		"dist/backend.js": says("say",
			"(await (await fetch(new URL('../data/word.json', import.meta.url))).json()).word"),
		"data/word.json": `{"word":"right"}`,
	},
	"nested": {
		"repo/spindle.json": manifest("nested", ""),
		"repo/dist/backend.js": says("say",
			"(await (await fetch(new URL('../word.txt', import.meta.url))).text()) + await spindle.storage.read('kept/word')"),
		"repo/word.txt": "ri", "storage/kept/word": "ght",
	},
}

func TestSP60ExtensionsOfEveryFormRun(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	for _, id := range slices.Sorted(maps.Keys(forms)) {
		files := maps.Clone(forms[id])
		if files["spindle.json"] == "" && files["repo/spindle.json"] == "" {
			files["spindle.json"] = manifest(id, "")
		}
		c.runs(id, files, "right")
	}
	// One that was released broken harms nothing.
	id := c.add(lay(t, "broken", tree{"spindle.json": manifest("broken_one", ""), "dist/backend.js": "s\n" +
		says("say", "1")}))
	if s := c.accept(id); s.State != plugin.Failed || s.Problem.File != "dist/backend.js" || s.Problem.Line != 1 ||
		!strings.Contains(s.Problem.Message, "is not defined") || len(s.Tools) != 0 {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
	id = c.add(lay(t, "torn", tree{
		"repo/spindle.json":   manifest("torn_one", ""),
		"repo/src/backend.ts": "const a: number = 1;\nlet b = = 2;\n",
	}))
	if s := c.accept(id); s.State != plugin.Failed || s.Problem.File != "repo/src/backend.ts" || s.Problem.Line != 2 {
		t.Errorf("it is %s: %+v", s.State, s.Problem)
	}
	for id := range forms {
		c.answers(id+":say", "{}", "right")
	}
}

func TestSP11SeedsAreCopiedOnceForEachVersion(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	backend := says("say",
		`[await spindle.storage.read("kept.txt"), await spindle.storage.read("deep/own.txt"), (await spindle.storage.list()).length].join()`)
	seeds := `,"storage_seed_files":[{"from":"kept.txt"},{"from":"data","to":"deep","overwrite":true},{"from":"gone.txt"}]`
	first := tree{
		"spindle.json": manifest("seeded", seeds), "dist/backend.js": backend, "kept.txt": "one",
		"data/own.txt": "one", "data/more/x": "x",
	}
	c.runs("seeded", first, "one,one,3")
	stored := func(name string) string { return filepath.Join(c.data, "storage", "seeded", filepath.FromSlash(name)) }
	must(t, os.WriteFile(stored("kept.txt"), []byte("mine"), 0o600),
		os.WriteFile(stored("deep/own.txt"), []byte("mine"), 0o600), os.Remove(stored("deep/more/x")))
	must(t, c.host.Reload("seeded"), c.host.WaitIdle(t.Context()))
	c.answers("seeded:say", "{}", "mine,mine,2") // the same version seeds once

	second := maps.Clone(first)
	second["kept.txt"], second["data/own.txt"] = "two", "two"
	id, kept, err := c.library.Update(t.Context(), "seeded", lay(t, "newer", second))
	must(t, err, c.host.WaitIdle(t.Context()))
	if old, err := os.ReadFile(filepath.Join(kept, "kept.txt")); id != "seeded" || string(old) != "one" {
		t.Errorf("updated %s; what was there is kept as %q, %v", id, old, err)
	}
	if s := c.accept("seeded"); s.State != plugin.Ready {
		t.Errorf("after the update it is %s: %+v", s.State, s.Problem)
	}
	c.answers("seeded:say", "{}", "mine,two,3")
	_, _, err = c.library.Update(t.Context(), "seeded",
		lay(t, "other", tree{"spindle.json": manifest("other", ""), "dist/backend.js": backend}))
	if err == nil || !strings.Contains(err.Error(), "another plugin: other") {
		t.Errorf("another extension's files: %v", err)
	}
	for more, words := range map[string]string{
		`,"storage_seed_files":[{"from":"a","to":"../a"}]`:     "leads out of the plugin's storage",
		`,"storage_seed_files":[{"from":"../../etc/passwd"}]`:  "leads out of the plugin's folder",
		`,"storage_seed_files":[{"from":"a","required":true}]`: "a is missing",
	} {
		_, err := c.library.Add(t.Context(),
			lay(t, "bad", tree{"spindle.json": manifest("bad", more), "dist/backend.js": backend}))
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", more, err)
		}
	}
}

func TestTheSameIdentifierTwiceInTheFolderIsShown(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.write("first/dist/backend.js", says("say", "1"))
	c.write("first/spindle.json", manifest("twin", ""))
	c.becomes("first", plugin.NeedsApproval)
	c.write("second/dist/backend.js", says("say", "2"))
	c.write("second/spindle.json", manifest("twin", ""))
	u := c.until("the second one being refused", func(u plugin.Update) bool {
		return u.Plugin == "second" && u.State == plugin.Failed && strings.Contains(u.Problem.Message, "calls itself")
	})
	if !strings.Contains(u.Problem.Message, "calls itself twin already: first") {
		t.Errorf("the problem is %+v", u.Problem)
	}
	must(t, os.RemoveAll(filepath.Join(c.dir, "first")))
	c.becomes("second", plugin.NeedsApproval)
}

func TestOfTwoThatCallThemselvesTheSameOneIsServedWhateverIsReadFirst(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	c := open(t, dir, data)
	lay := func(folder string) {
		c.write(folder+"/dist/backend.js", says("say", `"`+folder+`"`))
		c.write(folder+"/spindle.json", manifest("twin", ""))
	}
	offered := func() (ids []string) {
		for _, each := range c.tools.Set().Tools() {
			ids = append(ids, each.ID())
		}
		return ids
	}
	until := func(what string, there func() bool) {
		t.Helper()
		testkit.Until(t, what, there)
	}
	refused := func(id, by string) {
		t.Helper()
		until(id+" being refused", func() bool {
			s, err := c.host.Status(id)
			return err == nil && s.State == plugin.Failed &&
				strings.Contains(s.Problem.Message, "calls itself twin already: "+by+".")
		})
	}
	// States are looked at, not waited for as they are told: each may be told twice.
	becomes := func(id string, state plugin.State) {
		t.Helper()
		until(id+" being "+string(state), func() bool { s, err := c.host.Status(id); return err == nil && s.State == state })
	}
	trust := func(id string) {
		t.Helper()
		must(t, plugintest.Approve(t.Context(), c.host, id, true))
		becomes(id, plugin.Ready)
	}
	lay("second")
	becomes("second", plugin.NeedsApproval)
	lay("first") // its name comes first
	becomes("first", plugin.NeedsApproval)
	refused("second", "first")
	must(t, os.RemoveAll(filepath.Join(dir, "first")))
	becomes("second", plugin.NeedsApproval)
	trust("second")
	c.answers("second:say", "{}", "second")
	lay("first") // nobody approved it
	refused("first", "second")
	c.answers("second:say", "{}", "second")

	// Both have served.
	must(t, os.Rename(filepath.Join(dir, "second"), filepath.Join(data, "away")))
	becomes("first", plugin.NeedsApproval)
	trust("first")
	c.answers("first:say", "{}", "first")
	must(t, os.RemoveAll(filepath.Join(dir, "first")))
	until("nobody being there", func() bool { return len(c.host.List()) == 0 })
	must(t, os.Rename(filepath.Join(data, "away"), filepath.Join(dir, "second")))
	until("second being back", func() bool { return slices.Equal(offered(), []string{"second:say"}) })
	lay("first")
	want := []string{"first:say"}
	until("first taking over", func() bool { return slices.Equal(offered(), want) })
	for range 3 {
		c.end()
		c = open(t, dir, data)
		must(t, c.host.Scan(), c.host.WaitIdle(t.Context()))
		if got := offered(); !slices.Equal(got, want) {
			t.Errorf("after a restart offered are %q", got)
		}
		if s, err := c.host.Status("second"); err != nil || s.State != plugin.Failed || s.Serving {
			t.Errorf("after a restart second is %s, serving: %v, %v", s.State, s.Serving, err)
		}
	}
}

func TestSP15SP18FlagsSayWhoIsOfferedATool(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.runs("flags", tree{"spindle.json": manifest("flags", ""), "dist/backend.js": says("say", `"said"`) + `
for (const [name, flags] of Object.entries({ council: { council_eligible: true }, both: { council_eligible: true, inline_available: true }, neither: { extension_id: "somebody else" } })) {
  spindle.registerTool({ name, display_name: "The " + name, description: "D", parameters: { type: "object", properties: { a: { type: "string" } } }, ...flags });
}`}, "said")
	offered := func() []string {
		var names []string
		for _, each := range c.tools.Set().ForModel().Tools() {
			names = append(names, each.Name)
		}
		return names
	}
	if got := offered(); !slices.Equal(got, []string{"say", "both"}) {
		t.Errorf("models are offered %q", got)
	}
	must(t, c.host.ToolChoices.SetEnabled(t.Context(), "flags", "neither", true))
	if got := offered(); !slices.Equal(got, []string{"say", "both", "neither"}) {
		t.Errorf("once switched on, models are offered %q", got)
	}
	var members []string
	for _, each := range c.tools.Set().Tools() {
		if each.CouncilEligible {
			members = append(members, each.Name)
		}
	}
	if !slices.Equal(members, []string{"council", "both"}) {
		t.Errorf("members can be given %q", members)
	}
	got, _ := c.tools.Set().ByID("flags:neither")
	if got.Title != "The neither" || got.Description != "D" || got.Plugin != "flags" ||
		string(got.Parameters) != `{"type":"object","properties":{"a":{"type":"string"}}}` {
		t.Errorf("the list shows %+v", got)
	}
	if got.WireName != "flags__neither" {
		t.Errorf("a model knows it as %q", got.WireName)
	}
}

func TestSP16SP17RegistrationsChangeWhileItRuns(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.runs("moving", tree{"spindle.json": manifest("moving", ""), "dist/backend.js": says("say", `"said"`) + `
spindle.registerTool({ name: "go", description: "Go.", inline_available: true });
spindle.registerTool({ name: "last", description: "Before.", inline_available: true });
spindle.on("TOOL_INVOCATION", ({ toolName }) => {
  if (toolName !== "go") return;
  spindle.unregisterTool("never there");
  spindle.unregisterTool("say");
  spindle.registerTool({ name: "last", description: "After.", inline_available: true });
  return "gone";
});`}, "said")
	c.runs("standing", tree{"spindle.json": manifest("standing", ""), "dist/backend.js": says("say", `"mine"`)}, "mine")
	c.answers("moving:go", "{}", "gone")
	c.becomes("moving", plugin.Quarantined) // other words are looked at again
	c.accept("moving")
	c.until("its tools being listed again", func(u plugin.Update) bool {
		return u.Plugin == "moving" && u.State == plugin.Ready && slices.Equal(u.Tools, []string{"moving:go", "moving:last"})
	})
	if got, ok := c.tools.Set().ByID("moving:last"); !ok || got.Description != "After." {
		t.Errorf("the tool that was registered again is %+v", got)
	}
	c.answers("standing:say", "{}", "mine") // the equal name of another
}

// What a model gives the tool of an extension reaches it, whatever its schema says
// (contracts/spindle, section 6.2); a script of one file is told of by its schema.
func TestSP26ArgumentsReachAnExtensionAsTheyWereGiven(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	backend := `spindle.registerTool({ name: "add", description: "Add.", parameters: { type: "object", additionalProperties: false,
  properties: { items: { type: "array", items: { type: "object", properties: { status: { type: "string" } }, required: ["status"] } } },
  required: ["items"] }, inline_available: true });
spindle.on("TOOL_INVOCATION", (call) => JSON.stringify(call.args.items));
`
	for id, files := range map[string]tree{
		"folder": {"spindle.json": manifest("folder", ""), "dist/backend.js": backend},
		"alone":  {"alone.js": backend},
	} {
		from := lay(t, id, files)
		if id == "alone" {
			from += "/alone.js"
		}
		if got := c.add(from); got != id {
			t.Fatalf("added %s", got)
		}
		if s := c.accept(id); s.State != plugin.Ready {
			t.Fatalf("%s is %s: %+v", id, s.State, s.Problem)
		}
		checked := ""
		if found, ok := c.tools.Set().ByID(id + ":add"); !ok {
			t.Errorf("%s: no tool", id)
		} else if _, err := found.CheckArguments(json.RawMessage(`{"items":[{"name":"x"}],"more":1}`)); err != nil {
			checked = err.Error()
		}
		if (id == "alone") != strings.Contains(checked, "status: is missing") {
			t.Errorf("%s: %s", id, checked)
		}
	}
	c.answers("folder:add", `{"items":[{"name":"x"}],"more":1}`, `[{"name":"x"}]`)
}

// seen returns what a handler was given.
type seen struct {
	Keys  []string `json:"keys"`
	Again []string `json:"again"` // of the arguments
	Call  struct {
		ToolName        string                `json:"toolName"`
		Args            map[string]any        `json:"args"`
		RequestID       string                `json:"requestId"`
		CouncilMember   map[string]any        `json:"councilMember"`
		ContextMessages []tool.ContextMessage `json:"contextMessages"`
	} `json:"call"`
	User string `json:"user"`
}

func TestSP24ToSP30AndSP38MembersAndModelsCallTheSameTool(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.runs("telling", tree{"spindle.json": manifest("telling", ""), "dist/backend.js": says("say", `"said"`) + `
spindle.registerTool({ name: "tell", description: "Tell.", parameters: { type: "object", properties: { a: { type: "number" } } }, council_eligible: true, inline_available: true });
spindle.on("TOOL_INVOCATION", (call, user) => call.toolName === "tell" ? { keys: Object.keys(call), again: Object.keys(call.args), call, user } : undefined);`}, "said")
	set := c.tools.Set()
	found, _ := set.ByID("telling:tell")
	invoker, _ := set.Invoker("telling:tell")
	member := `{"memberId":"m","itemId":"i","packId":"p","packName":"P","name":"Ann","role":"","chance":100,"avatarUrl":null,"definition":"","personality":"","behavior":"","genderIdentity":3}`
	messages := []tool.ContextMessage{
		{Role: "system", Content: "Be kind."},
		{Role: "user", Content: "Hello"},
		{Role: "assistant", Content: "Hi"},
	}
	call := func(one tool.Call) seen {
		t.Helper()
		one.Tool, one.Deadline = found, time.Now().Add(tool.DefaultTimeout)
		r, err := invoker.Call(t.Context(), one)
		must(t, err)
		var got seen
		if err := json.Unmarshal([]byte(chat.TextOf(r.Content)), &got); r.Status != chat.CallOK || err != nil {
			t.Fatalf("%s %q: %v", r.Status, r.Error, err)
		}
		if at, _ := got.Call.Args["__deadlineMs"].(float64); at <= float64(time.Now().UnixMilli()) ||
			at > float64(time.Now().Add(tool.DefaultTimeout+time.Second).UnixMilli()) {
			t.Errorf("SP-25: the deadline is %v", at)
		}
		if got.Call.ToolName != "tell" || got.User == "" {
			t.Errorf("SP-24, SP-30: got %+v", got)
		}
		return got
	}
	council := call(tool.Call{ID: "one", CouncilMember: json.RawMessage(member), ContextMessages: messages})
	direct := call(tool.Call{
		ID:        "two",
		Arguments: json.RawMessage(`{"a":1,"userId":"x","__userId":"x","__user_id":"x","context":"mine","deep":{"userId":"stays"}}`),
	})
	if slices.Sort(council.Again); !slices.Equal(council.Again, []string{"__deadlineMs", "context"}) {
		t.Errorf("SP-25: the arguments of a council call are %q", council.Again)
	}
	if got, want := council.Call.Args["context"], "Be kind.\n\nuser: Hello\n\nassistant: Hi"; got != want {
		t.Errorf("SP-27: the context is %q, want %q", got, want)
	}
	if !slices.Equal(council.Call.ContextMessages, messages) || len(council.Call.CouncilMember) != 12 ||
		council.Call.CouncilMember["avatarUrl"] != nil {
		t.Errorf("SP-28, SP-29: got %+v", council.Call)
	}
	if slices.Sort(direct.Again); !slices.Equal(direct.Again, []string{"__deadlineMs", "a", "context", "deep"}) ||
		direct.Call.Args["context"] != "" {
		t.Errorf("SP-26: the arguments of a direct call are %v", direct.Call.Args)
	}
	if slices.Contains(direct.Keys, "councilMember") || direct.User != council.User ||
		direct.Call.RequestID == council.Call.RequestID {
		t.Errorf("SP-24, SP-29, SP-30: got %+v and %+v", direct, council)
	}
}

func TestSP22SwitchedOffOrRemovedItOffersNothing(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.runs("coming", tree{"spindle.json": manifest("coming", ""), "dist/backend.js": says("say", `"here"`)}, "here")
	for range 2 {
		must(t, c.host.SetEnabled(t.Context(), "coming", false), c.host.WaitIdle(t.Context()))
		if n := c.tools.Set().Len(); n != 0 {
			t.Errorf("switched off it offers %d tools", n)
		}
		must(t, c.host.SetEnabled(t.Context(), "coming", true), c.host.WaitIdle(t.Context()))
		c.answers("coming:say", "{}", "here")
	}
	kept, err := c.library.Remove(t.Context(), "coming")
	must(t, err)
	c.until("it being gone", func(u plugin.Update) bool { return u.Plugin == "coming" && u.Removed })
	if n := c.tools.Set().Len(); n != 0 {
		t.Errorf("removed it offers %d tools", n)
	}
	must(t, c.library.Restore(t.Context(), kept), c.host.WaitIdle(t.Context()))
	c.answers("coming:say", "{}", "here")
}

func TestSP22AWorkerThatCrashesFailsItsCallsAndOneThatGoesOnCrashingOffersNothing(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	c.runs("frail", tree{"spindle.json": manifest("frail", ""), "dist/backend.js": says("say", `"alive"`) +
		says("hang", `(spindle.log.info("hanging"), await new Promise(() => {}))`)}, "alive")
	open := make(chan tool.Result, 1)
	go func() { open <- c.call("frail:hang", "{}") }() // ends with the crash
	testkit.Until(t, "the call in its handler", func() bool {
		return slices.ContainsFunc(c.host.Log("frail", 0), func(l plugin.LogLine) bool { return l.Text == "hanging" })
	})
	c.launcher.Crash()
	if r := <-open; r.Status != chat.CallDied {
		t.Errorf("the call that was open when it crashed is %s: %s", r.Status, r.Error)
	}
	c.answers("frail:say", "{}", "alive")

	set := c.tools.Set()
	found, _ := set.ByID("frail:say")
	invoker, _ := set.Invoker("frail:say")
	resting := false
	for n := 0; n < 20 && !resting; n++ { // three within a minute are too many
		c.launcher.Crash()
		r, err := invoker.Call(t.Context(), tool.Call{
			ID: "again", Tool: found, Arguments: json.RawMessage("{}"),
			Deadline: time.Now().Add(tool.DefaultTimeout),
		})
		must(t, err)
		resting = strings.Contains(r.Error, "rests now")
	}
	c.becomes("frail", plugin.Quarantined)
	if n := c.tools.Set().Len(); n != 0 {
		t.Errorf("at rest it offers %d tools", n)
	}
	must(t, c.host.Reload("frail"), c.host.WaitIdle(t.Context()))
	c.answers("frail:say", "{}", "alive")
}

// pack writes an archive of files as somebody else's program would.
func pack(t *testing.T, name string, files tree, more func(*zip.Writer)) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out, err := os.Create(path)
	must(t, err)
	w := zip.NewWriter(out)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := w.Create(name)
		must(t, err)
		_, err = f.Write([]byte(files[name]))
		must(t, err)
	}
	if more != nil {
		more(w)
	}
	must(t, w.Close(), out.Close())
	return path
}

func TestEveryWayToAddAnExtensionEndsInTheSameLayout(t *testing.T) {
	files := tree{
		"spindle.json": manifest("same_one", ""), "src/backend.ts": says("say", `"the same" as string`),
		"data/a.json": "{}",
	}
	wrapped := tree{"__MACOSX/x": "junk"}
	for name, text := range files {
		wrapped[path.Join("some-extension-main", name)] = text
	}
	backslashed := tree{}
	for name, text := range files {
		backslashed[strings.ReplaceAll(name, "/", `\`)] = text
	}
	var first string
	for name, from := range map[string]string{
		"folder": lay(t, "My Extension", files), "zip": pack(t, "download.zip", files, nil),
		"zip with one folder": pack(t, "x.zip", wrapped, nil),
		"zip from Windows":    pack(t, "y.zip", backslashed, nil), "git": serveGit(t, files) + "/same.git",
		"a branch": serveGit(t, files) + "/same.git#main",
	} {
		t.Run(name, func(t *testing.T) {
			c := open(t, t.TempDir(), t.TempDir())
			if id := c.add(from); id != "same_one" {
				t.Errorf("it was added as %s", id)
			}
			digest, _, err := watch.Digest(filepath.Join(c.dir, "same_one"))
			must(t, err)
			if first == "" {
				first = digest
			}
			if digest != first {
				t.Errorf("the folder is not as after the others")
			}
			if entries, _ := os.ReadDir(c.dir); len(entries) != 1 {
				t.Errorf("the plugins folder holds %v", entries)
			}
			if left, _ := filepath.Glob(filepath.Join(c.data, "adding-*")); len(left) != 0 {
				t.Errorf("left behind: %v", left)
			}
			if name == "folder" || name == "git" {
				c.accept("same_one")
				c.answers("same_one:say", "{}", "the same")
				// From where it came, again.
				if _, _, err := c.library.Update(t.Context(), "same_one", ""); err != nil {
					t.Errorf("update: %v", err)
				}
			}
		})
	}
}

func TestArchivesThatAreNoGoodAreRefusedWhole(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	good := tree{"spindle.json": manifest("evil", ""), "dist/backend.js": says("say", "1")}
	for name, test := range map[string]struct {
		more  func(*zip.Writer)
		words string
	}{
		"slip.zip":  {func(w *zip.Writer) { _, _ = w.Create("../../out.js") }, "leads out of it"},
		"slip2.zip": {func(w *zip.Writer) { _, _ = w.Create(`..\..\out.js`) }, "leads out of it"},
		"drive.zip": {func(w *zip.Writer) { _, _ = w.Create("/etc/out.js") }, "leads out of it"},
		"twice.zip": {func(w *zip.Writer) { _, _ = w.Create("spindle.json") }, "could not be unpacked at spindle.json"},
		"linked.zip": {func(w *zip.Writer) {
			h := &zip.FileHeader{Name: "link"}
			h.SetMode(os.ModeSymlink | 0o777)
			f, _ := w.CreateHeader(h)
			_, _ = f.Write([]byte("/etc/passwd"))
		}, "holds a link"},
		"many.zip": {func(w *zip.Writer) {
			for i := range 5001 {
				_, _ = w.Create("f/" + strings.Repeat("x", i%9) + string(rune('a'+i%26)) + time.Duration(i).String())
			}
		}, "holds 5003 files"},
		"bomb.zip": {func(w *zip.Writer) {
			f, _ := w.CreateRaw(&zip.FileHeader{
				Name: "zeros", Method: zip.Deflate, CompressedSize64: 5,
				UncompressedSize64: 1 << 40,
			})
			_, _ = f.Write([]byte("\x01\x00\x00\xff\xff"))
		}, "holds more than 256 MiB"},
		"liar.zip": {func(w *zip.Writer) {
			f, _ := w.CreateRaw(&zip.FileHeader{Name: "zeros", Method: zip.Store, CompressedSize64: 5, UncompressedSize64: 1})
			_, _ = f.Write([]byte("12345"))
		}, "could not be unpacked at zeros"},
	} {
		_, err := c.library.Add(t.Context(), pack(t, name, good, test.more))
		if err == nil || !strings.Contains(err.Error(), test.words) {
			t.Errorf("%s: %v, want %q", name, err, test.words)
		}
	}
	if entries, _ := os.ReadDir(c.dir); len(entries) != 0 {
		t.Errorf("the plugins folder holds %v", entries)
	}
	if left, _ := filepath.Glob(filepath.Join(c.data, "adding-*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestARepositoryIsFetchedOverHTTPSAloneAndWithoutAQuestion(t *testing.T) {
	c := open(t, t.TempDir(), t.TempDir())
	address := serveGit(t, tree{"spindle.json": manifest("one", "")})
	for _, from := range []string{
		"http://127.0.0.1/x.git", "ssh://git@example.org/x.git", "git@example.org:x.git", "file:///tmp/x.git",
		"git://example.org/x.git",
		"ext::sh -c touch% /tmp/x", strings.Replace(address, "https://", "https://ann:secret@", 1) + "/same.git",
		"ftp://example.org/x",
	} {
		_, err := c.library.Add(t.Context(), from)
		if err == nil || !strings.Contains(err.Error(), "over https only") || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", from, err)
		}
	}
	for from, words := range map[string]string{
		address + "/private.git": "git could not fetch", address + "/none.git": "git could not fetch", address +
			"/same.git#none": "git could not fetch", address: "names no repository",
	} {
		if _, err := c.library.Add(t.Context(), from); err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%s: %v", from, err)
		}
	}
}

// declared finds the functions of the types that templates come with, and the
// namespace each is in.
var declared = regexp.MustCompile(
	`(?m)^(?:  namespace (\w+) \{|  \}|\s+function (\w+)\b|\s+const (\w+): Spindle(Files|Variables|ChatVariables))`)

func TestSP09EveryDeclaredFunctionIsThere(t *testing.T) {
	t.Parallel()
	types, err := os.ReadFile(filepath.Join("..", "dialect", "spindle", "templates", "spindle.d.ts"))
	must(t, err)
	members := map[string]string{
		"Files":     "read write readBinary writeBinary delete list exists mkdir move stat getJson setJson",
		"Variables": "get set delete list has", "ChatVariables": "get set delete list has",
	}
	var names []string
	namespace := ""
	for _, m := range declared.FindAllStringSubmatch(string(types), -1) {
		at := strings.TrimPrefix(namespace+".", ".")
		switch {
		case m[1] != "":
			namespace = m[1]
		case m[2] != "":
			names = append(names, at+m[2])
		case m[3] != "":
			for _, member := range strings.Fields(members[m[4]]) {
				names = append(names, at+m[3]+"."+member)
			}
		default:
			namespace = ""
		}
	}
	if len(names) < 80 || !slices.Contains(names, "variables.chat.set") || !slices.Contains(names, "registerTool") {
		t.Fatalf("the types declare %d functions: %q", len(names), names)
	}
	list, err := json.Marshal(names)
	must(t, err)
	c := open(t, t.TempDir(), t.TempDir())
	c.runs("feature_check", tree{"spindle.json": manifest("feature_check", ""), "dist/backend.js": "const names = " +
		string(list) + ";\nconst at = (name) => name.split('.').reduce((o, key) => o?.[key], spindle);\n" +
		says("say", `names.filter((name) => typeof at(name) !== "function").join() + "."`)}, ".")
}

func TestALargeTypeScriptFileIsNotBuiltAgain(t *testing.T) {
	t.Parallel()
	if launcher(t).Confinement().Level != "process+landlock" {
		t.Skip("nothing is kept where a worker may open no file")
	}
	c := open(t, t.TempDir(), t.TempDir())
	source := "export const padding: string = `" + strings.Repeat("padding\n", 5_000) + "`;\n" + says("say", `"built"`)
	c.runs("large_one", tree{"spindle.json": manifest("large_one", ""), "src/backend.ts": source}, "built")
	var found []string
	testkit.Until(t, "a file that is kept, once the worker rests", func() (there bool) {
		var err error
		found, err = filepath.Glob(filepath.Join(plugin.Runtime(c.data), "built", "large_one", "*", strings.Repeat("?", 64)))
		must(t, err)
		return len(found) == 1
	})
	kept := found[0]
	sealed, err := os.ReadFile(kept)
	must(t, err)
	built, whole := job.Unseal(sealed)
	if !whole {
		t.Fatal("what was kept is not whole")
	}
	built.Text = strings.Replace(built.Text, `"built"`, `"kept"`, 1)
	must(t, os.WriteFile(kept, built.Seal(), 0o600), c.host.SetEnabled(t.Context(), "large_one", false),
		c.host.WaitIdle(t.Context()))
	must(t, c.host.SetEnabled(t.Context(), "large_one", true), c.host.WaitIdle(t.Context()))
	c.answers("large_one:say", "{}", "kept")
}

func TestABackendOfTwelveMegabytesRuns(t *testing.T) {
	t.Parallel()
	c := open(t, t.TempDir(), t.TempDir())
	var code strings.Builder
	code.WriteString("const all = [];\n")
	for i := 0; code.Len() < 12<<20; i++ {
		code.WriteString("all.push({ id: " + strconv.Itoa(i) + ", text: \"" + strings.Repeat("some words of a story ", 40) +
			"\", make: (a) => a + " + strconv.Itoa(i) + " });\n")
	}
	code.WriteString(says("say", "String(all[7].make(1))"))
	c.runs("large_one", tree{"spindle.json": manifest("large_one", ""), "dist/backend.js": code.String()}, "8")
	s, err := c.host.Status("large_one")
	must(t, err)
	if notices := strings.Join(s.Manifest.Notices, " "); !strings.Contains(notices,
		"Its backend has 12.0 MiB: it may take 304.0 MiB of memory while it runs") {
		t.Errorf("the card says %q", notices)
	}
}
