package mcp_test

import (
	"context"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool/elicit"
)

// asks is a server that asks the client the question that a call names, and answers with what it got.
const asks = `
import json, sys
def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()
can = {}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method, params = message["method"], message.get("params") or {}
    if method == "initialize":
        can = params["capabilities"]
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                  "serverInfo": {"name": "asks", "version": "1"}}
    elif method == "tools/list":
        names = ["ask", "samples"] if "sampling" in can else ["ask"]
        result = {"tools": [{"name": n, "description": "Asks.", "inputSchema": {"type": "object"}} for n in names]}
    elif method == "tools/call":
        arguments = params["arguments"]
        if arguments["method"] == "can":
            got = sorted(can)
        else:
            send({"id": "q1", **arguments})
            got = json.loads(sys.stdin.readline())
            got = got.get("result", got.get("error"))
        result = {"content": [{"type": "text", "text": json.dumps(got, sort_keys=True)}]}
    else:
        send({"id": message["id"], "error": {"code": -32601, "message": "no"}})
        continue
    send({"id": message["id"], "result": result})
`

// asking is a bench with that server, approved, whose person answers so.
func asking(t *testing.T, granted []string, person func(elicit.Question) elicit.Answer) *bench {
	t.Helper()
	b := newBenchWith(t, func(b *bench) {
		b.person = func(_ context.Context, q elicit.Question) elicit.Answer { return person(q) }
		b.services = map[string]plugin.Service{"models.generate": {
			Permission: gate.Generation,
			Do: func(_ context.Context, by plugin.Caller, args json.RawMessage) (any, error) {
				var a struct {
					Messages   []struct{ Role string }
					Parameters map[string]any
				}
				if err := json.Unmarshal(args, &a); err != nil || by.Plugin != "a" || len(a.Messages) != 2 ||
					a.Messages[0].Role != "system" || a.Parameters["max_tokens"] != 8192.0 {
					t.Errorf("%s asks a model with %s, %v", by.Plugin, args, err)
				}
				return map[string]any{"content": "Blue.", "finish_reason": "stop", "model": "mine/large"}, nil
			},
		}}
	})
	write(t, filepath.Join(b.scripts, "asks.py"), asks)
	b.save("a.mcp.json", map[string]any{"a": map[string]any{
		"command": python, "args": []string{filepath.Join(b.scripts, "asks.py")},
	}})
	for _, p := range granted {
		must(t, b.gate.Reach.SetPermission(t.Context(), "a", p, gate.Allow))
	}
	b.approve("a")
	b.ready("a")
	return b
}

// answered returns what the server got for a question.
func (b *bench) answered(method, params string) string {
	b.t.Helper()
	r := b.call(b.t.Context(), "a:ask", `{"method":"`+method+`","params":`+params+`}`)
	return textOf(r) + r.Error
}

const colour = `{"message":"Which colour?","requestedSchema":{"type":"object",
	"properties":{"colour":{"type":"string"}},"required":["colour"]}}`

func TestMC57AFormReachesThePersonAndItsAnswerTheServer(t *testing.T) {
	b := asking(t, nil, func(q elicit.Question) elicit.Answer {
		if q.Plugin != "a" || q.Tool != "Ask" || q.Message != "Which colour?" || len(q.Fields) != 1 ||
			!q.Fields[0].Required {
			t.Errorf("the person sees %+v", q)
		}
		return elicit.Answer{Action: elicit.Accept, Values: map[string]any{"colour": "red"}}
	})
	if got := b.answered("elicitation/create", colour); got != `{"action": "accept", "content": {"colour": "red"}}` {
		t.Errorf("the server got %s", got)
	}
	asked, sent := false, ""
	for _, line := range b.host.Traffic("a") {
		asked = asked || strings.HasPrefix(line.Text, "← ") && strings.Contains(line.Text, "Which colour?")
		if strings.HasPrefix(line.Text, "→ ") {
			sent += line.Text + "\n"
		}
	}
	if !asked || !strings.Contains(sent, `"method":"tools/call"`) || strings.Contains(sent, `"red"`) ||
		!strings.Contains(sent, "what the person answered is left out") {
		t.Errorf("a question is shown: %v, and these are sent:\n%s", asked, sent)
	}
}

const sampling = `{"systemPrompt":"Be short.","maxTokens":100000,
	"messages":[{"role":"user","content":{"type":"text","text":"Sky?"}}]}`

