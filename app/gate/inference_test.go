package gate_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/tool"
)

// Of a plugin that may write in a folder, a tool deletes there if it says so, by its name or
// its hints, or did it before; a person can allow the others for longer than once.
func TestWhichToolsDeleteIsInferredAndSaidToBe(t *testing.T) {
	l := newMemory()
	tools := map[string]tool.Tool{}
	define := func(c *gate.PluginVersion) {
		c.Permissions = []string{"tools", "filesystem"}
		for name, about := range map[string]tool.Tool{
			"delete_note": {}, "deleteNote": {}, "note_rm": {}, "n1": {Title: "Remove a note"}, "删除笔记": {}, "n2": {Title: "清空"},
			"hinted": {Annotations: json.RawMessage(`{"destructiveHint":true}`)},
			"safe":   {Annotations: json.RawMessage(`{"destructiveHint":false,"readOnlyHint":true}`)},
			"broken": {Annotations: json.RawMessage(`{"destructiveHint":"yes"}`)},
			"formal": {}, "list_deleted": {}, "clearance": {},
		} {
			about.Plugin, about.Name, about.Description = "notes", name, "It does not delete."
			c.Tools = append(c.Tools, tool.Normal(about))
		}
		for _, one := range c.Tools {
			tools[one.Name] = one
		}
	}
	g, c := trusted(t, gate.Options{Store: l}, define)
	if can := g.Reach.Can(tools["delete_note"]); !slices.Equal(can, []string{"keeps its own files"}) {
		t.Errorf("without a folder it can %q", can)
	}
	_, err := g.Reach.GrantFolder(t.Context(), c.Plugin, gate.Folder{Path: t.TempDir(), Write: true})
	must(t, err)
	asked := func(g *gate.Gate, name string) gate.Request {
		t.Helper()
		return refused(t, g, gate.Call{ID: "1", Caller: gate.Main, Tool: tools[name], Conversation: "chat"})
	}
	for name, why := range map[string]string{
		"delete_note": "by its name", "deleteNote": "by its name", "note_rm": "by its name", "n1": "by its name",
		"删除笔记": "by its name", "n2": "by its name", "hinted": "it says so",
	} {
		q := asked(g, name)
		if !slices.Contains(g.Reach.Can(tools[name]), "delete ("+why+")") || len(q.Scopes) != 1 ||
			!strings.Contains(q.Reason, "it could delete files ("+why+"), which is asked each time") {
			t.Errorf("%s can %q; asked %v: %s", name, g.Reach.Can(tools[name]), q.Scopes, q.Reason)
		}
	}
	for _, name := range []string{"write_note", "read_note", "safe", "broken", "formal", "list_deleted", "clearance"} {
		q := asked(g, name)
		if slices.Contains(q.Capabilities, gate.Delete) || !slices.Contains(q.Capabilities, gate.WriteFiles) ||
			!slices.Contains(q.Scopes, gate.Always) {
			t.Errorf("%s can %q; asked %v", name, g.Reach.Can(tools[name]), q.Scopes)
		}
	}
	g.Rules.MarkDeleting("notes:formal")
	must(t, g.Close(t.Context()))
	again := open(t, gate.Options{Store: l})
	again.Approvals.Status(c)
	for _, g := range []*gate.Gate{g, again} {
		if q := asked(g, "formal"); len(q.Scopes) != 1 || q.Inferred[gate.Delete] != "it did before" {
			t.Errorf("after it deleted something: %+v", q)
		}
	}
	for _, row := range again.Decisions.Matrix() {
		for _, cell := range row.Cells {
			if want := map[bool]int{true: 8, false: len(c.Tools)}[cell.Capability == gate.Delete]; cell.Tools != want {
				t.Errorf("%d tools can %s, want %d", cell.Tools, cell.Capability, want)
			}
		}
	}
}
