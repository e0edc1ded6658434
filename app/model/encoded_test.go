package model

import (
	"encoding/json"
	"hash/maphash"
	"testing"

	"conclave/app/chat"
)

func TestAMessageIsEncodedOnceUntilItChanges(t *testing.T) {
	var e Encoded
	var encoded int
	encode := func(m Message) ([]byte, error) {
		encoded++
		return json.Marshal(m.Parts)
	}
	ask := func(want string, messages ...Message) {
		t.Helper()
		got, err := e.Array(messages, "", encode)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v; want %s", got, err, want)
		}
	}
	said := func(text string) Message {
		return Message{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(text)}}
	}
	one, two := said("one"), said("two")
	ask(`[[{"kind":"text","text":"one"}]]`, one)
	ask(`[[{"kind":"text","text":"one"}],[{"kind":"text","text":"two"}]]`, one, two)
	if encoded != 2 {
		t.Errorf("%d messages were encoded, want 2", encoded)
	}
	one.Parts[0].Text = "uno" // in place, as a hook may
	ask(`[[{"kind":"text","text":"uno"}],[{"kind":"text","text":"two"}]]`, one, two)
	ask(`[]`)
	if encoded != 3 {
		t.Errorf("%d messages were encoded, want 3", encoded)
	}
}

func TestEachThingThatAVendorWritesTellsMessagesApart(t *testing.T) {
	seed := maphash.MakeSeed()
	part := func(p chat.Part) Message { return Message{Role: chat.RoleUser, Parts: []chat.Part{p}} }
	call := func(c chat.ToolCall) Message { return part(chat.Part{Call: &c}) }
	result := func(r chat.ToolResult) Message { return part(chat.Part{Result: &r}) }
	media := func(m chat.Media) Message { return part(chat.Part{Media: &m}) }
	seen := map[uint64]string{}
	for name, m := range map[string]Message{
		"nothing": {}, "role": {Role: chat.RoleUser}, "an empty part": part(chat.Part{}),
		"two parts": {Role: chat.RoleUser, Parts: make([]chat.Part, 2)},
		"kind":      part(chat.Part{Kind: chat.PartText}), "text": part(chat.Part{Text: "a"}),
		"vendor":              part(chat.Part{Vendor: map[string]json.RawMessage{"a": json.RawMessage(`1`)}}),
		"another vendor":      part(chat.Part{Vendor: map[string]json.RawMessage{"b": json.RawMessage(`1`)}}),
		"what a vendor wants": part(chat.Part{Vendor: map[string]json.RawMessage{"a": json.RawMessage(`2`)}}),
		"a call":              call(chat.ToolCall{}), "its id": call(chat.ToolCall{ID: "a"}),
		"its tool":          call(chat.ToolCall{Tool: "a"}),
		"its arguments":     call(chat.ToolCall{Arguments: json.RawMessage(`{}`)}),
		"its raw arguments": call(chat.ToolCall{Raw: "a"}),
		"a result":          result(chat.ToolResult{CallID: "a", Status: "x"}),
		"the tool of it":    result(chat.ToolResult{CallID: "a", Status: "x", Tool: "t"}),
		"its status":        result(chat.ToolResult{CallID: "a", Status: "y"}),
		"an error":          result(chat.ToolResult{CallID: "a", Status: "x", IsError: true}),
		"its content":       result(chat.ToolResult{CallID: "a", Status: "x", Content: []chat.Part{chat.TextPart("a")}}),
		"a file":            media(chat.Media{Size: 1}), "its type": media(chat.Media{Size: 1, MIME: "a"}),
		"its name": media(chat.Media{Size: 1, Name: "a"}), "its bytes": media(chat.Media{Size: 1, Data: []byte("a")}),
		"its number": media(chat.Media{Size: 1, ID: "a"}), "its size": media(chat.Media{Size: 2}),
	} {
		key := digest(seed, "", m)
		if before, taken := seen[key]; taken {
			t.Errorf("%s and %s are the same", name, before)
		}
		seen[key] = name
		if key == digest(seed, "as before", m) {
			t.Errorf("%s is the same under another name", name)
		}
	}
}
