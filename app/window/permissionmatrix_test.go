package window_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"unicode"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model/cost"
	"conclave/app/model/modeltest"
	"conclave/app/view"
	"conclave/app/window"
)

// cell returns what the table says of a capability of the only plugin in it.
func (w *testWindow) cell(capability string) view.MatrixCell {
	w.t.Helper()
	m, err := w.Permissions.Matrix()
	must(w.t, err)
	i := slices.IndexFunc(m.Rows, func(r view.MatrixRow) bool { return r.Plugin == "notes" })
	if i < 0 || !slices.Contains(m.Columns, capability) {
		w.t.Fatalf("the table has %v of %+v", m.Columns, m.Rows)
	}
	for _, c := range m.Rows[i].Capabilities {
		if c.Capability == capability {
			return c
		}
	}
	w.t.Fatalf("the row has no %s: %+v", capability, m.Rows[i])
	return view.MatrixCell{}
}

func TestTheTableOfPermissionsIsThatOfTheRulesAndOfTheMode(t *testing.T) {
	w := open(t).quiet()
	w.lend(answering("noted"), nil)
	const keeps = "keeps its own files"
	if got := w.cell(keeps); got.Tools != 1 || got.Main != gate.Asked || got.Council != gate.Asked {
		t.Errorf("before any rule, the table says %+v", got)
	}
	draft := window.RuleDraft{Effect: gate.Deny, Plugin: "notes", Tool: "write_note"}
	trial, err := w.Permissions.TryRule(draft)
	must(t, err)
	if trial.Rule == "" || len(trial.Changed) != 0 || trial.More != 0 || trial.Sentence == "" {
		t.Errorf("of no calls, the trial says %+v", trial)
	}
	if got := w.cell(keeps); got.Main != gate.Asked {
		t.Errorf("a rule that was tried holds: %+v", got)
	}
	undo, err := w.Permissions.AddRule(draft)
	must(t, err)
	if got := w.cell(keeps); got.Main != gate.Refuses || got.Council != gate.Refuses {
		t.Errorf("of a rule that denies, the table says %+v", got)
	}
	tools, err := w.Permissions.Tools("notes")
	must(t, err)
	if len(tools) != 1 || tools[0].Tool != "write_note" || tools[0].Main != gate.Deny ||
		!strings.Contains(tools[0].MainWhy, "rule") || tools[0].Council != gate.Deny {
		t.Errorf("its tools are %+v", tools)
	}
	must(t, w.Window.Undo(undo.Token))
	if got := w.cell(keeps); got.Main != gate.Asked || got.Council != gate.Asked {
		t.Errorf("once the rule is gone, the table says %+v", got)
	}
	_, err = w.Permissions.TryRule(window.RuleDraft{Effect: gate.Deny, Plugin: "notes", Tool: "gone"})
	kind(t, "a rule about a tool that is not there", err, fault.NotFound, "no such tool")

	undo, err = w.Permissions.SetMode(gate.Careful)
	must(t, err)
	if m, err := w.Permissions.Matrix(); err != nil || m.Mode != gate.Careful {
		t.Errorf("the mode is %q, %v", m.Mode, err)
	}
	must(t, w.Window.Undo(undo.Token))
	if m, err := w.Permissions.Matrix(); err != nil || m.Mode != gate.Standard {
		t.Errorf("the mode that was is %q, %v", m.Mode, err)
	}

	language.Use(language.Chinese)
	t.Cleanup(func() { language.Use(language.English) })
	matrix, err := w.Permissions.Matrix()
	must(t, err)
	models, err := w.Models.List()
	must(t, err)
	presets, err := w.Council.Presets()
	must(t, err)
	undo, err = w.Permissions.AddRule(draft)
	must(t, err)
	rules, err := w.Permissions.Rules()
	must(t, err)
	for what, text := range map[string]string{
		"a mode": matrix.Modes[0].Title, "a capability": matrix.Columns[0], "the place of keys": models.KeyStore,
		"a preset": presets[0].Sentence, "what was done": undo.Sentence, "a rule": rules.Rules[0].Sentence,
	} {
		if !strings.ContainsFunc(text, func(r rune) bool { return unicode.Is(unicode.Han, r) }) {
			t.Errorf("%s is not in Chinese: %s", what, text)
		}
	}
}

