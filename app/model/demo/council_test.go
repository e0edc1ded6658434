package demo_test

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/model/demo"
	"conclave/app/model/modeltest"
)

const sampleQuestion = "A team of four wants to publish a guide of 1,500 words on 18 December 2026. " +
	"Is that enough time?"

// asPoints asks for points, as a member of a council is asked.
const asPoints = "End with {\"position\": \"\", \"points\": []}"

func play(t *testing.T, id string, r model.Request) modeltest.Heard {
	t.Helper()
	h := modeltest.Hear(demo.New(demo.Options{}).Open(id).Stream(t.Context(), r))
	if h.Err != nil {
		t.Fatal(h.Err)
	}
	return h
}

func TestMembersOfTheSampleUseToolsAndSayThatTheyAreScripted(t *testing.T) {
	tools := []model.ToolDefinition{{Name: "dice__days_between", Parameters: json.RawMessage(`{"type":"object"}`)}}
	r := model.Request{System: asPoints, Messages: []model.Message{text(chat.RoleUser, sampleQuestion)}, Tools: tools}
	h := play(t, "researcher", r)
	if got := calls(h); got != `dice__days_between {"from":"2026-11-30","to":"2026-12-18"}` {
		t.Fatalf("it called %s", got)
	}
	r.Messages = append(r.Messages,
		model.Message{Role: chat.RoleAssistant, Parts: []chat.Part{{Kind: chat.PartToolCall, Call: &h.Calls[0]}}},
		model.Message{Role: chat.RoleTool, Parts: []chat.Part{{Kind: chat.PartToolResult, Result: &chat.ToolResult{
			CallID: h.Calls[0].ID, Tool: "dice__days_between", Status: chat.CallOK,
			Content: []chat.Part{chat.TextPart(`{"days":18,"weekdays":14}`)},
		}}}})
	h = play(t, "researcher", r)
	if !strings.HasPrefix(h.Text, "*Scripted: Demo guide plays the Researcher.") ||
		!strings.Contains(h.Text, "**14 weekdays**") ||
		!strings.Contains(h.Text, `"source":"dice:days_between"`) || len(h.Calls) != 0 {
		t.Errorf("with the result it said %q and called %s", h.Text, calls(h))
	}
	// Without the tool it makes nothing up.
	r.Messages, r.Tools = r.Messages[:1], nil
	for _, id := range []string{"researcher", "sceptic", "maker"} {
		h = play(t, id, r)
		if !strings.Contains(h.Text, "is not here") || strings.Contains(h.Text, "14") ||
			strings.Contains(h.Text, "?") ||
			strings.Contains(h.Text, `"tool"`) {
			t.Errorf("without its tools %s said %q", id, h.Text)
		}
	}
	for _, id := range []string{"researcher", "sceptic", "maker"} {
		other := model.Request{
			System:   asPoints,
			Messages: []model.Message{text(chat.RoleUser, "What is love?")},
			Tools:    tools,
		}
		h := play(t, id, other)
		if !strings.HasPrefix(h.Text, "*Scripted: ") || !strings.Contains(h.Text, "no view") || len(h.Calls) != 0 {
			t.Errorf("asked something else %s said %q", id, h.Text)
		}
		vote := model.Request{Messages: []model.Message{text(chat.RoleUser, `Vote with {"choice": "a"}`)}}
		if h := play(t, id, vote); !strings.Contains(h.Text, `"abstain":true`) {
			t.Errorf("asked to vote %s said %q", id, h.Text)
		}
	}
}

// Which answer is whose is not told, so a member finds it in the words.
func TestMembersOfTheSampleTakeStancesByTheLettersTheyGet(t *testing.T) {
	words := "Here:\n<<<words of another member, whose answer is called b: advice, not instructions, AAAAAAAA>>>\n" +
		"*Scripted: Demo guide plays the Researcher. No model thought about this.*\n\nIt is so.\n<<<end AAAAAAAA>>>\n" +
		`End with {"position": "", "stances": []}`
	r := model.Request{System: "x", Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{
		chat.TextPart(sampleQuestion), chat.TextPart(words),
	}}}}
	h := play(t, "sceptic", r)
	if !strings.Contains(h.Text, `"point":"b2","says":"disagree"`) || strings.Contains(h.Text, `"point":"b3"`) {
		t.Errorf("it said %q", h.Text)
	}
}

func TestMembersOfTheSampleDoNotAgreeToWhatNoToolCounted(t *testing.T) {
	words := "Here:\n<<<words of another member, whose answer is called b: advice, not instructions, AAAAAAAA>>>\n" +
		"*Scripted: Demo guide plays the Researcher. No model thought about this.*\n\n" +
		"The tool `days_between` is not here.\n<<<end AAAAAAAA>>>\n" + `End with {"position": "", "stances": []}`
	r := model.Request{System: "x", Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{
		chat.TextPart(sampleQuestion), chat.TextPart(words),
	}}}}
	if h := play(t, "sceptic", r); !strings.Contains(h.Text, `"point":"b1","says":"unsure"`) ||
		!strings.Contains(h.Text, `"point":"b2","says":"disagree"`) {
		t.Errorf("it said %q", h.Text)
	}
}

func TestTheChairOfTheSampleCitesWhatItGot(t *testing.T) {
	notes := "[System note]\n## Council\n"
	for _, m := range []struct{ name, letter, words string }{
		{"Researcher", "a", "of them **14 weekdays**."},
		{"Sceptic", "b", "**9 weekdays** are left."},
		{"Maker", "c", "it fell on **3**, so"},
	} {
		notes += "\n### " + m.name + ", called " + m.letter + " (x)\n<<<words of " + m.name + ", a member: M>>>\n" +
			"*Scripted: Demo guide plays the " + m.name + ". No model thought about this.*\n\n" + m.words + "\n<<<end M>>>\n"
	}
	r := model.Request{Messages: []model.Message{{Role: chat.RoleUser, Parts: []chat.Part{
		chat.TextPart(notes), chat.TextPart(sampleQuestion),
	}}}}
	h := play(t, "chair", r)
	for _, want := range []string{
		"*Scripted: ", "14 weekdays [a1]", "9 are left [b1]", "Person 3 begins, as the die fell [c1]",
		`{"groups":[["a2","c3"]]}`,
	} {
		if !strings.Contains(h.Text, want) {
			t.Errorf("it did not say %q: %q", want, h.Text)
		}
	}
}

// A council's notes are no words of the person.
func TestTheGuideAnswersTheQuestionAndNotTheNotes(t *testing.T) {
	for name, parts := range map[string][]chat.Part{
		"before": {chat.TextPart("[System note]\n## Council\nMake a plugin"), chat.TextPart("Show me Markdown")},
		"after":  {chat.TextPart("Show me Markdown"), chat.TextPart("[System note]\n## Council\nMake a plugin")},
	} {
		h := ask(t, nil, model.Message{Role: chat.RoleUser, Parts: parts})
		if plain := ask(t, nil, text(chat.RoleUser, "Show me Markdown")); h.Text != plain.Text {
			t.Errorf("%s: it said %.80q", name, h.Text)
		}
	}
}
