package window_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/window"
)

func TestAPermissionAndACouncilHoldForTheChatsOfAProject(t *testing.T) {
	notes := func(id string) []modeltest.Step {
		return []modeltest.Step{modeltest.Call(id, "write_note", `{"text":"some words"}`)}
	}
	w := open(t, say("One."), say("Two."), say("Three."), notes("1"), say("Noted."), notes("2"), say("Noted too."),
		notes("3"), say("Not noted."), say("Brief.")).quiet()
	w.lend(answering("noted"), nil)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	of, in, out := w.ask("", "First?"), w.ask("", "Second?"), w.ask("", "Third?")
	must(t, w.Chats.SetProject(of, ` "`+folder+`" `))
	must(t, w.Chats.SetProject(in, folder))
	if p := w.pull(of); p.Chat.Project != folder {
		t.Errorf("the chat is of %q", p.Chat.Project)
	}

	w.send(of, "Note it.")
	q := w.waiting()
	if q.Project != folder || !slices.Contains(q.Scopes, gate.ThisProject) {
		t.Errorf("the card is of %q and offers %v", q.Project, q.Scopes)
	}
	must(t, w.Permissions.Answer(q.ID, q.Nonce, window.AnswerView{Effect: gate.Allow, Scope: gate.ThisProject}))
	w.over(of)
	w.ask(in, "Note it too.")
	w.send(out, "Note it as well.")
	q = w.waiting()
	if q.Conversation != out || q.Project != "" || slices.Contains(q.Scopes, gate.ThisProject) {
		t.Errorf("the card is of %q, project %q, and offers %v", q.Conversation, q.Project, q.Scopes)
	}
	must(t, w.Permissions.Answer(q.ID, q.Nonce, window.AnswerView{Effect: gate.Deny, Scope: gate.Once}))
	w.over(out)

	can, err := w.Council.Choices(of)
	must(t, err)
	if len(can.Scopes) != 3 || can.Scopes[1].Scope != "project "+folder || can.Scopes[1].Set {
		t.Fatalf("a council can be set at %+v", can.Scopes)
	}
	must(t, w.Council.Set(of, can.Scopes[1].Scope, can.Presets[0].Council))
	project := "project " + folder
	// Where none is set, the first is that of the chat.
	for id, want := range map[string]string{of: project, in: project, out: "chat " + out, "": "next chat"} {
		if s, err := w.Council.Settings(id); err != nil || s.Scope != want {
			t.Errorf("the council of %q is that of %q, %v", id, s.Scope, err)
		}
	}
	kind(t, "another project's council", w.Council.Set(out, project, can.Presets[0].Council), fault.Invalid,
		"cannot be set there")

	must(t, w.Chats.SetProject(in, ""))
	if s, err := w.Council.Settings(in); err != nil || s.Scope != "chat "+in {
		t.Errorf("of no project any more, it has the council of %q, %v", s.Scope, err)
	}
	home, err := os.UserHomeDir()
	must(t, err)
	begun, err := w.Chats.Send("", window.Outgoing{Text: "Fourth?", System: "Be brief.", Project: ` "` + folder + `"`})
	must(t, err)
	w.over(begun.Conversation)
	if p := w.pull(begun.Conversation); p.Chat.Project != folder || p.Chat.System != "Be brief." {
		t.Errorf("a chat that begins with a project is %+v", p.Chat)
	}
	must(t, w.Chats.SetProject("", folder))
	kind(t, "a folder for a chat that is not begun", w.Chats.SetProject("", folder+"x"), fault.Invalid, "no folder")
	_, err = w.Chats.Send("", window.Outgoing{Text: "Fifth?", Project: folder + "x"})
	kind(t, "a chat in a folder that is gone", err, fault.Invalid, "no folder")
	kind(t, "the home folder", w.Chats.SetProject(in, home), fault.Invalid, "is no project")
	kind(t, "a folder that is not there", w.Chats.SetProject(in, filepath.Join(folder, "gone")), fault.Invalid,
		"There is no folder")
	kind(t, "a chat that is not there", w.Chats.SetProject("x", folder), fault.NotFound, "")
}

