package service

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"conclave/app/chat"
	"conclave/app/council"
)

func TestSP48PluginsReadTheCouncilAsItIsSet(t *testing.T) {
	f := newFixture(t)
	var c council.Council
	must(t, json.Unmarshal([]byte(`{"councilMode": true, "later": [1], "helper": {"model": "paid/big"}, "members": [
		{"id": "ada", "itemName": "Ada", "itemId": "i", "packId": "p", "packName": "P", "role": "Analyst", "chance": 50,
			"tools": ["look:look"], "hat": "red", "model": "paid/big", "persona": {"definition": "A mathematician."}},
		{"id": "off", "name": "Off", "off": true}],
		"toolsSettings": {"timeoutMs": 5000, "mood": "calm"}}`), &c))
	f.s.o.Council = func(_ context.Context, id chat.ConversationID) (council.Council, error) {
		if id != f.open.ID {
			return council.Default(), nil
		}
		return c, nil
	}
	f.all = f.s.All()
	var told struct {
		Settings map[string]any `json:"settings"`
	}
	must(t, json.Unmarshal([]byte(f.ask(f.caller("a"), "council.settings", `{}`)), &told))
	want := `{"councilMode":true,"later":[1],"members":[{"chance":50,"hat":"red","id":"ada","itemId":"i",` +
		`"itemName":"Ada",` +
		`"name":"Ada","packId":"p","packName":"P","role":"Analyst","tools":["look:look"]},{"chance":100,"id":"off",` +
		`"name":"Off","role":"","tools":[]}],"toolsSettings":{"allowUserControl":false,"excludeLatestUserMessage":false,` +
		`"includeCharacterInfo":true,"includeUserPersona":true,"includeWorldInfo":true,"maxWordsPerTool":250,` +
		`"mode":"sidecar","mood":"calm","retainResultsForRegens":false,"sidecarContextWindow":25,"timeoutMs":15000}}`
	if got, _ := json.Marshal(told.Settings); string(got) != want {
		t.Errorf("the settings are\n%s", got)
	}
	f.wants(f.caller("a"), "council.members", `{}`, `{"members":[{"memberId":"ada","itemId":"i","packId":"p",`+
		`"packName":"P","name":"Ada","role":"Analyst","chance":50,"avatarUrl":null,"definition":"A mathematician."`)
	f.wants(f.caller("a"), "council.personas", `{}`,
		`{"items":[{"itemId":"i","itemName":"Ada","packId":"p","packName":"P"}]}`)
	elsewhere := f.caller("a")
	elsewhere.Conversation = "another"
	f.wants(elsewhere, "council.settings", `{}`, `"councilMode":false`)
}

func TestBackgroundIsThePersonaInUseAndWhatTheNewestMessagesName(t *testing.T) {
	f := newFixture(t)
	by := f.caller("a", "personas", "world_books")
	f.wants(by, "personas.create", `{"fields": {"name": "Old", "description": "no"}}`, "id")
	f.wants(by, "personas.create",
		`{"fields": {"name": "Mia", "title": "Captain", "description": "Brave.", "is_default": true}}`, "id")
	var book struct{ Item struct{ ID string } }
	must(t, json.Unmarshal([]byte(f.ask(by, "world_books.create", `{"fields": {"name": "Sea"}}`)), &book))
	for _, fields := range []string{
		`{"key": ["Harbour"], "content": "It freezes.", "comment": "The harbour"}`,
		`{"key": ["whale"], "content": "Not named."}`,
		`{"constant": true, "content": "Always."}`,
		`{"key": ["harbour"], "content": "Switched off.", "disabled": true}`,
		`{"key": ["ship"], "keysecondary": ["anchor"], "selective": true, "content": "Half."}`,
		`{"key": ["ship"], "keysecondary": ["mast"], "selective": true, "content": "Both."}`,
		fmt.Sprintf(`{"constant": true, "content": %q}`, strings.Repeat("x", maxWorld)),
	} {
		f.wants(by, "world_books.entries.create", fmt.Sprintf(`{"parent": %q, "fields": %s}`, book.Item.ID, fields), "id")
	}
	said := func(role chat.Role, text string) chat.Message {
		return chat.Message{Role: role, Parts: []chat.Part{chat.TextPart(text)}}
	}
	got, err := f.s.Memory.Background(t.Context(), f.open.ID, []chat.Message{
		said(chat.RoleUser, "Is the HARBOUR open?"), said(chat.RoleAssistant, "Your ship has a mast."),
		said(chat.RoleTool, "whale"),
		{Role: chat.RoleUser, Hidden: true, Parts: []chat.Part{chat.TextPart("anchor")}},
	})
	must(t, err)
	from := []chat.Origin{chat.NewOrigin(chat.FromPlugin, "Plugin a")}
	want := []council.Background{
		{Kind: "persona", Title: "Mia", Text: "Mia\nCaptain\nBrave.", Origins: from},
		{Kind: "world", Title: "The harbour", Text: "It freezes.", Origins: from},
		{Kind: "world", Text: "Always.", Origins: from},
		{Kind: "world", Title: "ship", Text: "Both.", Origins: from},
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("it is\n%v, want\n%v", got, want)
	}
}
