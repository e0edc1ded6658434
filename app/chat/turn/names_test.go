package turn

import (
	"context"
	"slices"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// whoRan answers each call with the plugin whose tool ran.
type whoRan struct{ plugin string }

func (w whoRan) Call(context.Context, tool.Call) (tool.Result, error) {
	return tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart(w.plugin)}}, nil
}

// reads publishes a plugin with the tool read_file.
func reads(r *tool.Registry, plugin string) {
	r.Publish(plugin, []tool.Tool{{Name: "read_file"}}, whoRan{plugin})
}

// asked runs a turn in a chat in which the model calls a tool, and returns the names that it
// was told of, and what the call returned.
func asked(t *testing.T, o Options, set *tool.Set, calls string) (names []string, result string) {
	t.Helper()
	m := modeltest.New([]modeltest.Step{modeltest.Call("c", calls, "{}")}, []modeltest.Step{modeltest.Say("Done.")})
	asks := Request{Conversation: "talk", Text: "Read it.", Model: m, Tools: set, ChainLimit: 5}
	out, err := New(o).Run(t.Context(), asks, nil)
	if err != nil || out.Err != nil {
		t.Fatal(err, out.Err)
	}
	requests := m.Requests()
	for _, d := range requests[0].Tools {
		names = append(names, d.Name)
	}
	messages := requests[1].Messages
	return names, messages[len(messages)-1].Parts[0].Result.Text()
}

func TestANameInAChatStaysThatOfItsToolWhateverPluginsComeAndGo(t *testing.T) {
	log := NewMemoryLog(chat.Conversation{ID: "talk"})
	o := Options{Log: log, Calls: calling(log)}
	r := tool.NewRegistry()
	reads(r, "editor")
	reads(r, "other")
	alone := r.Set().Filter(func(x tool.Tool) bool { return x.Plugin == "editor" })
	names, said := asked(t, o, alone, "read_file")
	if !slices.Equal(names, []string{"read_file"}) || said != "editor" {
		t.Errorf("the editor alone is offered as %q, and %q ran", names, said)
	}
	names, said = asked(t, o, r.Set(), "read_file")
	if !slices.Equal(names, []string{"read_file", "other__read_file"}) || said != "editor" {
		t.Errorf("with the other they are %q, and %q ran", names, said)
	}
	r.Unpublish("editor")
	names, said = asked(t, o, r.Set(), "read_file")
	if !slices.Equal(names, []string{"other__read_file"}) || said == "other" {
		t.Errorf("without the editor they are %q, and %q ran", names, said)
	}
	fresh := NewMemoryLog(chat.Conversation{ID: "talk"})
	names, said = asked(t, Options{Log: fresh, Calls: calling(fresh)}, r.Set(), "read_file")
	if !slices.Equal(names, []string{"read_file"}) || said != "other" {
		t.Errorf("in a new chat they are %q, and %q ran", names, said)
	}
}

func TestAChatOfAnOlderConclaveKeepsTheNamesOfItsCalls(t *testing.T) {
	log := NewMemoryLog(chat.Conversation{ID: "talk"})
	r := tool.NewRegistry()
	reads(r, "editor")
	asked(t, Options{Log: log, Calls: calling(log)}, r.Set(), "read_file")
	if err := log.UpdateConversation(t.Context(), "talk", func(c *chat.Conversation) { c.ToolNames = nil }); err != nil {
		t.Fatal(err)
	}
	r.Unpublish("editor")
	reads(r, "other")
	names, said := asked(t, Options{Log: log, Calls: calling(log)}, r.Set(), "read_file")
	if !slices.Equal(names, []string{"other__read_file"}) || said == "other" {
		t.Errorf("they are %q, and %q ran", names, said)
	}
}

// offering is a hook that offers a tool in each round.
type offering struct {
	hook.None
	offered tool.Tool
	refused error
}

func (o *offering) BeforeRound(_ context.Context, _ hook.TurnInfo, offer hook.Offer) []hook.Step[model.Request] {
	return []hook.Step[model.Request]{{
		Owner: hook.Owner{ID: o.offered.Plugin, Title: o.offered.Plugin},
		Do: func(_ context.Context, r model.Request) (hook.Verdict[model.Request], error) {
			if o.refused = offer(o.offered, whoRan{o.offered.Plugin}); o.refused == nil {
				r.Tools = append(r.Tools, model.ToolDefinition{Name: o.offered.WireName})
			}
			return hook.Verdict[model.Request]{Action: hook.Changed, Value: r}, nil
		},
	}}
}

func TestAHookOffersNoToolByTheNameOfOneThatIsGoneAndKeepsItsOwn(t *testing.T) {
	log := NewMemoryLog(chat.Conversation{ID: "talk"})
	r := tool.NewRegistry()
	reads(r, "editor")
	asked(t, Options{Log: log, Calls: calling(log)}, r.Set(), "read_file")
	r.Unpublish("editor")
	r.Publish("clock", []tool.Tool{{Name: "now"}}, whoRan{"clock"})
	by := &offering{offered: tool.Tool{Plugin: "hook", Name: "read_file", WireName: "read_file"}}
	with := Options{Log: log, Calls: calling(log), Points: &hook.Points{Sources: []hook.Source{by}}}
	names, said := asked(t, with, r.Set(), "read_file")
	if by.refused == nil || !slices.Equal(names, []string{"now"}) || said == "hook" {
		t.Errorf("the model is told of %q, and %q ran; the hook heard: %v", names, said, by.refused)
	}
	by.offered.Name, by.offered.WireName = "note", "note"
	if names, said = asked(t, with, r.Set(), "note"); by.refused != nil || said != "hook" {
		t.Errorf("the model is told of %q, and %q ran; the hook heard: %v", names, said, by.refused)
	}
	with.Points = nil
	r.Publish("other", []tool.Tool{{Name: "note"}}, whoRan{"other"})
	names, said = asked(t, with, r.Set(), "note")
	if !slices.Equal(names, []string{"now", "other__note"}) || said == "other" {
		t.Errorf("later the model is told of %q, and %q ran", names, said)
	}
}
