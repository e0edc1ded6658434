package picoclaw_test

import (
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/picoclaw"
	"conclave/app/plugin/library"
	"conclave/app/plugin/plugintest"
)

// library returns what changes the bench's plugins folder.
func (b *bench) library() *library.Library {
	return library.New(library.Options{
		Dir: b.dir, Data: b.data, Host: b.host, Gate: b.gate, Log: slog.New(slog.DiscardHandler),
	})
}

// patient are keys of a hook that has time to answer on a busy machine.
const patient = `{"hello_timeout_ms": 120000, "interceptor_timeout_ms": 120000}`

// imports makes plugins of a config.json in a folder with these files, and returns the
// folder. In the text, FOLDER stands for it, and PATIENT for patient.
func (b *bench) imports(config string, files map[string]string) (library.Imported, string, error) {
	b.t.Helper()
	folder := b.t.TempDir()
	for name, text := range files {
		write(b.t, filepath.Join(folder, filepath.FromSlash(name)), text)
	}
	path := filepath.Join(folder, "config.json")
	write(b.t, path, strings.NewReplacer("FOLDER", folder, "PATIENT", patient).Replace(config))
	made, found, err := b.library().Import(b.t.Context(), path)
	if !found {
		b.t.Fatal("config.json is said to be no configuration")
	}
	must(b.t, b.host.WaitIdle(b.t.Context()))
	return made, folder, err
}

// made are the ids of the plugins that were made.
func made(i library.Imported) string {
	var ids []string
	for _, one := range i.Added {
		ids = append(ids, one.ID)
	}
	return strings.Join(ids, " ")
}

// lies lists the files of a plugin.
func (b *bench) lies(id string) string {
	b.t.Helper()
	var all []string
	root := os.DirFS(filepath.Join(b.dir, id))
	must(b.t, fs.WalkDir(root, ".", func(path string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			all = append(all, path)
		}
		return err
	}))
	return strings.Join(all, " ")
}

// left ends the test unless nothing was made of that name, for that reason.
func left(t testing.TB, i library.Imported, name, why string) {
	t.Helper()
	at := slices.IndexFunc(i.Left, func(l plugin.LeftOut) bool { return l.Name == name })
	if at < 0 || !strings.Contains(i.Left[at].Why, why) {
		t.Errorf("of %q it is said %+v, not %q", name, i.Left, why)
	}
}

