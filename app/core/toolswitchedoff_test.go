package core

import (
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/llm/llmtest"
	"conclave/app/permit"
	"conclave/app/turn"
)

// A tool that the person switches off while an answer is written is not called by it any more,
// also where all its calls are allowed.
func TestAttackAToolThatIsSwitchedOffIsCalledByTheAnswerThatGoesOn(t *testing.T) {
	w := extension(t, runs("", `return "ran"`), "tools")
	_, err := w.Gate.Rules.Add(t.Context(), permit.Rule{
		Effect: permit.Allow, Plugin: "ext", Tool: "run", Scope: permit.Always, Callers: []permit.Caller{permit.Main},
	})
	must(t, err)
	found, _ := w.Tools.Set().ByID("ext:run")
	answer := func(off bool) (told []string) {
		model := llmtest.New([]llmtest.Step{llmtest.Call("c1", found.WireName, `{}`)},
			[]llmtest.Step{llmtest.Call("c2", found.WireName, `{}`)}, []llmtest.Step{llmtest.Say("Done.")})
		_, err := w.Conversations.Run(t.Context(), turn.Request{
			Conversation: w.chat(), Text: "Go.", Tools: w.Tools.Set().ForModel(), Model: model,
		}, func(e turn.Event) {
			if e.Kind == turn.Answered {
				told = append(told, e.Result.Text())
				if off {
					must(t, w.Host.SetToolEnabled(t.Context(), "ext", "run", false))
				}
			}
		})
		must(t, err)
		return told
	}
	told := answer(true)
	t.Logf("stopped by: %q", told)
	if len(told) != 2 || told[0] != "ran" || !strings.Contains(told[1], "switched off") {
		t.Errorf("the model was told %q", told)
	}
	if calls, err := w.Store.Calls(t.Context(), chat.CallFilter{}); err != nil || len(calls) != 2 {
		t.Errorf("on record are %+v, %v", calls, err)
	}
	must(t, w.Host.SetToolEnabled(t.Context(), "ext", "run", true))
	if told := answer(false); len(told) != 2 || told[1] != "ran" {
		t.Errorf("switched on it comes to %q", told)
	}
}