func TestATrialNamesTheCallsThatWouldHaveGoneOtherwise(t *testing.T) {
	w := open(t, []modeltest.Step{modeltest.Call("1", "write_note", `{"text":"some words"}`)}, say("Noted.")).quiet()
	w.lend(answering("noted"), nil)
	id := w.send("", "Note it.")
	q := w.waiting()
	must(t, w.Permissions.Answer(q.ID, q.Nonce, window.AnswerView{Effect: gate.Allow, Scope: gate.ThisAnswer}))
	w.over(id)

	trial, err := w.Permissions.TryRule(window.RuleDraft{Effect: gate.Deny, Plugin: "notes", Tool: "write_note"})
	must(t, err)
	if len(trial.Changed) != 1 || trial.Changed[0].After != gate.Deny || trial.Changed[0].PluginName != "notes" ||
		trial.Changed[0].Why == "" || trial.Changed[0].Time.IsZero() {
		t.Errorf("the trial of a rule says %+v", trial)
	}
	if trial, err = w.Permissions.TryMode(gate.Standard); err != nil || len(trial.Changed) != 0 {
		t.Errorf("the trial of the mode that holds says %+v, %v", trial, err)
	}

	list, err := w.Activity.List("", "notes", 0)
	must(t, err)
	if len(list.Entries) != 1 || list.Entries[0].Tool != "notes:write_note" || list.Entries[0].Chat != id ||
		list.Entries[0].Effect != string(gate.Allow) || len(list.Entries[0].Why) == 0 ||
		!json.Valid([]byte(list.Entries[0].Arguments)) {
		t.Errorf("on record is %+v", list.Entries)
	}
	if report, err := w.Activity.Verify(); err != nil || !report.OK || report.Sentence == "" {
		t.Errorf("the record is %+v, %v", report, err)
	}
	if changes, err := w.Activity.Changes("none"); err != nil || changes.Kept || changes.Files == nil {
		t.Errorf("of a call that changed no file there is kept %+v, %v", changes, err)
	}
	if _, err := w.Activity.Undo("none"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("undoing what is not kept: %v", err)
	}
	if old, err := w.Activity.EmptyOldVersions(); err != nil || old.Any || old.Days != 30 {
		t.Errorf("of old versions there are %+v, %v", old, err)
	}
}

func TestToolsRunUnattendedForATimeAndNoLonger(t *testing.T) {
	w := open(t).quiet()
	unattended := func() *window.UnattendedView {
		t.Helper()
		list, err := w.Permissions.Requests()
		must(t, err)
		return list.Unattended
	}
	kind(t, "a time that nobody offered", w.Permissions.StartUnattended(14, 10, 1), fault.Invalid, "")
	must(t, w.Permissions.StartUnattended(15, 10, 1))
	if u := unattended(); u == nil || u.Calls != 10 || u.Spend != 1 || u.Until.IsZero() {
		t.Errorf("unattended is %+v", u)
	}
	must(t, w.Permissions.EndUnattended())
	if u := unattended(); u != nil {
		t.Errorf("after its end, unattended is %+v", u)
	}
}

func TestOwnPricesAreAddedToThoseOfTheTable(t *testing.T) {
	w := open(t).quiet()
	table, err := w.Models.Prices()
	must(t, err)
	if table.Date == "" || len(table.Prices) == 0 || table.Own == nil || len(table.Own) != 0 {
		t.Errorf("the table of %q has %d prices, and %v", table.Date, len(table.Prices), table.Own)
	}
	own := []cost.Price{{Model: "work/*", Input: 2, Output: 10}}
	must(t, w.Models.SetPrices(own))
	if table, err = w.Models.Prices(); err != nil || !slices.Equal(table.Own, own) {
		t.Errorf("own prices are %+v, %v", table.Own, err)
	}
}

