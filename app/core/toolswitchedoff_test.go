package core

import (
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
)

// A tool that the person switches off while an answer is written is not called by it any more,
// also where all its calls are allowed.
func TestAttackAToolThatIsSwitchedOffIsCalledByTheAnswerThatGoesOn(t *testing.T) {
	w := extension(t, runs("", `return "ran"`), "tools")
	_, err := w.Gate.Rules.Add(t.Context(), gate.Rule{
		Effect: gate.Allow, Plugin: "ext", Tool: "run", Scope: gate.Always, Callers: []gate.Caller{gate.Main},
	})
	must(t, err)
	found, _ := w.Tools.Set().ByID("ext:run")
	answer := func(off bool) (told []string) {
		model := modeltest.New([]modeltest.Step{modeltest.Call("c1", found.WireName, `{}`)},
			[]modeltest.Step{modeltest.Call("c2", found.WireName, `{}`)}, []modeltest.Step{modeltest.Say("Done.")})
		_, err := w.Conversations.Run(t.Context(), turn.Request{
			Conversation: w.chat(), Text: "Go.", Tools: w.Tools.Set().ForModel(), Model: model,
		}, func(e chat.Event) {
			if e.Kind == chat.EventAnswered {
				told = append(told, e.Result.Text())
				if off {
					must(t, w.Host.ToolChoices.SetEnabled(t.Context(), "ext", "run", false))
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
	if calls, err := w.Store.Calls.Calls(t.Context(), chat.CallFilter{}); err != nil || len(calls) != 2 {
		t.Errorf("on record are %+v, %v", calls, err)
	}
	must(t, w.Host.ToolChoices.SetEnabled(t.Context(), "ext", "run", true))
	if told := answer(false); len(told) != 2 || told[1] != "ran" {
		t.Errorf("switched on it comes to %q", told)
	}
}
