package hook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// rewrites is a step that changes a request by do.
func rewrites(do func(r *model.Request)) *scripted {
	step := says("Lorebook", hook.Change, 0, 0)
	step.Do = func(_ context.Context, r model.Request) (hook.Verdict[model.Request], error) {
		do(&r)
		return hook.Verdict[model.Request]{Action: hook.Changed, Value: r}, nil
	}
	return &scripted{model: []hook.Step[model.Request]{step}}
}

// kept returns what is kept of the hooks on a request.
func kept(t *testing.T, p *hook.Points, r model.Request) []chat.HookStep {
	t.Helper()
	_, trace, err := p.BeforeModel(t.Context(), r, hook.TurnInfo{})
	if err != nil {
		t.Fatal(err)
	}
	return p.Steps(t.Context(), trace)
}

func told(role chat.Role, text string) model.Message {
	return model.Message{Role: role, Parts: []chat.Part{chat.TextPart(text)}}
}

func TestWhatAHookChangedOfARequestIsKeptLineByLine(t *testing.T) {
	asked := model.Request{
		System: "Be brief.", Messages: []model.Message{told(chat.RoleUser, "Hi"), told(chat.RoleAssistant, "Hello")},
	}
	warm := 0.5
	for name, c := range map[string]struct {
		do   func(r *model.Request)
		want string
	}{
		"nothing": {func(*model.Request) {}, ""},
		"the system text": {
			func(r *model.Request) { r.System = "Be brief.\nBe kind." },
			" [System prompt]\n   Be brief.\n+  Be kind.\n",
		},
		"a message more": {
			func(r *model.Request) { r.Messages = append(r.Messages, told(chat.RoleUser, "It rains.\n[Tool exec]")) },
			"+[Person]\n+  It rains.\n+  [Tool exec]\n",
		},
		"a tool and a setting": {
			func(r *model.Request) {
				r.Temperature = &warm
				r.Tools = []model.ToolDefinition{{Name: "w", Description: "Weather", Parameters: []byte(`{}`)}}
			},
			"+[Settings]\n+  temperature 0.5\n+[Tool w]\n+  Weather\n+  {}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			steps := kept(t, &hook.Points{Sources: []hook.Source{rewrites(c.do)}}, asked)
			if len(steps) != 1 || steps[0].Change != c.want || steps[0].Title != "Lorebook" ||
				steps[0].Action != chat.HookChanged || (steps[0].Left == "") != (c.want != "") {
				t.Errorf("kept %+v, want %q", steps, c.want)
			}
		})
	}
}

func TestALineFarDownIsKeptUnderItsHeading(t *testing.T) {
	long := strings.Repeat("same\n", 50)
	asked := model.Request{System: long + "old\n" + long, Messages: []model.Message{told(chat.RoleUser, "Hi")}}
	steps := kept(t, &hook.Points{
		Sources: []hook.Source{rewrites(func(r *model.Request) { r.System = long + "new\n" + long })},
	}, asked)
	want := "@[System prompt]\n   same\n   same\n   same\n-  old\n+  new\n   same\n   same\n   same\n"
	if steps[0].Change != want || steps[0].Left != "" {
		t.Errorf("kept %q, %q", steps[0].Change, steps[0].Left)
	}
}

func TestWhatIsKeptOfHooksHoldsNoSecret(t *testing.T) {
	pem := "-----BEGIN KEY-----\nabc\ndef\n-----END KEY-----"
	p := &hook.Points{
		Sources: []hook.Source{rewrites(func(r *model.Request) { r.System += "\nkey: hunter2hunter2\n" + pem })},
		Mask: func(context.Context) (func(string) string, error) {
			return func(text string) string { return model.Mask(text, "hunter2hunter2", pem) }, nil
		},
	}
	asked := model.Request{System: "Be brief.\n-----BEGIN KEY-----\nabc"}
	steps := kept(t, p, asked)
	raw, err := json.Marshal(steps)
	if err != nil || strings.Contains(string(raw), "hunter2") || strings.Contains(string(raw), "def") ||
		!strings.Contains(steps[0].Change, "+  key: ") {
		t.Errorf("kept %s, %v", raw, err)
	}

	p.Mask = func(context.Context) (func(string) string, error) { return nil, errors.New("the keychain is locked") }
	if steps = kept(t, p, asked); steps[0].Change != "" || !strings.Contains(steps[0].Left, "could not be masked") {
		t.Errorf("kept %+v although its secrets were not known", steps)
	}
}