func TestTheToolsOfAPluginCanBeGivenToMembersOrItIsSaidWhyNot(t *testing.T) {
	w := extendedBy(t, `
spindle.registerTool({ name: "look", description: "Looks.", parameters: { type: "object", properties: {} }, council_eligible: true });
spindle.registerTool({ name: "own", description: "Is the model's.", parameters: { type: "object", properties: {} }, inline_available: true });
spindle.on("TOOL_INVOCATION", async () => "done");`, []string{"tools"}).quiet()
	must(t, w.Plugins.Approve("ext", w.card("ext").Shown, false, false))
	w.state("ext", "ready")
	can, err := w.Council.Choices("")
	must(t, err)
	set := can.Presets[0].Council
	set.Mode, set.Members[0].Tools = council.Tools, []string{"ext:look", "gone:tool"}
	must(t, w.Council.Set("", "global", set))
	tools := map[string]window.CouncilToolView{}
	look := func() {
		t.Helper()
		can, err := w.Council.Choices("")
		must(t, err)
		clear(tools)
		for _, v := range can.Tools {
			tools[v.ID] = v
		}
	}
	look()
	if v := tools["ext:look"]; !v.Eligible || v.Why != "" || v.PluginName != "Extension" || v.NeedsHelper {
		t.Errorf("a tool for members is %+v", v)
	}
	if v := tools["ext:own"]; v.Eligible || v.Why == "" {
		t.Errorf("a tool that does not offer itself to members is %+v", v)
	}
	if v := tools["gone:tool"]; v.Eligible || v.Title != "tool" || !strings.HasSuffix(v.Why, "is not there.") {
		t.Errorf("a tool that is gone is %+v", v)
	}
	if v := tools["voice_concern"]; !v.Eligible || !v.NeedsHelper || v.PluginName != "Built in" {
		t.Errorf("a prompt that comes with the council is %+v", v)
	}
	must(t, w.Plugins.SetEnabled("ext", false))
	w.state("ext", "disabled")
	if look(); tools["ext:look"].Eligible || tools["ext:look"].Why == "" {
		t.Errorf("of a plugin that is switched off, it is %+v", tools["ext:look"])
	}
}

func TestThePageIsServedFilesThatCannotRunInIt(t *testing.T) {
	w := open(t).quiet()
	served := func(method, path string) *httptest.ResponseRecorder {
		recorder := httptest.NewRecorder()
		w.Assets().ServeHTTP(recorder, httptest.NewRequestWithContext(t.Context(), method, path, nil))
		return recorder
	}
	file := chat.Media{Name: "page.png", MIME: "image/png", Data: []byte("<script>alert(1)</script>")}
	must(t, w.core.Store.Media.PutMedia(t.Context(), &file))
	page := served(http.MethodGet, "/media/"+file.ID)
	if h := page.Header(); page.Code != http.StatusOK || h.Get("Content-Type") != "application/octet-stream" ||
		!strings.HasPrefix(h.Get("Content-Disposition"), "attachment") || h.Get("X-Content-Type-Options") != "nosniff" ||
		!strings.Contains(h.Get("Content-Security-Policy"), "sandbox") {
		t.Errorf("a page is served with %d, %v", page.Code, h)
	}
	for name, request := range map[string][2]string{
		"what is not there": {http.MethodGet, "/media/00"}, "a path": {http.MethodGet, "/media/../store.db"},
		"nothing": {http.MethodGet, "/media/"}, "a change": {http.MethodPost, "/media/" + file.ID},
	} {
		if got := served(request[0], request[1]); got.Code != http.StatusNotFound {
			t.Errorf("%s is served with %d", name, got.Code)
		}
	}
}
