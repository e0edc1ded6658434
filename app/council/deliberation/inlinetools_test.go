package deliberation

import (
	"context"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model/modeltest"
	"conclave/app/tool"
)

func TestSP38ToolsOfMembersAndTheModelsOwnAreOfferedAndCalledTogether(t *testing.T) {
	b := newToolBench(t)
	set := b.work.tools
	c := council.Council{
		Enabled: true, Mode: council.Tools, Tool: council.ToolSettings{Mode: council.Inline},
		Members: []council.Member{
			{ID: "ada", Name: "Ada L.", Role: "Analyst", Chance: 0, // inline there are no dice
				Tools: []string{"p:look", "p:read", "p:look", "p:secret", "p:gone", "voice_concern"}},
			{ID: "bo", Name: "Bo", Tools: []string{"p:look", "p:raise"}},
			{ID: "nil", Name: "Nil", Off: true, Tools: []string{"p:look"}},
		},
	}
	offered, inline := inlineTools(c, "", set, set.Filter(func(t tool.Tool) bool { return t.Name == "look" }))
	names := map[string]string{} // to the member
	for _, each := range offered.Tools() {
		names[each.WireName] = each.Member
		if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(each.WireName) {
			t.Errorf("SP-37: a provider is told of %q", each.WireName)
		}
	}
	want := map[string]string{
		"look": "", "Ada_L___look": "ada", "Ada_L___read": "ada", "Bo__look": "bo", "Bo__raise": "bo",
	}
	if len(names) != len(want) || len(inline) != 2 {
		t.Fatalf("offered are %v", names)
	}
	for name, member := range want {
		if got, ok := names[name]; !ok || got != member {
			t.Errorf("%s is of %q, and there are %v", name, got, names)
		}
	}
	if found, _ := offered.ByWire("Ada_L___look"); found.Description != "For Ada L. (Analyst): Does look." {
		t.Errorf("it is described as %q", found.Description)
	}

	alone, bos := inlineTools(c, "bo", set, nil)
	if _, adas := bos["ada"]; alone.Len() != 2 || adas {
		t.Errorf("Bo is asked by name, and offered are %+v", alone.Tools())
	}

	var got []tool.Call
	b.onCall = func(c tool.Call) { got = append(got, c) }
	main := modeltest.New([]modeltest.Step{
		modeltest.Call("1", "look", `{"deep":true}`), modeltest.Call("2", "Ada_L___read", `{"city":"Oslo","userId":"x"}`),
		modeltest.Call("3", "Bo__raise", `{}`),
	}, []modeltest.Step{modeltest.Say("It is warm.")})
	log := turn.NewMemoryLog(chat.Conversation{ID: "c", System: "Be brief."})
	runner := turn.New(turn.Options{Log: log, Calls: b.work.calls})
	out, err := runner.Run(context.WithoutCancel(t.Context()), turn.Request{
		Conversation: "c", Text: "Is it warm?", Model: main, Tools: offered, Inline: inline, ChainLimit: 5, Caller: "person",
		Asker: gate.AlwaysAsker{},
	}, nil)
	if err != nil || out.Reason != chat.EndDone || chat.TextOf(out.Message.Parts) != "It is warm." {
		t.Fatalf("SP-36: it ended %+v, %v", out, err)
	}
	if len(main.Requests()[0].Tools) != 5 {
		t.Errorf("the model was offered %+v", main.Requests()[0].Tools)
	}
	byName := map[string]tool.Call{}
	for _, c := range got {
		byName[c.Tool.Name] = c
	}
	own, adas := byName["look"], byName["read"]
	var member map[string]any
	if err := json.Unmarshal(adas.CouncilMember, &member); err != nil || member["name"] != "Ada L." || len(member) != 12 ||
		own.CouncilMember != nil || string(own.Arguments) != `{"deep":true}` {
		t.Errorf("the calls were %+v and %+v", own, adas)
	}
	if n := len(adas.ContextMessages); n != 2 || adas.ContextMessages[n-1].Content != "Is it warm?" ||
		!strings.Contains(string(adas.Arguments), `"city":"Oslo"`) {
		t.Errorf("SP-26: Ada's was called with %s and %+v", adas.Arguments, adas.ContextMessages)
	}
	callers, called := map[string]string{}, map[string]string{}
	for _, r := range b.log.Calls() {
		callers[r.ToolName] = r.Caller
	}
	for _, r := range log.Calls() {
		callers[r.ToolName], called[r.ToolName] = r.Caller, r.CallerName
	}
	if callers["look"] != "person" || callers["Ada_L___read"] != "member:ada" || callers["Bo__raise"] != "member:bo" {
		t.Errorf("the callers are %v", callers)
	}
	if called["look"] != "" || called["Ada_L___read"] != "Ada L." {
		t.Errorf("on record the callers are called %v", called)
	}
	results := main.Requests()[1].Messages[2].Parts
	if len(results) != 3 || !results[2].Result.IsError || results[2].Result.Text() != "Error: no" {
		t.Errorf("SP-36: the model was given %+v", results)
	}
}

func TestAMemberWithoutToolsForTheMainModelAddsNothing(t *testing.T) {
	b := newToolBench(t)
	c := council.Council{Mode: council.Tools, Members: []council.Member{
		{ID: "ada", Name: "Ada", Tools: []string{"voice_concern"}},
	}}
	if offered, inline := inlineTools(c, "", b.work.tools, nil); offered != nil || inline != nil {
		t.Errorf("offered are %v, %v", offered, inline)
	}
	c.Members[0].Tools = []string{"p:look"}
	if offered, inline := inlineTools(c, "", b.work.tools, nil); offered.Len() != 1 || inline["ada"].Name != "Ada" {
		t.Errorf("to a model without tools are offered %v, %v", offered, inline)
	}
}
