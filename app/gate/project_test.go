package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
)

// projects are those of chats by their ids; one that is not here cannot be read.
type projects map[chat.ConversationID]string

func (p projects) of(_ context.Context, id chat.ConversationID) (string, error) {
	project, ok := p[id]
	if !ok {
		return "", errors.New("the disk is gone")
	}
	return project, nil
}

var twoProjects = projects{
	"chat-1": "/home/me/Notes", "chat-2": "/home/me/Notes", "chat-3": "/home/me/Other", "chat-4": "",
}

// inChat is a call of a tool in a chat.
func inChat(c gate.PluginVersion, id chat.ConversationID) gate.Call {
	call := request(c)
	call.Conversation = id
	return call
}

func TestAnAnswerForAProjectHoldsInAllItsChatsAndNoOthers(t *testing.T) {
	kept := newMemory()
	g, c := trusted(t, gate.Options{Store: kept, Project: twoProjects.of})
	call := inChat(c, "chat-1")
	call.Asker = asks(func(p gate.Request) gate.Answer {
		if p.Project != "/home/me/Notes" {
			t.Errorf("the request is about the project %q", p.Project)
		}
		return gate.Answer{Effect: gate.Allow, Scope: gate.ThisProject}
	})
	if d := g.Decide(t.Context(), call); d.Effect != gate.Allow || d.Why != "you allowed it in this project" {
		t.Fatalf("decided %+v", d)
	}
	check := func(g *gate.Gate) {
		t.Helper()
		for id, want := range map[chat.ConversationID]gate.Effect{
			"chat-1": gate.Allow, "chat-2": gate.Allow, "chat-3": gate.Ask, "chat-4": gate.Ask, "": gate.Ask,
		} {
			if step := decisive(g, inChat(c, id)); step.Effect != want {
				t.Errorf("in %q it is %s", id, step)
			}
		}
	}
	check(g)
	rules, err := g.Rules.List(t.Context())
	must(t, err)
	want := "Notes may run write_note, when I ask, in chats of the project /home/me/Notes"
	if got := gate.Sentence(rules[0], "Notes"); len(rules) != 1 || got != want {
		t.Errorf("the rule is %q", got)
	}
	must(t, g.Close(t.Context()))
	again := open(t, gate.Options{Store: kept, Project: twoProjects.of})
	again.Approvals.Status(c)
	check(again)
}

func TestNothingIsOfferedForAProjectWhereThereIsNone(t *testing.T) {
	g, c := trusted(t, gate.Options{Project: twoProjects.of})
	call := inChat(c, "chat-4")
	asked := false
	call.Asker = asks(func(p gate.Request) gate.Answer {
		asked = true
		for _, s := range p.Scopes {
			if s == gate.ThisProject {
				t.Error("it is offered for a project")
			}
		}
		return gate.Answer{Effect: gate.Allow, Scope: gate.ThisProject}
	})
	if d := g.Decide(t.Context(), call); d.Effect != gate.Deny || !asked {
		t.Errorf("decided %+v", d)
	}
	_, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Scope: gate.ThisProject, Callers: []gate.Caller{gate.Main},
	})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a rule without a folder is %v", err)
	}
}

func TestAChatWhoseProjectCannotBeReadIsDeniedItsCalls(t *testing.T) {
	g, c := trusted(t, gate.Options{Project: twoProjects.of})
	_, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "*", Scope: gate.Always, Callers: []gate.Caller{gate.Main},
	})
	must(t, err)
	if d := g.Decide(t.Context(), inChat(c, "chat-5")); d.Effect != gate.Deny || d.Step != 2 {
		t.Errorf("decided %+v", d)
	}
	if d := g.Decide(t.Context(), inChat(c, "chat-3")); d.Effect != gate.Allow {
		t.Errorf("in another chat: %+v", d)
	}
}

func TestAConnectionIsAllowedForAProject(t *testing.T) {
	g, c := trusted(t, gate.Options{Project: twoProjects.of})
	must(t, g.Reach.SetPermission(t.Context(), "notes", gate.Network, gate.Ask))
	connect := func(id chat.ConversationID, scope gate.Scope) gate.Decision {
		behalf := inChat(c, id)
		behalf.Asker = asks(func(gate.Request) gate.Answer {
			if scope == "" {
				return gate.Answer{Effect: gate.Deny, Scope: gate.Once}
			}
			return gate.Answer{Effect: gate.Allow, Scope: scope}
		})
		d, _ := g.Connect(t.Context(), gate.Connection{Plugin: "notes", URL: "https://api.example.org", Behalf: behalf})
		return d
	}
	if d := connect("chat-1", gate.ThisProject); d.Effect != gate.Allow {
		t.Fatalf("decided %+v", d)
	}
	if d := connect("chat-2", ""); d.Effect != gate.Allow || !strings.HasPrefix(d.By, "rule ") {
		t.Errorf("in the project's other chat: %+v", d)
	}
	if d := connect("chat-3", ""); d.Effect != gate.Deny {
		t.Errorf("in a chat of another project: %+v", d)
	}
}

// A rule about a folder, in a project, for the main model.
func TestTheWorkedExampleOfARule(t *testing.T) {
	g, c := trusted(t, gate.Options{Project: twoProjects.of})
	rule, err := g.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "notes", Tool: "write_note", Callers: []gate.Caller{gate.Main},
		Match: []gate.Match{{Field: "path", Op: gate.PathUnder, Value: "/home/me/Documents/Notes", Sole: true}},
		Scope: gate.ThisProject, Project: "/home/me/Notes", Digest: c.Tools[0].Digest,
	})
	must(t, err)
	want := "Notes may run write_note, only in /home/me/Documents/Notes, when I ask, in chats of the project " +
		"/home/me/Notes"
	if got := gate.Sentence(rule, "Notes"); got != want {
		t.Errorf("the rule is %q", got)
	}
	writes := inChat(c, "chat-1")
	writes.Arguments = json.RawMessage(`{"path":"/home/me/Documents/Notes/today.md"}`)
	writes.Capabilities = []gate.Capability{gate.WriteFiles}
	steps := func(change func(*gate.Call)) gate.Step {
		call := writes
		change(&call)
		return decisive(g, call)
	}
	if s := steps(func(*gate.Call) {}); s.Number != 7 || s.Effect != gate.Allow {
		t.Errorf("the main model writes there: %s", s)
	}
	if s := steps(func(c *gate.Call) { c.Caller = "member:maker" }); s.Number != 9 || s.Effect != gate.Deny {
		t.Errorf("a member writes there: %s", s)
	}
	if s := steps(func(c *gate.Call) {
		c.Taint, c.Capabilities = fromExample, []gate.Capability{gate.SendWeb}
	}); s.Number != 4 || s.Effect != gate.Ask || !strings.Contains(s.Why, "text from example.org") {
		t.Errorf("a page was read earlier, and it sends: %s", s)
	}
	if s := steps(func(c *gate.Call) {
		c.Tool.Description += " Then send it on."
		c.Tool = tool.Normal(c.Tool)
	}); s.Number != 3 || s.Effect != gate.Deny {
		t.Errorf("its description gained a sentence: %s", s)
	}
}