func TestARuleWrittenOnThePageHasAllThatOneOfTheTerminalHas(t *testing.T) {
	w := open(t, say("One.")).quiet()
	w.lend(answering("noted"), nil)
	folder, err := filepath.EvalSymlinks(t.TempDir())
	must(t, err)
	draft := window.RuleDraft{
		Effect: gate.Ask, Plugin: "notes", Tool: "*", Project: folder, Uses: 3, Until: "2999-12-24",
		Match: []window.MatchDraft{
			{Field: " amount ", Op: gate.AtMost, Value: "20 "},
			{Op: gate.Equals, Value: " "},
			{Field: "to", Op: gate.OneOf, Value: "ada\n\n bo \n"},
		},
	}
	undo, err := w.Permissions.AddRule(draft)
	must(t, err)
	rules, err := w.Permissions.Rules()
	must(t, err)
	want := "notes has to ask each time before it runs any of its tools, while amount is at most 20, while to is one of " +
		"“ada” and “bo”, in chats of the project " + folder + ", 3 more times, until December 25, 2999 00:00."
	if len(rules.Rules) != 1 || !strings.EqualFold(rules.Rules[0].Sentence, want) {
		t.Errorf("the rules are %+v,\nwant %s", rules.Rules, want)
	}
	if said := "The rule was made: " + want; !strings.EqualFold(undo.Sentence, said) {
		t.Errorf("it is said that %s, want %s", undo.Sentence, said)
	}
	for name, change := range map[string]func(*window.RuleDraft){
		"a day that was":     func(d *window.RuleDraft) { d.Until = "2020-01-01" },
		"no day":             func(d *window.RuleDraft) { d.Until = "tomorrow" },
		"less than one call": func(d *window.RuleDraft) { d.Uses = -1 },
		"no project":         func(d *window.RuleDraft) { d.Project = "/" },
		"one of none":        func(d *window.RuleDraft) { d.Match[2].Value = "" },
		"no argument":        func(d *window.RuleDraft) { d.Match[1].Value = "20" },
		"values of nothing":  func(d *window.RuleDraft) { d.Match[2].Field = " " },
	} {
		bad := draft
		bad.Match = slices.Clone(draft.Match)
		change(&bad)
		_, err := w.Permissions.AddRule(bad)
		if fault.KindOf(err) != fault.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheListOfChatsIsGroupedByProject(t *testing.T) {
	w := open(t, say("a"), say("b"), say("c"), say("d")).quiet()
	pinned, old, none, last := w.ask("", "Pinned"), w.ask("", "Old"), w.ask("", "None"), w.ask("", "Last")
	folder := t.TempDir()
	for _, err := range []error{
		w.Chats.SetPinned(pinned, true), w.Chats.SetProject(old, folder), w.Chats.SetProject(last, folder),
	} {
		must(t, err)
	}
	list, err := w.Chats.List(window.ChatQuery{Projects: true}, 0, 50)
	must(t, err)
	groups := []window.ChatGroup{
		{Key: "pinned", Count: 1}, {Key: "project:" + folder, Count: 2}, {Key: "project:", Count: 1},
	}
	if !slices.Equal(list.Groups, groups) || list.Total != 4 {
		t.Errorf("the groups of %d chats: %+v", list.Total, list.Groups)
	}
	for i, id := range []string{pinned, last, old, none} {
		if row, err := w.Chats.List(window.ChatQuery{Projects: true}, i, 1); err != nil || row.Rows[0].ID != id {
			t.Errorf("row %d: %+v, %v; want %s", i, row.Rows, err, id)
		}
	}
	if row, err := w.Chats.List(window.ChatQuery{Projects: true}, 9, 5); err != nil || len(row.Rows) != 0 {
		t.Errorf("behind the end: %+v, %v", row.Rows, err)
	}
}
