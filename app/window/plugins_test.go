package window_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/test/programtest"
	"conclave/app/tool"
	"conclave/app/view"
	"conclave/app/window"
)

// extended opens a window in whose plugins folder lies the extension "ext" of these
// permissions, which nobody has approved yet.
func extended(t *testing.T, permissions []string, answers ...[]modeltest.Step) *testWindow {
	t.Helper()
	return extendedBy(t, `
spindle.log.info("I am here\u202e.");
spindle.registerTool({ name: "run", description: "Runs.", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.on("TOOL_INVOCATION", async () => "done");`, permissions, answers...)
}

// extendedBy is extended with other code.
func extendedBy(t *testing.T, code string, permissions []string, answers ...[]modeltest.Step) *testWindow {
	t.Helper()
	data := t.TempDir()
	manifest, err := json.Marshal(map[string]any{
		"version": "1", "name": "Ext\u200bension", "identifier": "ext", "author": "a", "permissions": permissions,
		"homepage": "https://example.org",
	})
	must(t, err)
	write(t, filepath.Join(data, "plugins", "ext", "spindle.json"), string(manifest))
	write(t, filepath.Join(data, "plugins", "ext", "dist", "backend.js"), code)
	return openOn(t, data, programtest.Worker(t), answers...)
}

// card returns the card of a plugin.
func (w *testWindow) card(id string) view.Plugin {
	w.t.Helper()
	list, err := w.Plugins.List()
	must(w.t, err)
	i := slices.IndexFunc(list.Plugins, func(v view.Plugin) bool { return v.ID == id })
	if i < 0 {
		return view.Plugin{}
	}
	return list.Plugins[i]
}

func (w *testWindow) state(id, state string) view.Plugin {
	w.t.Helper()
	w.until("the plugin "+id+" "+state, func() bool { return string(w.card(id).State) == state })
	return w.card(id)
}

func TestWhatAPluginLogsIsToldToThePageAsItComes(t *testing.T) {
	w := extendedBy(t, `setInterval(() => spindle.log.info("Still here."), 100);`, nil).quiet()
	must(t, w.Plugins.Approve("ext", w.card("ext").Shown, false, false))
	w.state("ext", "ready")
	news := w.core.Bus.Subscribe(bus.Log) // nothing else is listened to
	defer news.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for since, often := uint64(0), 0; often < 3; {
		_, err := news.Next(ctx)
		must(t, err)
		log, err := w.Plugins.Log("ext", since)
		must(t, err)
		if n := len(log.Lines); n > 0 {
			since = log.Lines[n-1].N
			often++
		}
	}
}

