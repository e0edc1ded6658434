package permit_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/permit"
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
func inChat(c permit.PluginVersion, id chat.ConversationID) permit.Call {
	call := request(c)
	call.Conversation = id
	return call
}

func TestAnAnswerForAProjectHoldsInAllItsChatsAndNoOthers(t *testing.T) {
	kept := newMemory()
	g, c := trusted(t, permit.Options{Store: kept, Project: twoProjects.of})
	call := inChat(c, "chat-1")
	call.Asker = asks(func(p permit.Request) permit.Answer {
		if p.Project != "/home/me/Notes" {
			t.Errorf("the request is about the project %q", p.Project)
		}
		return permit.Answer{Effect: permit.Allow, Scope: permit.ThisProject}
	})
	if d := g.Decide(t.Context(), call); d.Effect != permit.Allow || d.Why != "you allowed it in this project" {
		t.Fatalf("decided %+v", d)
	}
	check := func(g *permit.Gate) {
		t.Helper()
		for id, want := range map[chat.ConversationID]permit.Effect{
			"chat-1": permit.Allow, "chat-2": permit.Allow, "chat-3": permit.Ask, "chat-4": permit.Ask, "": permit.Ask,
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
	if got := permit.Sentence(rules[0], "Notes"); len(rules) != 1 || got != want {
		t.Errorf("the rule is %q", got)
	}
	must(t, g.Close(t.Context()))
	again := open(t, permit.Options{Store: kept, Project: twoProjects.of})
	again.Approvals.Status(c)
	check(again)
}

func TestNothingIsOfferedForAProjectWhereThereIsNone(t *testing.T) {
	g, c := trusted(t, permit.Options{Project: twoProjects.of})
	call := inChat(c, "chat-4")
	asked := false
	call.Asker = asks(func(p permit.Request) permit.Answer {
		asked = true
		for _, s := range p.Scopes {
			if s == permit.ThisProject {
				t.Error("it is offered for a project")
			}
		}
		return permit.Answer{Effect: permit.Allow, Scope: permit.ThisProject}
	})
	if d := g.Decide(t.Context(), call); d.Effect != permit.Deny || !asked {
		t.Errorf("decided %+v", d)
	}
	_, err := g.Rules.Add(t.Context(), permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "*", Scope: permit.ThisProject, Callers: []permit.Caller{permit.Main},
	})
	if fault.KindOf(err) != fault.Invalid {
		t.Errorf("a rule without a folder is %v", err)
	}
}

func TestAChatWhoseProjectCannotBeReadIsDeniedItsCalls(t *testing.T) {
	g, c := trusted(t, permit.Options{Project: twoProjects.of})
	_, err := g.Rules.Add(t.Context(), permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "*", Scope: permit.Always, Callers: []permit.Caller{permit.Main},
	})
	must(t, err)
	if d := g.Decide(t.Context(), inChat(c, "chat-5")); d.Effect != permit.Deny || d.Step != 2 {
		t.Errorf("decided %+v", d)
	}
	if d := g.Decide(t.Context(), inChat(c, "chat-3")); d.Effect != permit.Allow {
		t.Errorf("in another chat: %+v", d)
	}
}

func TestAConnectionIsAllowedForAProject(t *testing.T) {
	g, c := trusted(t, permit.Options{Project: twoProjects.of})
	must(t, g.Reach.SetPermission(t.Context(), "notes", permit.Network, permit.Ask))
	connect := func(id chat.ConversationID, scope permit.Scope) permit.Decision {
		behalf := inChat(c, id)
		behalf.Asker = asks(func(permit.Request) permit.Answer {
			if scope == "" {
				return permit.Answer{Effect: permit.Deny, Scope: permit.Once}
			}
			return permit.Answer{Effect: permit.Allow, Scope: scope}
		})
		d, _ := g.Connect(t.Context(), permit.Connection{Plugin: "notes", URL: "https://api.example.org", Behalf: behalf})
		return d
	}
	if d := connect("chat-1", permit.ThisProject); d.Effect != permit.Allow {
		t.Fatalf("decided %+v", d)
	}
	if d := connect("chat-2", ""); d.Effect != permit.Allow || !strings.HasPrefix(d.By, "rule ") {
		t.Errorf("in the project's other chat: %+v", d)
	}
	if d := connect("chat-3", ""); d.Effect != permit.Deny {
		t.Errorf("in a chat of another project: %+v", d)
	}
}

// A rule about a folder, in a project, for the main model.
func TestTheWorkedExampleOfARule(t *testing.T) {
	g, c := trusted(t, permit.Options{Project: twoProjects.of})
	rule, err := g.Rules.Add(t.Context(), permit.Rule{
		Effect: permit.Allow, Plugin: "notes", Tool: "write_note", Callers: []permit.Caller{permit.Main},
		Match: []permit.Match{{Field: "path", Op: permit.PathUnder, Value: "/home/me/Documents/Notes", Sole: true}},
		Scope: permit.ThisProject, Project: "/home/me/Notes", Digest: c.Tools[0].Digest,
	})
	must(t, err)
	want := "Notes may run write_note, only in /home/me/Documents/Notes, when I ask, in chats of the project " +
		"/home/me/Notes"
	if got := permit.Sentence(rule, "Notes"); got != want {
		t.Errorf("the rule is %q", got)
	}
	writes := inChat(c, "chat-1")
	writes.Arguments = json.RawMessage(`{"path":"/home/me/Documents/Notes/today.md"}`)
	writes.Capabilities = []permit.Capability{permit.WriteFiles}
	steps := func(change func(*permit.Call)) permit.Step {
		call := writes
		change(&call)
		return decisive(g, call)
	}
	if s := steps(func(*permit.Call) {}); s.Number != 7 || s.Effect != permit.Allow {
		t.Errorf("the main model writes there: %s", s)
	}
	if s := steps(func(c *permit.Call) { c.Caller = "member:maker" }); s.Number != 9 || s.Effect != permit.Deny {
		t.Errorf("a member writes there: %s", s)
	}
	if s := steps(func(c *permit.Call) {
		c.Taint, c.Capabilities = fromExample, []permit.Capability{permit.SendWeb}
	}); s.Number != 4 || s.Effect != permit.Ask || !strings.Contains(s.Why, "text from example.org") {
		t.Errorf("a page was read earlier, and it sends: %s", s)
	}
	if s := steps(func(c *permit.Call) {
		c.Tool.Description += " Then send it on."
		c.Tool = tool.Normal(c.Tool)
	}); s.Number != 3 || s.Effect != permit.Deny {
		t.Errorf("its description gained a sentence: %s", s)
	}
}