func TestMC61AServerAsksNoModelUnlessThatIsGranted(t *testing.T) {
	b := asking(t, nil, func(q elicit.Question) elicit.Answer {
		t.Errorf("the person is asked %+v", q)
		return elicit.Answer{Action: elicit.Accept}
	})
	if got := b.answered("sampling/createMessage", sampling); !strings.Contains(got, `"code"`) {
		t.Errorf("the server got %s", got)
	}
	if got := b.answered("can", "{}"); got != `["elicitation"]` {
		t.Errorf("the client says that it can %s", got)
	}
}

func TestMC56ANewlyGrantedPermissionReachesTheServerWithItsNextStart(t *testing.T) {
	b := asking(t, nil, func(elicit.Question) elicit.Answer { return elicit.Answer{Action: elicit.Cancel} })
	if got := b.answered("can", "{}"); got != `["elicitation"]` {
		t.Fatalf("the client says that it can %s", got)
	}
	must(t, b.gate.Reach.SetPermission(t.Context(), "a", gate.Generation, gate.Allow))
	must(t, b.host.Reload("a"))
	must(t, b.host.WaitIdle(t.Context()))
	b.approve("a")
	r := b.call(t.Context(), "a:samples", `{"method":"can"}`)
	if got := textOf(r) + r.Error; got != `["elicitation", "sampling"]` {
		t.Errorf("got %s", got)
	}
}

func TestMC61EachRequestToAModelIsShownUntilThePersonAllowsMore(t *testing.T) {
	var asked []string
	b := asking(t, []string{gate.Generation}, func(q elicit.Question) elicit.Answer {
		asked = append(asked, q.Message)
		if len(asked) == 1 {
			return elicit.Answer{Action: elicit.Decline}
		}
		return elicit.Answer{Action: elicit.Accept, Values: map[string]any{"again": true}}
	})
	if got := b.answered("sampling/createMessage", sampling); !strings.Contains(got, "rejected") {
		t.Errorf("declined, the server got %s", got)
	}
	for range 3 {
		got := b.answered("sampling/createMessage", sampling)
		if !strings.Contains(got, `"text": "Blue."`) || !strings.Contains(got, `"model": "mine/large"`) {
			t.Errorf("the server got %s", got)
		}
	}
	if len(asked) != 2 {
		t.Errorf("the person was asked %d times", len(asked))
	}
	for _, want := range []string{"up to 8192 tokens", "system: Be short.", "user: Sky?"} {
		if !strings.Contains(asked[0], want) {
			t.Errorf("the question lacks %q: %s", want, asked[0])
		}
	}
}

func TestMC61TheAnswerOfAModelIsShownFirstWhereThePersonWants(t *testing.T) {
	var asked []string
	var last elicit.Action
	b := asking(t, []string{gate.Generation}, func(q elicit.Question) elicit.Answer {
		asked = append(asked, q.Message)
		if len(asked)%2 == 0 {
			return elicit.Answer{Action: last}
		}
		return elicit.Answer{Action: elicit.Accept, Values: map[string]any{"look": true}}
	})
	for action, want := range map[elicit.Action]string{elicit.Accept: `"text": "Blue."`, elicit.Decline: "rejected"} {
		last = action
		if got := b.answered("sampling/createMessage", sampling); !strings.Contains(got, want) ||
			strings.Contains(got, "Blue.") != (action == elicit.Accept) {
			t.Errorf("after %s the server got %s", action, got)
		}
	}
	if len(asked) != 4 || !strings.HasPrefix(asked[1], "mine/large wrote this.") || !strings.Contains(asked[1], "Blue.") {
		t.Errorf("the person saw %q", asked)
	}
}

func TestMC63RootsAreTheFoldersThatThePersonGranted(t *testing.T) {
	folder := t.TempDir()
	b := asking(t, nil, func(elicit.Question) elicit.Answer { return elicit.Answer{Action: elicit.Cancel} })
	if _, err := b.gate.Reach.GrantFolder(t.Context(), "a", gate.Folder{Path: folder}); err != nil {
		t.Fatal(err)
	}
	must(t, b.host.WaitIdle(t.Context()))
	want := `{"roots": [{"name": "` + filepath.Base(folder) + `", "uri": "file://` + folder + `"}]}`
	if got := b.answered("roots/list", "{}"); got != want {
		t.Errorf("the server got %s, want %s", got, want)
	}
}