func TestAPluginIsReadApprovedUsedAndSwitched(t *testing.T) {
	w := extended(t, []string{"tools", "cors_proxy"}).quiet()
	card := w.card("ext")
	if card.Name != "Extension" || !card.Enabled || card.Serving || card.Homepage != "https://example.org" {
		t.Errorf("before it is approved the card is %+v", card)
	}
	var names []string
	for _, p := range card.Asks {
		names = append(names, p.Name+" "+string(p.State))
	}
	if got := strings.Join(names, ", "); got != "tools asked, cors_proxy asked, local_network asked" {
		t.Errorf("it asks for %s", got)
	}
	kind(t, "approving what nobody read", w.Plugins.Approve("ext", "another digest", false, false), fault.Conflict,
		"changed while you were reading")
	kind(t, "keeping what nobody read", w.Plugins.KeepOld("ext", "another digest"), fault.Conflict,
		"changed while you were reading")
	must(t, w.Plugins.Approve("ext", card.Shown, false, false))
	card = w.state("ext", "ready")
	if len(card.Tools) != 1 || card.Tools[0] != "ext:run" || card.Isolation == "" || card.LoadMS <= 0 {
		t.Errorf("once it is approved the card is %+v", card)
	}
	shown, err := w.Plugins.Show("ext")
	if err != nil || !shown.Listed || len(shown.Details) != 1 || !slices.Contains(shown.Files, "dist/backend.js") {
		t.Errorf("a person reads %+v, %v", shown, err)
	}
	tools, err := w.Tools.List("")
	if err != nil || len(tools.Tools) != 1 || tools.Tools[0].ID != "ext:run" || !tools.Tools[0].Enabled ||
		!tools.Tools[0].Offered || tools.Tokens == 0 || tools.Tools[0].Rule == "" {
		t.Fatalf("the tools are %+v, %v", tools, err)
	}
	must(t, w.Tools.SetOffer("ext:run", tool.Hidden))
	if off, err := w.Tools.List(""); err != nil || off.Tools[0].Enabled || off.Tools[0].Offered || off.Tokens != 0 {
		t.Errorf("switched off: %+v, %v", off, err)
	}
	must(t, w.Tools.SetOffer("ext:run", tool.Deferred), w.Tools.SetMembers("ext:run", false))
	later, err := w.Tools.List("")
	if err != nil || later.Tokens != 0 || !slices.Equal(later.ForRoom, []string{"ext:run"}) ||
		!later.Tools[0].Enabled || later.Tools[0].Members {
		t.Errorf("only when asked for: %+v, %v", later, err)
	}
	kind(t, "a tool of no plugin", w.Tools.SetOffer("run", tool.Direct), fault.NotFound, "no tool run")
	w.until("its log", func() bool {
		log, err := w.Plugins.Log("ext", 0)
		return err == nil && slices.ContainsFunc(log.Lines, func(l view.LogLine) bool { return l.Text == "I am here." })
	})
	for _, c := range []struct {
		granted bool
		state   view.PermissionState
	}{{true, "granted"}, {false, "denied"}} {
		must(t, w.Plugins.SetPermission("ext", "cors_proxy", c.granted))
		w.until("the permission", func() bool { return w.card("ext").Asks[1].State == c.state })
	}
	kind(t, "a folder for an engine without files", w.Plugins.GrantFolder("ext", t.TempDir(), true), fault.Invalid,
		"would do nothing")
	kind(t, "taking a folder back that it has not", w.Plugins.RevokeFolder("ext", "/nowhere"), fault.NotFound, "")
	kind(t, "a program for an engine without any", w.Plugins.AllowProgram("ext", "sh"), fault.Invalid, "would do nothing")
	kind(t, "taking a program back that it has not", w.Plugins.RevokeProgram("ext", "/bin/sh"), fault.NotFound, "")
	kind(t, "a host that is none", w.Plugins.AllowHost("ext", "a b", false), fault.Invalid, "")
	must(t, w.Plugins.AllowHost("ext", "api.example.org", true))
	reach, err := w.Plugins.Reach("ext")
	must(t, err)
	if len(reach.Hosts) != 1 ||
		reach.Hosts[0].Sentence != "Extension may connect to api.example.org and what is below it." ||
		!reach.CanHosts || !reach.CanSecrets || reach.CanFiles || reach.CanPrograms || len(reach.Programs) != 0 {
		t.Errorf("it may reach %+v", reach)
	}
	if _, err := w.Permissions.Revoke(reach.Hosts[0].Rule); err != nil {
		t.Error(err)
	}
	if reach, err := w.Plugins.Reach("ext"); err != nil || len(reach.Hosts) != 0 || len(reach.Secrets) != 0 {
		t.Errorf("after that it may reach %+v, %v", reach, err)
	}
	must(t, w.Plugins.SetEnabled("ext", false))
	if card := w.state("ext", "disabled"); card.Enabled || card.Serving {
		t.Errorf("switched off the card is %+v", card)
	}
	must(t, w.Plugins.SetEnabled("ext", true))
	w.state("ext", "ready")
	must(t, w.Plugins.SetDeveloping("ext", true))
	if !w.card("ext").Developing {
		t.Error("it is not said to be developed")
	}
	must(t, w.Plugins.SetRunning("ext", 7, false, false))
	if card := w.card("ext"); card.AtOnce != 7 || !card.AtOnceSet {
		t.Errorf("with seven calls at once the card is %+v", card)
	}
	kind(t, "more calls at once than can be", w.Plugins.SetRunning("ext", 33, false, false), fault.Invalid,
		"cannot run 33 calls")
	must(t, w.Plugins.SetRunning("ext", 0, false, false))
	if card := w.card("ext"); card.AtOnce != 4 || card.AtOnceSet {
		t.Errorf("with the default the card is %+v", card)
	}
}