func TestPC55EachProcessOfAConfigurationBecomesAPluginThatRuns(t *testing.T) {
	b := newBench(t)
	got, folder, err := b.imports(`{
  "model_list": [{"api_key": "sk-secret"}],
  "hooks": {
    "enabled": true,
    "defaults": {"interceptor_timeout_ms": 4000},
    "later": 1,
    "builtins": {"audit": {"enabled": true}},
    "processes": {
      "weather": {"enabled": true, "priority": 7, "command": ["python3", "hooks/weather.py"],
        "intercept": ["before_llm", "before_tool"], "unknown": {"kept": [1.50]}, "x_conclave": PATIENT},
      "whole": {"enabled": true, "command": ["python3", "FOLDER/alone.py", "--quiet"], "observe": ["*"],
        "x_conclave": PATIENT},
      "sub": {"enabled": true, "command": ["./run.py"], "dir": "FOLDER/work", "observe": ["turn_end"],
        "x_conclave": PATIENT},
      "resting": {"command": ["python3", "hooks/weather.py"], "intercept": ["not a stage"]}
    }
  }
}`, map[string]string{
		"hooks/weather.py": weather, "hooks/beside.txt": "x", "hooks/.git/config": "x", "alone.py": told + "serve()",
		"secret.txt": "x", "work/run.py": "#!/usr/bin/env python3\n" + told + "serve()",
	})
	must(t, err)
	if ids := made(got); ids != "weather whole sub resting" {
		t.Fatalf("made %q, left %+v", ids, got.Left)
	}
	left(t, got, "audit", "built into PicoClaw")
	for id, want := range map[string]string{
		"weather": "hook.json hooks/beside.txt hooks/weather.py", "whole": "alone.py hook.json",
		"sub": "hook.json work/run.py", "resting": "hook.json hooks/beside.txt hooks/weather.py",
	} {
		if files := b.lies(id); files != want {
			t.Errorf("%s holds %q, not %q", id, files, want)
		}
	}
	text, err := os.ReadFile(filepath.Join(b.dir, "weather", picoclaw.FileName))
	must(t, err)
	for _, kept := range []string{`"later": 1`, `"interceptor_timeout_ms": 4000`, "1.50", `"priority": 7`} {
		if !strings.Contains(string(text), kept) {
			t.Errorf("%s was not kept in %s", kept, text)
		}
	}
	for _, gone := range []string{"sk-secret", folder, "audit", "whole"} {
		if strings.Contains(string(text), gone) {
			t.Errorf("%s came along in %s", gone, text)
		}
	}
	for _, id := range []string{"weather", "whole", "sub"} {
		if s := b.status(id); s.State != plugin.NeedsApproval || s.Origin != filepath.Join(folder, "config.json") {
			t.Errorf("%s is %s, from %s: %v", id, s.State, s.Origin, s.Problem)
		}
		must(t, plugintest.Approve(t.Context(), b.host, id, false), b.host.WaitIdle(t.Context()))
		if s := b.status(id); s.State != plugin.Ready {
			t.Errorf("%s is %s, %+v", id, s.State, s.Problem)
		}
	}
	if s := b.status("resting"); s.State != plugin.Disabled || s.Problem == nil || len(s.Manifest.Permissions) != 0 {
		t.Errorf("what was off is %s, %+v", s.State, s.Problem)
	}
	b.ask(person(yes), calls("get_weather", `{"city":"Beijing"}`), say("sunny")).says("sunny")
}

func TestPC55WhatCannotBeTakenOverIsSaidByName(t *testing.T) {
	b := newBench(t)
	outside := filepath.Join(t.TempDir(), "outside.py")
	write(t, outside, told+"serve()")
	write(t, filepath.Join(b.dir, "there", picoclaw.FileName), `{"command": ["python3"], "observe": ["*"]}`)
	must(t, b.host.Scan(), b.host.WaitIdle(t.Context()))
	entry := func(more string) string { return `{"enabled": true, "observe": ["*"], ` + more + `}` }
	run := entry(`"command": ["python3", "in/a.py"]`)
	got, _, err := b.imports(`{"hooks": {"processes": {
		"up": `+entry(`"command": ["python3", "../outside.py"]`)+`,
		"up and down": `+entry(`"command": ["python3", "in/../../x/in/a.py"]`)+`,
		"updir": `+entry(`"command": ["python3", "a.py"], "dir": "in/../.."`)+`,
		"elsewhere": `+entry(`"command": ["python3", "`+outside+`"]`)+`,
		"program": `+entry(`"command": ["../bin/run"]`)+`,
		"missing": `+entry(`"command": ["./none"]`)+`,
		"nodir": `+entry(`"command": ["python3"], "dir": "none"`)+`,
		"hidden": `+entry(`"command": ["python3", ".venv/a.py"]`)+`,
		"number": 5,
		"kinds": `+entry(`"command": "python3 in/a.py"`)+`,
		"two keys": `+entry(`"command": ["python3", "in/a.py"], "Command": ["python3", "alone.py"]`)+`,
		"twice": `+run+`, "twice": `+entry(`"command": ["python3", "alone.py"]`)+`,
		"a.b": `+run+`, "A_b": `+run+`,
		"there": `+run+`,
		"../../evil": `+run+`, "..": `+run+`, "": `+run+`, "审查": `+run+`, ".hid": `+run+`, "node_modules": `+run+`,
		"line\nend\u001b[2J\u202e": `+run+`,
		"`+strings.Repeat("long", 500)+`": `+run+`
	}}}`, map[string]string{"in/a.py": told + "serve()", "alone.py": "", ".venv/a.py": ""})
	must(t, err)
	for name, why := range map[string]string{
		"up": "../outside.py, which lies outside", "up and down": "lies outside", "updir": "lies outside",
		"elsewhere": "which lies outside of the folder of config.json", "program": "lies outside",
		"missing": "program ./none does not exist", "nodir": "folder none does not exist",
		"hidden": "what is called .venv is no part of a plugin", "number": "no object", "kinds": "cannot be",
		"two keys": `"Command" is written twice`, "twice": "written 2 times", "A_b": `the folder A_b, as "a.b" does`,
		"there": "There is a plugin there already",
	} {
		left(t, got, name, why)
	}
	ids := strings.Split(made(got), " ")
	want := []string{"a_b", "evil", "hook_", "hook_", "hook_", "hid", "hook_", "line_end__2J", "longlong"}
	if len(ids) != len(want) {
		t.Fatalf("made %q, left %+v", ids, got.Left)
	}
	for i, id := range ids {
		if !strings.HasPrefix(id, want[i]) || len(id) > 64 {
			t.Errorf("made %q, not %s…", id, want[i])
		}
		if path, _ := b.host.PathOf(id); filepath.Dir(path) != b.dir || b.lies(id) != "hook.json in/a.py" {
			t.Errorf("%s lies at %s with %s", id, path, b.lies(id))
		}
	}
	for _, l := range got.Left {
		if strings.ContainsAny(l.Name+l.Why, "\n\x1b\u202e") || len(l.Name) > 1000 {
			t.Errorf("it is said %+q", l)
		}
	}
	if around, err := os.ReadDir(filepath.Dir(b.dir)); err != nil || slices.ContainsFunc(around, func(e fs.DirEntry) bool {
		return e.Name() == "evil"
	}) {
		t.Errorf("a plugin was made outside of the plugins folder: %v, %v", around, err)
	}
}

