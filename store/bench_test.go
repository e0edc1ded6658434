package store_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"conclave/app/chat"
	"conclave/store"
	"conclave/store/storetest"

	"go.etcd.io/bbolt"
)

// long fills a conversation with n messages of about 1 KiB and returns it.
func long(b *testing.B, s *store.Store, n int) chat.ConversationID {
	b.Helper()
	c := newChat(b, s, "long")
	messages := make([]chat.Message, n)
	for i := range messages {
		messages[i] = chat.Message{
			Conversation: c.ID, Parent: chat.MessageSeq(i), Turn: fmt.Sprint("0195d7a4-0000-7000-8000-", i/2),
			Role:  chat.RoleAssistant,
			State: chat.Complete, Parts: []chat.Part{{Kind: chat.PartText, Text: fmt.Sprintf("%d %01000d", i, i)}},
		}
	}
	must(b, s.AppendAll(b.Context(), messages))
	return c.ID
}

func BenchmarkAppendToALongConversation(b *testing.B) {
	s := storetest.Open(b)
	id := long(b, s, 10_000)
	b.ResetTimer()
	for i := range b.N {
		say(b, s, id, chat.MessageSeq(10_000+i), chat.RoleUser, "hello")
	}
}

// BenchmarkOneCommitOfBbolt is the floor of an append: one key, one commit.
func BenchmarkOneCommitOfBbolt(b *testing.B) {
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "floor.db"), 0o600, nil)
	must(b, err)
	defer db.Close()
	for i := range b.N {
		err := db.Update(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("b"))
			if err != nil {
				return err
			}
			return bucket.Put(fmt.Append(nil, i), []byte("hello"))
		})
		must(b, err)
	}
}

func BenchmarkPutCall(b *testing.B) {
	s := storetest.Open(b)
	r := chat.CallRecord{
		ToolName: "t", Conversation: "c", Status: chat.CallOK, Arguments: []byte(`{"text":"a b c"}`), Result: []byte("3"),
	}
	b.ResetTimer()
	for range b.N {
		r.ID = 1
		must(b, s.Calls.PutCall(b.Context(), &r))
	}
}

func BenchmarkOutlineOf10000Messages(b *testing.B) {
	s := storetest.Open(b)
	id := long(b, s, 10_000)
	b.ResetTimer()
	for range b.N {
		o, err := s.Chats.Outline(b.Context(), id)
		if err != nil || len(o.Path) != 10_000 {
			b.Fatal(len(o.Path), err)
		}
		// What the window shows first: the last screen.
		if _, err := s.Chats.Messages(b.Context(), id, o.Path[len(o.Path)-30:]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPathOf10000Messages(b *testing.B) {
	s := storetest.Open(b)
	id := long(b, s, 10_000)
	b.ResetTimer()
	for range b.N {
		path, err := s.Chats.Path(b.Context(), id)
		if err != nil || len(path) != 10_000 {
			b.Fatal(len(path), err)
		}
	}
}

func BenchmarkListOf50000Conversations(b *testing.B) {
	s := storetest.Open(b)
	must(b, s.CreateMany(b.Context(), 50_000))
	for name, o := range map[string]chat.ListOptions{
		"first": {Limit: 50}, "last": {Offset: 49_900, Limit: 50}, "query": {Query: "title 4242", Limit: 50},
	} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				page, err := s.Chats.List(b.Context(), o)
				if err != nil || len(page.Conversations) == 0 {
					b.Fatal(page.Total, err)
				}
			}
		})
	}
}

func BenchmarkFindIn10000Messages(b *testing.B) {
	s := storetest.Open(b)
	long(b, s, 10_000)
	b.ResetTimer()
	for range b.N {
		found, err := s.Chats.Find(b.Context(), "no such word", 20)
		if err != nil || len(found) != 0 {
			b.Fatal(len(found), err)
		}
	}
}

func BenchmarkOpenAndClose(b *testing.B) {
	dir := b.TempDir()
	s, err := store.Open(b.Context(), store.Options{Dir: dir})
	must(b, err)
	long(b, s, 10_000)
	must(b, s.Close())
	b.ResetTimer()
	for range b.N {
		s, err := store.Open(context.WithoutCancel(b.Context()), store.Options{Dir: dir})
		must(b, err)
		must(b, s.Close())
	}
}