func TestAPluginThatIsBrokenSaysWhereAndTheOldOneServes(t *testing.T) {
	w := extended(t, []string{"tools"})
	must(t, w.Plugins.Approve("ext", w.card("ext").Shown, true, false))
	w.state("ext", "ready")
	backend := filepath.Join(w.data, "plugins", "ext", "dist", "backend.js")
	write(t, backend, "const a = ;\n")
	must(t, w.Plugins.Reload("ext"))
	w.until("the problem", func() bool { return w.card("ext").Problem != nil })
	card := w.card("ext")
	if p := card.Problem; !strings.HasSuffix(p.File, "backend.js") || p.Line != 1 || p.Frame == "" ||
		len(card.Tools) != 1 || card.ServingSince.IsZero() {
		t.Errorf("the card is %+v, its problem %+v", card, p)
	}
}

func TestAPluginThatChangedMayBeKeptAsItWas(t *testing.T) {
	w := extended(t, []string{"tools"})
	must(t, w.Plugins.Approve("ext", w.card("ext").Shown, false, false))
	w.state("ext", "ready")
	write(t, filepath.Join(w.data, "plugins", "ext", "dist", "backend.js"), `
spindle.registerTool({ name: "run", description: "Runs away.", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.on("TOOL_INVOCATION", async () => "gone");`)
	must(t, w.Plugins.Reload("ext"))
	asked := func() bool {
		p, err := w.Permissions.Requests()
		return err == nil && slices.ContainsFunc(p.Requests, func(q view.PermissionRequest) bool {
			return q.Plugin == "ext" && q.Kind == gate.KindChanged
		})
	}
	w.until("the question", asked)
	shown, err := w.Plugins.Show("ext")
	if err != nil || len(shown.Changes) == 0 {
		t.Fatalf("a person reads %+v, %v", shown, err)
	}
	must(t, w.Plugins.KeepOld("ext", shown.Shown))
	w.until("no question", func() bool { return !asked() })
	if served, ok := w.core.Tools.Set().ByID("ext:run"); !ok || served.Description != "Runs." {
		t.Errorf("what serves is %+v", served)
	}
}

