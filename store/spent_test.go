package store_test

import (
	"testing"

	"conclave/app/chat"
	"conclave/store/storetest"
)

// Every answer counts once, also one that is not seen any more, and what a chat is
// imported with.
func TestAChatKnowsWhatEverythingInItTook(t *testing.T) {
	s := storetest.Open(t)
	c := chat.Conversation{}
	imported := []chat.Message{
		{Role: chat.RoleUser, State: chat.Complete},
		{Role: chat.RoleAssistant, State: chat.Complete, Usage: &chat.Usage{Input: 10, Output: 1, Cost: 0.5}},
	}
	must(t, s.Chats.ImportConversation(t.Context(), &c, imported))
	spent := func() chat.Usage {
		t.Helper()
		c, err := s.Chats.Conversation(t.Context(), c.ID)
		if err != nil || c.Spent == nil {
			t.Fatalf("the chat is %+v, %v", c, err)
		}
		return *c.Spent
	}
	if got := spent(); got.Input != 10 || got.Cost != 0.5 {
		t.Errorf("what was imported took %+v", got)
	}
	add := func(usage *chat.Usage) chat.MessageSeq {
		t.Helper()
		m := chat.Message{Conversation: c.ID, Parent: 1, Role: chat.RoleAssistant, State: chat.Complete, Usage: usage}
		must(t, s.Chats.Append(t.Context(), &m))
		return m.Seq
	}
	add(&chat.Usage{Input: 20, Output: 2, Cost: 1})
	later := add(nil) // one that streams says at its end what it took
	for range 2 {     // and is written again, as when it is hidden
		must(t, s.Chats.UpdateMessages(t.Context(), c.ID, []chat.MessageSeq{later}, func(m []chat.Message) error {
			m[0].Usage = &chat.Usage{Input: 5, Output: 5}
			return nil
		}))
	}
	if got := spent(); got != (chat.Usage{Input: 35, Output: 8, Cost: 1.5, Unpriced: 10}) {
		t.Errorf("everything took %+v", got)
	}
	// A chat of an older version has no sum: its next answer makes one.
	err := s.Chats.UpdateConversation(t.Context(), c.ID, func(c *chat.Conversation) {
		c.Spent, c.TitleUsage = nil, &chat.Usage{Input: 1, Cost: 0.25}
	})
	must(t, err)
	add(&chat.Usage{Input: 4, Cost: 0.25})
	if got := spent(); got != (chat.Usage{Input: 40, Output: 8, Cost: 2, Unpriced: 10}) {
		t.Errorf("everything in an older chat took %+v", got)
	}
}
