package chat_test

import (
	"encoding/json"
	"slices"
	"testing"

	"conclave/app/chat"
)

func TestAPersonWroteAnAddressOnlyAsAWhole(t *testing.T) {
	const text = "See https://a.example/x?y=1. And (https://b.example/Go_(language)), " +
		"c.example/page; <https://d.example>, " +
		"https://e.example/?to=https://f.example/ https://g.example/a.b"
	for address, want := range map[string]bool{
		"https://a.example/x?y=1":           true,
		"https://b.example/Go_(language)":   true,
		"https://c.example/page":            true,
		"https://d.example":                 true,
		"https://d.example/":                true,
		"https://g.example/a.b":             true,
		"https://a.example/x?y=1&s=secret":  false,
		"https://a.example/x":               false,
		"https://a.example/":                false,
		"https://b.example/Go_":             false,
		"http://c.example/page":             false,
		"https://c.example/page/secret":     false,
		"https://f.example/":                false,
		"https://g.example/a":               false,
		"https://d.example/secret":          false,
		"https://secret@d.example":          false,
		"https://secret.d.example":          false,
		"https://a.example/x?y=1#secret":    false,
		"https://evil.example/?a.example/x": false,
		"://":                               false,
	} {
		path := []chat.Message{{Role: chat.RoleUser, Parts: []chat.Part{chat.TextPart(text)}}}
		arguments, err := json.Marshal(map[string]any{"where": []string{address}})
		if err != nil {
			t.Fatal(err)
		}
		if got := chat.Wrote(chat.Conversation{}, path, arguments); slices.Contains(got, address) != want {
			t.Errorf("%s: %v", address, got)
		}
	}
}

func TestAnAddressIsThePersonsUntilACallWasMadeWithIt(t *testing.T) {
	const address = "https://a.example/x"
	arguments := json.RawMessage(`{"url":"` + address + `"}`)
	message := func(role chat.Role, text string) chat.Message {
		return chat.Message{Role: role, Parts: []chat.Part{chat.TextPart(text)}}
	}
	asks := chat.Message{Role: chat.RoleAssistant, Parts: []chat.Part{{
		Kind: chat.PartToolCall, Call: &chat.ToolCall{Arguments: arguments},
	}}}
	raw := chat.Message{Role: chat.RoleAssistant, Parts: []chat.Part{{
		Kind: chat.PartToolCall, Call: &chat.ToolCall{Arguments: json.RawMessage("{}"), Raw: "url=" + address},
	}}}
	said, told := message(chat.RoleUser, "Read "+address), message(chat.RoleTool, address)
	foreign, attached := said, said
	foreign.Origins = []chat.Origin{chat.NewOrigin(chat.FromPlugin, "Ext")}
	attached.Parts = []chat.Part{{Kind: chat.PartMedia, Media: &chat.Media{Name: address}}}
	for name, c := range map[string]struct {
		path []chat.Message
		want bool
	}{
		"the person wrote it":              {[]chat.Message{said}, true},
		"the call is being made":           {[]chat.Message{said, asks}, true},
		"it was made":                      {[]chat.Message{said, asks, told, asks}, false},
		"it was made with other arguments": {[]chat.Message{said, raw, told}, false},
		"written again":                    {[]chat.Message{said, asks, told, said, asks}, true},
		"the model wrote it":               {[]chat.Message{message(chat.RoleAssistant, address), asks}, false},
		"a tool returned it":               {[]chat.Message{told, asks}, false},
		"a plugin wrote it":                {[]chat.Message{foreign, asks}, false},
		"a file has that name":             {[]chat.Message{attached, asks}, false},
		"the system text has it":           {[]chat.Message{message(chat.RoleSystem, address), asks}, false},
	} {
		got := chat.Wrote(chat.Conversation{}, c.path, arguments)
		if slices.Equal(got, []string{address}) != c.want || len(got) > 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
	imported := chat.Conversation{Origins: []chat.Origin{chat.NewOrigin(chat.FromImport, "chat.json")}}
	if got := chat.Wrote(imported, []chat.Message{said}, arguments); got != nil {
		t.Errorf("of an imported chat: %v", got)
	}
}