func TestAPluginIsMadeRemovedAddedAndBroughtBack(t *testing.T) {
	w := openOn(t, t.TempDir(), programtest.Worker(t))
	templates, err := w.Plugins.Templates()
	if err != nil || !slices.ContainsFunc(templates,
		func(v window.TemplateView) bool { return v.Kind == "js" && v.Common && v.Sentence != "" }) {
		t.Fatalf("the templates are %+v, %v", templates, err)
	}
	_, err = w.Plugins.New("cobol", "x")
	kind(t, "a kind that is not there", err, fault.Usage, "no template")
	_, err = w.Plugins.New("js", "No Name")
	kind(t, "a name that cannot be", err, fault.Usage, "cannot be named")
	id, err := w.Plugins.New("js", "mine")
	must(t, err)
	card := w.state(id, "ready")
	if len(card.Tools) == 0 || !card.Developing {
		t.Errorf("a new plugin is %+v", card)
	}
	undo, err := w.Plugins.Remove(id)
	if err != nil || !strings.Contains(undo.Sentence, "was removed") {
		t.Fatalf("removed: %+v, %v", undo, err)
	}
	w.until("it is gone", func() bool { return w.card(id).ID == "" })
	must(t, w.Window.Undo(undo.Token))
	w.state(id, "ready")
	other := filepath.Join(t.TempDir(), "other.js")
	text, err := os.ReadFile(filepath.Join(w.data, "plugins", "mine.js"))
	must(t, err)
	write(t, other, string(text))
	added, err := w.Plugins.Add(`"` + other + `"`)
	must(t, err)
	w.until("it is there", func() bool { return w.card(added).ID == added })
	_, err = w.Plugins.Add(other)
	kind(t, "adding it twice", err, fault.Conflict, "")
	_, err = w.Plugins.Add("somewhere/else")
	kind(t, "a path that is none", err, fault.Invalid, "neither an https address nor a whole path")
	write(t, other, string(text)+"\n// newer\n")
	updated, err := w.Plugins.Update(added)
	if err != nil || !strings.Contains(updated.Sentence, "was fetched anew") {
		t.Fatalf("fetched anew: %+v, %v", updated, err)
	}
	newer := func() bool {
		now, err := os.ReadFile(filepath.Join(w.data, "plugins", "other.js"))
		return err == nil && strings.Contains(string(now), "newer")
	}
	if !newer() {
		t.Error("it is as it was")
	}
	must(t, w.Window.Undo(updated.Token))
	if newer() {
		t.Error("it is not as it was")
	}
	if err := w.Plugins.StopAdding(); err != nil {
		t.Errorf("stopping nothing: %v", err)
	}
}

func TestNoPluginIsTouchedThatIsNotThere(t *testing.T) {
	w := open(t)
	for name, do := range map[string]func() error{
		"show":       func() error { _, err := w.Plugins.Show("x"); return err },
		"switch":     func() error { return w.Plugins.SetEnabled("x", false) },
		"reload":     func() error { return w.Plugins.Reload("x") },
		"approve":    func() error { return w.Plugins.Approve("x", "d", false, false) },
		"keep":       func() error { return w.Plugins.KeepOld("x", "d") },
		"develop":    func() error { return w.Plugins.SetDeveloping("x", true) },
		"remove":     func() error { _, err := w.Plugins.Remove("x"); return err },
		"update":     func() error { _, err := w.Plugins.Update("x"); return err },
		"permission": func() error { return w.Plugins.SetPermission("x", "chats", true) },
		"folder":     func() error { return w.Plugins.GrantFolder("x", "/tmp", true) },
		"reach":      func() error { _, err := w.Plugins.Reach("x"); return err },
		"host":       func() error { return w.Plugins.AllowHost("x", "a.example", false) },
		"program":    func() error { return w.Plugins.AllowProgram("x", "sh") },
		"no program": func() error { return w.Plugins.RevokeProgram("x", "sh") },
		"secret":     func() error { return w.Plugins.GiveSecret("x", "a", "long enough", []string{"a.example"}) },
		"no secret":  func() error { return w.Plugins.ForgetSecret("x", "a") },
		"no folder":  func() error { return w.Plugins.RevokeFolder("x", "/tmp") },
		"open":       func() error { return w.Plugins.OpenFolder("x") },
		"editor":     func() error { _, err := w.Plugins.OpenInEditor("x", "", 0); return err },
		"settings":   func() error { _, err := w.Plugins.Settings("x"); return err },
		"set":        func() error { return w.Plugins.SetSettings("x", "{}") },
		"at once":    func() error { return w.Plugins.SetRunning("x", 4, false, false) },
		"packages":   func() error { return w.Plugins.InstallPackages("x", "d", false, false, nil) },
		"stop":       func() error { return w.Plugins.StopPackages("x") },
		"no package": func() error { return w.Plugins.RemovePackages("x") },
		"tool":       func() error { return w.Tools.SetOffer("x:y", tool.Direct) },
	} {
		t.Run(name, func(t *testing.T) { kind(t, name, do(), fault.NotFound, "") })
	}
}
