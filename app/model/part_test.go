package model

import (
	"slices"
	"testing"

	"conclave/app/chat"
)

func TestNeighboursOfOneRoleBecomeOneMessage(t *testing.T) {
	says := func(role chat.Role, texts ...string) Message {
		m := Message{Role: role}
		for _, text := range texts {
			m.Parts = append(m.Parts, chat.TextPart(text))
		}
		return m
	}
	given := says(chat.RoleUser, "a", "b", "c")
	given.Parts = given.Parts[:2] // there is room behind them, which is another's
	all := Join(nil, given)
	for _, m := range []Message{
		says(chat.RoleUser, "d"), says(chat.RoleAssistant), says(chat.RoleUser, "e"), says(chat.RoleAssistant, "f"),
		says(chat.RoleUser, "g"),
	} {
		all = Join(all, m)
	}
	var got []string
	for _, m := range all {
		got = append(got, string(m.Role)+": "+chat.TextOf(m.Parts))
	}
	if want := []string{"user: a\nb\nd\ne", "assistant: f", "user: g"}; !slices.Equal(got, want) {
		t.Errorf("joined to %q", got)
	}
	if left := given.Parts[:3]; chat.TextOf(left) != "a\nb\nc" {
		t.Errorf("what was given became %q", chat.TextOf(left))
	}
}
