package store_test

import (
	"fmt"
	"testing"

	"conclave/app/chat"
	"conclave/store/storetest"
)

func TestOnlyRecordsThatCouldHoldThePhraseAreRead(t *testing.T) {
	s := storetest.Open(t)
	c := newChat(t, s, "chat")
	parent := chat.MessageSeq(0)
	for i := range 40 {
		text := fmt.Sprintf("message %d", i)
		if i%10 == 0 {
			text += " about a Needle — “quoted”"
		}
		parent = say(t, s, c.ID, parent, chat.RoleUser, text).Seq
	}
	other := newChat(t, s, "another chat")
	say(t, s, other.ID, 0, chat.RoleUser, "another needle")
	for phrase, want := range map[string]int{
		"needle": 4, "A NEEDLE": 4, "missing": 0, "needle — “quoted”": 4, "“quoted”": 40,
	} {
		found, err := s.Chats.Holding(t.Context(), c.ID, phrase)
		must(t, err)
		if len(found) != want {
			t.Errorf("%q: %d messages, want %d", phrase, len(found), want)
		}
	}
}

// BenchmarkHoldingOf10000Messages is find in a long chat, without laying it out.
func BenchmarkHoldingOf10000Messages(b *testing.B) {
	s := storetest.Open(b)
	id := long(b, s, 10_000)
	b.ResetTimer()
	for range b.N {
		if found, err := s.Chats.Holding(b.Context(), id, "nothing of the kind"); err != nil || len(found) != 0 {
			b.Fatal(len(found), err)
		}
	}
}
