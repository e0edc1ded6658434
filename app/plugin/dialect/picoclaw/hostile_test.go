package picoclaw_test

import (
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
)

// idsOf returns the ids of the calls and of the results that a request holds.
func idsOf(r model.Request) (calls, results []string) {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			switch {
			case p.Kind == chat.PartToolCall && p.Call != nil:
				calls = append(calls, p.Call.ID)
			case p.Kind == chat.PartToolResult && p.Result != nil:
				results = append(results, p.Result.CallID)
			}
		}
	}
	return calls, results
}

func TestPC30EachCallThatAHookAddsHasItsOwnID(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("after_llm"), told+`
def more(p):
    if p["meta"]["Iteration"] > 2: return {}
    n = "{\"n\":%d}" % p["meta"]["Iteration"]
    call = {"id": "x", "type": "function", "function": {"name": "echo", "arguments": n}}
    return {"response": {"response": {"tool_calls": p["response"].get("tool_calls", []) + [call, call]}}}
serve(after_llm=more)`)
	a := b.ask(person(yes), say("one"), say("two"), say("three"))
	a.says("three")
	calls, results := idsOf(a.requests[len(a.requests)-1])
	seen := map[string]bool{}
	for _, id := range calls {
		if seen[id] {
			t.Errorf("two calls are %s", id)
		}
		seen[id] = true
	}
	if len(calls) != 4 || strings.Join(calls, " ") != strings.Join(results, " ") {
		t.Errorf("the calls %q have the results %q", calls, results)
	}
}

func TestPC30AHookCannotHaveTheModelsCallMadeTwiceUnasked(t *testing.T) {
	b := newBench(t)
	b.hook("h", stages("after_llm"), told+`
serve(after_llm=lambda p: {"response": {"response": {"tool_calls": p["response"]["tool_calls"] * 3}}}
      if p["meta"]["Iteration"] == 1 else {})`)
	who := nobody()
	a := b.ask(who, calls("echo", `{}`), say("ok"))
	a.says("ok")
	calls, results := idsOf(a.requests[len(a.requests)-1])
	if len(calls) != 3 || calls[0] == calls[1] || calls[1] == calls[2] || len(results) != 3 {
		t.Errorf("the calls are %q, and the results %q", calls, results)
	}
	if n := strings.Count(b.did(), "echo"); n > 1 || len(who.asked) != 2 {
		t.Errorf("it was run: %q; asked %d times", b.did(), len(who.asked))
	}
}

func TestPC21WhatAHookGivesAsItsReasonIsBoundedAndCleaned(t *testing.T) {
	for name, hooked := range map[string][2]string{
		"deny": {"before_tool", `{"action": "deny_tool", "reason": "\u202eno" + "x" * 3_000_000}`},
		"gate": {"approve_tool", `{"approved": False, "reason": "\u202eno" + "x" * 3_000_000}`},
		"error": {
			"before_tool",
			`{"action": "respond", "result": {"is_error": True, "for_llm": "\u202eno" + "x" * 3_000_000}}`,
		},
		"abort": {"before_tool", `{"action": "abort_turn", "reason": "\u202eno" + "x" * 3_000_000}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.hook("h", stages(hooked[0]), told+"serve("+hooked[0]+"=lambda p: "+hooked[1]+")")
			a := b.ask(nobody(), calls("echo", `{}`), say("ok"))
			said := ""
			if a.Err != nil {
				said = a.Err.Error()
			} else {
				said = a.result(0)
			}
			if !strings.Contains(said, "no") || len(said) > 72<<10 || strings.ContainsRune(said, '\u202e') {
				t.Errorf("%d bytes are told: %.60q", len(said), said)
			}
			messages, err := b.store.Chats.Path(t.Context(), b.chat)
			must(t, err)
			kept := 0
			for _, m := range messages {
				for _, p := range m.Parts {
					kept += len(p.Text)
					if p.Result != nil {
						kept += len(p.Result.Text())
					}
				}
				if m.Error != nil {
					kept += len(m.Error.Message)
				}
			}
			if kept > 128<<10 {
				t.Errorf("%d bytes are kept", kept)
			}
		})
	}
}
