package model

import (
	"encoding/json"
	"hash/maphash"
	"strings"
	"testing"

	"conclave/app/chat"
)

func TestAMessageIsEncodedOnceUntilItChanges(t *testing.T) {
	var e Encoded
	var encoded int
	encode := func(to []byte, m Message) ([]byte, error) {
		encoded++
		if len(m.Parts) == 0 {
			return to, nil
		}
		raw, err := json.Marshal(m.Parts)
		return append(to, raw...), err
	}
	bodies := map[string]Body{}
	ask := func(want string, first string, messages ...Message) {
		t.Helper()
		in := Envelope{Member: "messages", First: []byte(first), Rest: []byte(`{"stream":true}`)}
		got, err := e.Body(messages, in, encode)
		want = `{"messages":[` + want + `],"stream":true}`
		if err != nil || string(got.Bytes()) != want {
			t.Errorf("got %s, %v; want %s", got.Bytes(), err, want)
		}
		bodies[want] = got
	}
	once := func(want int) {
		t.Helper()
		if encoded != want {
			t.Errorf("%d messages were encoded, want %d", encoded, want)
		}
	}
	said := func(text string) Message {
		return Message{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(text)}}
	}
	called := Message{Role: chat.RoleTool, Parts: []chat.Part{{Call: &chat.ToolCall{ID: "a"}}}}
	const first, second = `[{"kind":"text","text":"one"}]`, `[{"kind":"text","text":"two"}]`
	const third = `[{"kind":"","call":{"id":"a","tool":"","arguments":null}}]`
	one, two := said("one"), said("two")
	ask(first, "", one)
	ask(first+","+second, "", one, Message{}, two)
	ask(first+","+second+","+third, "", one, Message{}, two, called)
	once(4)
	ask(`0,`+first+","+second+","+third, "0", one, two, called)
	ask(first+","+third+","+second, "", one, called, two)
	once(4)
	one.Parts[0].Text = "uno" // in place, as a hook may
	ask(`[{"kind":"text","text":"uno"}],`+third+","+second, "", one, called, two)
	once(5)
	called.Parts[0].Call.ID = "b"
	ask(`[{"kind":"text","text":"uno"}],`+strings.Replace(third, `"a"`, `"b"`, 1), "", one, called)
	once(6)
	ask(``, "")
	ask(`0`, "0")
	once(6)
	for want, body := range bodies {
		if string(body.Bytes()) != want {
			t.Errorf("a body that was sent is %s now, and was %s", body.Bytes(), want)
		}
	}
}

func TestATextIsWrittenAsEncodingJSONWritesIt(t *testing.T) {
	for _, text := range []string{
		"", "Hello.", "a \"b\" \\ c\n\r\td", "<b>&'", "\x00", "\b\f", "\x7f", "\u2028", "日本 😀",
		"a\xffb", "\ufffd", "\n", "a\n\u2029",
	} {
		var want strings.Builder
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(text); err != nil {
			t.Fatal(err)
		}
		if got := string(AppendText([]byte("to"), text)) + "\n"; got != "to"+want.String() {
			t.Errorf("%q is %s, want %s", text, got, want.String())
		}
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

func TestTokensAreCountedOncePerMessageAndAsTextTokensCountsThem(t *testing.T) {
	var e Encoded
	r := Request{System: "Be brief."}
	for i := range 3 {
		r.Messages = append(r.Messages, Message{
			Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(strings.Repeat("word ", 100*i+1))},
		})
		_, err := e.Body(r.Messages, Envelope{Member: "m"}, func(to []byte, m Message) ([]byte, error) {
			return AppendText(to, chat.TextOf(m.Parts)), nil
		})
		if got, want := e.Tokens(r), TextTokens(r); err != nil || got != want {
			t.Errorf("%d messages: %d tokens, want %d (%v)", i+1, got, want, err)
		}
		for n := range e.known {
			if !e.known[n].counted {
				t.Errorf("message %d is counted each time", n)
			}
		}
	}
	other := Request{Messages: []Message{{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart("Something else.")}}}}
	if got, want := e.Tokens(other), TextTokens(other); got != want {
		t.Errorf("another request: %d tokens, want %d", got, want)
	}
}