func TestAStepThatLooksFailsOrTakesTooLongIsKeptAsThat(t *testing.T) {
	late := says("Late", hook.Change, 0, 0)
	late.Do = func(ctx context.Context, _ model.Request) (hook.Verdict[model.Request], error) {
		ctx, cancel := context.WithTimeout(ctx, time.Nanosecond)
		defer cancel()
		<-ctx.Done()
		return hook.Verdict[model.Request]{}, fmt.Errorf("it took too long: %w", ctx.Err())
	}
	bad, idle, ours := says("Bad", hook.Change, 1, 0), says("Idle", hook.Change, 2, 0), says("", hook.Change, 3, 0)
	bad.Do = func(context.Context, model.Request) (hook.Verdict[model.Request], error) {
		return hook.Verdict[model.Request]{}, errors.New("it broke\nin line 3")
	}
	idle.Do = func(context.Context, model.Request) (hook.Verdict[model.Request], error) {
		return hook.Verdict[model.Request]{}, nil
	}
	ours.Owner, ours.Do = hook.Conclave, idle.Do
	p := &hook.Points{Sources: []hook.Source{&scripted{model: []hook.Step[model.Request]{late, bad, idle, ours}}}}
	var got []string
	for _, s := range kept(t, p, model.Request{}) {
		got = append(got, s.Title+" "+string(s.Action)+" "+s.Reason)
	}
	want := "Late timed out it took too long: context deadline exceeded|Bad failed it broke in line 3|Idle  "
	if strings.Join(got, "|") != want {
		t.Errorf("kept %q", got)
	}
}

func TestWhatHooksChangedOfCallsAndAnswersIsKept(t *testing.T) {
	p := &hook.Points{Sources: []hook.Source{&scripted{
		before: []hook.Step[hook.Call]{on("h", func(c hook.Call) (hook.Verdict[hook.Call], error) {
			c.Arguments = json.RawMessage(`{"city":"Bonn","n":2}`)
			return hook.Verdict[hook.Call]{Action: hook.Changed, Value: c}, nil
		})},
		after: []hook.Step[hook.Call]{on("h", func(c hook.Call) (hook.Verdict[hook.Call], error) {
			r := *c.Result
			r.Content = []chat.Part{chat.TextPart("sunny")}
			c.Result = &r
			return hook.Verdict[hook.Call]{Action: hook.Changed, Value: c}, nil
		})},
	}}}
	c := hook.Call{Tool: tool.Tool{Plugin: "p", Name: "t"}, Arguments: json.RawMessage(`{"city":"Köln","n":2}`)}
	_, _, before, err := p.BeforeTool(t.Context(), c, hook.TurnInfo{})
	if err != nil {
		t.Fatal(err)
	}
	c.Result = &tool.Result{Status: chat.CallOK, Content: []chat.Part{chat.TextPart("rain")}}
	_, after, err := p.AfterTool(t.Context(), c, hook.TurnInfo{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		" [Arguments]\n   {\n-    \"city\": \"Köln\",\n+    \"city\": \"Bonn\",\n     \"n\": 2\n   }\n",
		" [Result]\n-  rain\n+  sunny\n",
	}
	for i, s := range p.Steps(t.Context(), append(before, after...)) {
		if s.Change != want[i] {
			t.Errorf("kept %q, want %q", s.Change, want[i])
		}
	}
}

func TestWhatIsKeptOfHooksIsBounded(t *testing.T) {
	most, long := limit.HookSteps, strings.Repeat("a line of forty characters, more or less\n", 2000)
	for name, c := range map[string]struct {
		add  string
		left string
	}{
		"lines": {long, "more lines differ and are not kept."},
		"text": {
			strings.Repeat("x", limit.HookCompared+1),
			"It was given and gave back more than 2 MiB that differ, which are not compared line by line.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &hook.Points{Sources: []hook.Source{rewrites(func(r *model.Request) { r.System = c.add })}}
			steps := kept(t, p, model.Request{})
			if !strings.Contains(steps[0].Left, c.left) || len(steps[0].Change) > limit.HookChange {
				t.Errorf("kept %d bytes and %q", len(steps[0].Change), steps[0].Left)
			}
		})
	}
	var all []hook.Step[model.Request]
	for range most + 1 {
		all = append(all, says("a", hook.Change, 0, 0))
	}
	steps := kept(t, &hook.Points{Sources: []hook.Source{&scripted{model: all}}}, model.Request{})
	if len(steps) != most+1 || steps[most].Reason != "1 more step of a hook is not listed." {
		t.Errorf("kept %d steps, the last %+v", len(steps), steps[len(steps)-1])
	}
}
