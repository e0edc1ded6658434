package service

import (
	"encoding/json"
	"strings"
	"testing"

	"conclave/app/chat"
)

func TestAToolOfAMemberReadsAsMuchOfTheChatAsTheMember(t *testing.T) {
	f := newFixture(t)
	last := chat.MessageSeq(0)
	for _, text := range []string{"SECRET question", "The question."} {
		m := chat.Message{
			Conversation: f.open.ID, Parent: last, Turn: "t", Role: chat.RoleUser, State: chat.Complete,
			Parts: []chat.Part{chat.TextPart(text)},
		}
		must(t, f.store.Chats.Append(t.Context(), &m))
		last = m.Seq
	}
	other := chat.Conversation{Title: "SECRET other"}
	must(t, f.store.Chats.CreateConversation(t.Context(), &other))
	must(t, f.store.Chats.UpdateConversation(t.Context(), f.open.ID, func(c *chat.Conversation) {
		c.Title, c.System = "SECRET title", "SECRET system"
	}))
	f.s.o.Given = func(call string) (Given, bool) {
		return Given{Message: func(m chat.Message) bool { return m.Seq == last }}, call == "member's"
	}
	by := f.caller("a", chats, chatMutation)
	by.Conversation, by.Call, by.Open = f.open.ID, "member's", []string{"member's"}
	for _, name := range []string{"chats.update", "chats.append", "chats.edit", "chats.remove"} {
		f.wants(by, name, `{"title":"x","role":"user","content":"x","message":"1"}`,
			"not_allowed: A member of the council changes no chats.")
	}
	for _, name := range []string{"chats.active", "chats.list", "chats.messages"} {
		got := f.ask(by, name, `{}`)
		if strings.Contains(got, "SECRET") || !strings.Contains(got, string(f.open.ID)) {
			t.Errorf("%s says %s", name, got)
		}
	}
	f.wants(by, "chats.messages", `{}`, `"content":"The question."`)
	for _, name := range []string{"chats.get", "chats.messages"} {
		if got := f.ask(by, name, `{"chat":"`+string(other.ID)+`"}`); strings.Contains(got, "SECRET") {
			t.Errorf("%s of another chat says %s", name, got)
		}
	}
	by.Call, by.Open = "the main model's", []string{"the main model's"}
	f.wants(by, "chats.messages", `{}`, "SECRET question")
}

// C14: which of several open calls a process asks in is known of none for certain.
func TestAMembersViewHoldsWhicheverOfItsOpenCallsAPluginNames(t *testing.T) {
	f := newFixture(t)
	last := chat.MessageSeq(0)
	for _, text := range []string{"SECRET question", "Told to Ada.", "Told to both."} {
		m := chat.Message{
			Conversation: f.open.ID, Parent: last, Turn: "t", Role: chat.RoleUser, State: chat.Complete,
			Parts: []chat.Part{chat.TextPart(text)},
		}
		must(t, f.store.Chats.Append(t.Context(), &m))
		last = m.Seq
	}
	f.s.o.Given = func(call string) (Given, bool) {
		from, is := map[string]chat.MessageSeq{"ada's": last - 1, "bo's": last}[call]
		return Given{Message: func(m chat.Message) bool { return m.Seq >= from }}, is
	}
	by := f.caller("a", chats, chatMutation)
	by.Conversation, by.Open = f.open.ID, []string{"hook-1", "the main model's", "ada's", "bo's"}
	for _, by.Call = range []string{"", "the main model's", "ada's", "nobody's"} {
		f.wants(by, "chats.append", `{"role":"user","content":"x"}`, "A member of the council changes no chats.")
		got := f.ask(by, "chats.messages", `{}`)
		if !strings.Contains(got, "Told to both.") || strings.Contains(got, "SECRET") || strings.Contains(got, "Ada") {
			t.Errorf("as %q it reads %s", by.Call, got)
		}
	}
}

func TestAToolOfAMemberFindsNothingOutsideTheChatThatTheMemberIsNotGiven(t *testing.T) {
	f := newFixture(t)
	f.s.o.Given = func(call string) (Given, bool) {
		return Given{Message: func(chat.Message) bool { return true }, Memory: call == "bo's"}, call != "the main model's"
	}
	by := f.caller("a", "personas", "characters", "world_books")
	by.Conversation = f.open.ID
	made := map[string]string{}
	for _, kind := range []string{"personas", "characters", "world_books"} {
		var answer struct {
			Item record `json:"item"`
		}
		must(t, json.Unmarshal([]byte(f.ask(by, kind+".create", `{"fields":{"name":"SECRET"}}`)), &answer))
		made[kind] = answer.Item.ID
	}
	book := made["world_books"]
	var entry struct {
		Item record `json:"item"`
	}
	must(t, json.Unmarshal([]byte(f.ask(by, "world_books.entries.create",
		`{"parent":"`+book+`","fields":{"content":"SECRET"}}`)), &entry))
	made["world_books.entries"] = entry.Item.ID
	for _, scope := range []string{"chat", "local", "global"} {
		f.wants(by, "variables.set", `{"scope":"`+scope+`","key":"k","value":"`+scope+` SECRET"}`, `{}`)
	}
	f.all["macros.resolve"] = f.s.Resolve(&Prompt{Hooks: &scripted{}, Granted: func(string, string) bool { return false }})
	const template = `{"text":"-{{setvar::k::mine}}{{getvar::k}}{{getchatvar::k}}-{{getglobalvar::k}}","commit":true}`
	const changes = "not_allowed: A member of the council that is given no memory changes none of it."
	for _, open := range [][]string{{"ada's"}, {"the main model's", "bo's", "ada's"}} {
		by.Open = open
		for kind, id := range made {
			f.wants(by, kind+".list", `{"parent":"`+book+`"}`, `{"items":[],"total":0}`)
			f.wants(by, kind+".get", `{"id":"`+id+`"}`, `{"item":null}`)
			for _, verb := range []string{"create", "update", "delete"} {
				f.wants(by, kind+"."+verb, `{"id":"`+id+`","parent":"`+book+`","fields":{"name":"x"}}`, changes)
			}
		}
		for _, scope := range []string{"chat", "local"} {
			f.wants(by, "variables.get", `{"scope":"`+scope+`","key":"k"}`, `{"value":null}`)
			f.wants(by, "variables.list", `{"scope":"`+scope+`"}`, `{"values":{}}`)
			f.wants(by, "variables.set", `{"scope":"`+scope+`","key":"k","value":"x"}`, changes)
			f.wants(by, "variables.delete", `{"scope":"`+scope+`","key":"k"}`, changes)
		}
		f.wants(by, "variables.get", `{"scope":"global","key":"k"}`, "global SECRET") // of no chat
		f.wants(by, "macros.resolve", template, `"text":"--global SECRET"`)
	}
	by.Open = []string{"bo's"}
	for kind, id := range made {
		f.wants(by, kind+".get", `{"id":"`+id+`"}`, "SECRET")
	}
	f.wants(by, "variables.get", `{"scope":"chat","key":"k"}`, "chat SECRET")
	f.wants(by, "variables.get", `{"scope":"local","key":"k"}`, "local SECRET")
}