func TestPC55LinksOutOfTheFolderOfAConfigurationAreRefused(t *testing.T) {
	b := newBench(t)
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret.py"), "secret")
	folder := t.TempDir()
	must(t, os.Symlink(filepath.Join(outside, "secret.py"), filepath.Join(folder, "a.py")),
		os.Symlink(outside, filepath.Join(folder, "linked")), os.Mkdir(filepath.Join(folder, "in"), 0o700),
		os.Symlink(filepath.Join(outside, "secret.py"), filepath.Join(folder, "in", "b.py")))
	write(t, filepath.Join(folder, "in", "c.py"), "")
	path := filepath.Join(folder, "config.json")
	write(t, path, `{"hooks": {"processes": {
		"file": {"enabled": true, "command": ["python3", "a.py"], "observe": ["*"]},
		"folder": {"enabled": true, "command": ["python3", "linked/secret.py"], "observe": ["*"]},
		"dir": {"enabled": true, "command": ["python3", "secret.py"], "dir": "linked", "observe": ["*"]},
		"beside": {"enabled": true, "command": ["python3", "in/c.py"], "observe": ["*"]}}}}`)
	got, found, err := b.library().Import(t.Context(), path)
	if !found || len(got.Added) > 0 {
		t.Fatalf("made %q, %v", made(got), found)
	}
	plugintest.Kind(t, err, fault.Invalid, "No plugin was made of config.json")
	left(t, got, "file", "a.py is a link that leads out")
	left(t, got, "folder", "linked leads out")
	left(t, got, "dir", "linked leads out")
	left(t, got, "beside", "in/b.py is a link that leads out")
	if entries, err := os.ReadDir(b.dir); err != nil || len(entries) > 0 {
		t.Errorf("the plugins folder holds %v, %v", entries, err)
	}
}

