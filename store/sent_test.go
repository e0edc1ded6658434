package store_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"
)

func TestTheRequestsThatAreKeptOfAChatAreBounded(t *testing.T) {
	now := time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)
	s := storetest.OpenWith(t, store.Options{Dir: t.TempDir(), Now: func() time.Time { return now }})
	ctx := t.Context()
	var c, other chat.Conversation
	must(t, s.Chats.CreateConversation(ctx, &c))
	must(t, s.Chats.CreateConversation(ctx, &other))
	random := rand.NewChaCha8([32]byte{})
	answer := func(c chat.Conversation, size int) (chat.MessageSeq, []byte) {
		body := make([]byte, size) // which cannot be packed
		_, _ = random.Read(body)
		m := chat.Message{
			Conversation: c.ID, Role: chat.RoleAssistant, State: chat.Complete, Created: now, Ended: now,
			Sent: [][]byte{body},
		}
		must(t, s.Chats.Append(ctx, &m))
		return m.Seq, body
	}
	kept := func(c chat.Conversation, seq chat.MessageSeq, want []byte) {
		t.Helper()
		got, err := s.Chats.Sent(ctx, c.ID, seq)
		if want == nil {
			kind(t, err, fault.NotFound)
		} else if must(t, err); !bytes.Equal(got, want) {
			t.Errorf("%d bytes are kept, not %d", len(got), len(want))
		}
	}
	elsewhere, there := answer(other, 1000)
	third := limit.SentRequests / 3
	first, one := answer(c, third)
	second, two := answer(c, third)
	kept(c, first, one)
	last, three := answer(c, third)
	kept(c, first, nil)
	kept(c, second, two)
	kept(c, last, three)
	kept(other, elsewhere, there)

	// One that is written again without a request keeps it.
	must(t, s.Chats.UpdateMessages(ctx, c.ID, []chat.MessageSeq{last}, func(m []chat.Message) error {
		m[0].Hidden = true
		return nil
	}))
	kept(c, last, three)

	// A message without one has none, and neither has a chat that is gone.
	m := chat.Message{Conversation: c.ID, Role: chat.RoleAssistant, State: chat.Complete}
	must(t, s.Chats.Append(ctx, &m))
	kept(c, m.Seq, nil)
	token, err := s.Chats.DeleteConversation(ctx, other.ID)
	must(t, err)
	must(t, s.Chats.Purge(ctx, token))
	kept(other, elsewhere, nil)

	now = now.Add(31 * 24 * time.Hour)
	must(t, s.CleanSent(ctx))
	kept(c, last, nil)
}

func TestARequestThatWaitsIsKeptAlthoughWhoAskedForOneWentAway(t *testing.T) {
	s := storetest.Open(t)
	var c chat.Conversation
	must(t, s.Chats.CreateConversation(t.Context(), &c))
	m := chat.Message{
		Conversation: c.ID, Role: chat.RoleAssistant, State: chat.Complete, Open: true,
		Sent: [][]byte{[]byte("request")},
	}
	must(t, s.Chats.Append(t.Context(), &m))
	gone, leave := context.WithCancel(t.Context())
	leave()
	if _, err := s.Chats.Sent(gone, c.ID, m.Seq); err == nil {
		t.Error("who went away got an answer")
	}
	got, err := s.Chats.Sent(t.Context(), c.ID, m.Seq)
	if err != nil || string(got) != "request" {
		t.Errorf("then it is %q, %v", got, err)
	}
}