func TestPC55AConfigurationWithTooManyProcessesIsRefused(t *testing.T) {
	b := newBench(t)
	refused := func(config, want string) {
		t.Helper()
		got, _, err := b.imports(config, nil)
		plugintest.Kind(t, err, fault.Invalid, want)
		if len(got.Added) > 0 {
			t.Errorf("made %q", made(got))
		}
	}
	for _, n := range []int{limit.HookProcesses + 1, 10_000} {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"p%d": {"command": ["python3"]}`, i))
		}
		refused(`{"hooks": {"processes": {`+strings.Join(all, ",")+`}}}`,
			"It has more than 100 hooks, so no plugin was made of it.")
	}
	refused(`{"hooks": {"processes": {}}}`, "names no hook process")
	refused(`{"hooks": {}}`, "names no hook process")
	refused(`{"hooks": []}`, `"hooks" is no object`)
	refused(`{"hooks": {"processes": []}}`, `"processes" is no object`)
	refused(`{"hooks": {"processes": {}, "processes": {}}}`, `"processes" is written twice`)
	refused(`{"hooks": {}, "hooks": {"processes": {"a": {"enabled": true}}}}`, `"hooks" is written twice`)
	refused("{\n\"hooks\": {,}}", "config.json:2: It cannot be read")
	refused(`{"hooks": {"x": "`+strings.Repeat("x", limit.HookFile)+`"}}`, "more than 1 MiB")
	for name, text := range map[string]string{
		"list.json": `[1]`, "mcp.json": `{"mcpServers": {}}`, "a.txt": `{"hooks": {}}`,
	} {
		path := filepath.Join(t.TempDir(), name)
		write(t, path, text)
		if _, found, err := b.library().Import(t.Context(), path); found || err != nil {
			t.Errorf("%s is taken for a configuration: %v", name, err)
		}
	}
}

func TestPC55APluginOfAConfigurationIsUpdatedFromIt(t *testing.T) {
	b := newBench(t)
	config := `{"hooks": {"processes": {
		"a": {"enabled": true, "command": ["python3", "a.py"], "observe": ["*"]},
		"b": {"enabled": true, "command": ["python3", "b.py"], "observe": ["*"]}}}}`
	got, folder, err := b.imports(config, map[string]string{"a.py": "1", "b.py": "1"})
	must(t, err)
	if made(got) != "a b" {
		t.Fatalf("made %+v", got)
	}
	write(t, filepath.Join(folder, "b.py"), "2")
	id, _, err := b.library().Update(t.Context(), "b", "")
	must(t, err)
	text, err := os.ReadFile(filepath.Join(b.dir, "b", "b.py"))
	must(t, err)
	if id != "b" || string(text) != "2" || b.lies("b") != "b.py hook.json" {
		t.Errorf("%s holds %s, %s", id, text, b.lies("b"))
	}
	write(t, filepath.Join(folder, "config.json"), strings.ReplaceAll(config, `"b":`, `"c":`))
	_, _, err = b.library().Update(t.Context(), "b", "")
	plugintest.Kind(t, err, fault.NotFound, "The plugin b cannot be made of ")
	_, _, err = b.imports(config, map[string]string{"a.py": "1", "b.py": "1"})
	plugintest.Kind(t, err, fault.Conflict, "No plugin was made")
}

func TestPC07AHookThatItsFileSwitchesOffDoesNotRun(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("before_llm"), weather)
	b.ask(nobody(), say("hi")).says("hi")
	asked := len(b.params("h", "hook.before_llm"))
	if asked == 0 {
		t.Fatal("it was not asked while it was on")
	}
	write(t, filepath.Join(b.dir, "h", picoclaw.FileName), `{"enabled": false, "intercept": ["nonsense"]}`)
	must(t, b.host.Scan(), b.host.WaitIdle(t.Context()))
	s := b.status("h")
	if s.State != plugin.Disabled || s.Serving || s.Problem == nil ||
		!strings.Contains(s.Problem.Message, "switches it off") {
		t.Fatalf("it is %s, %+v", s.State, s.Problem)
	}
	b.ask(nobody(), say("hi")).says("hi")
	if n := len(b.params("h", "hook.before_llm")); n != asked {
		t.Errorf("it was asked %d times more", n-asked)
	}
}
