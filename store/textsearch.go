package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"conclave/app/chat"

	"go.etcd.io/bbolt"
)

// Find looks for messages and titles that hold every word of query, in any case
// and anywhere in a word, and returns at most limit of them (0 means all), last
// changed conversation first. It reads every message and needs no index: that
// suits a command which runs once; the window has package search, which ranks.
func (s *Chats) Find(ctx context.Context, query string, limit int) ([]chat.SearchResult, error) {
	const op = "store.find"
	found := []chat.SearchResult{}
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return found, nil
	}
	page, err := s.List(ctx, chat.ListOptions{})
	if err != nil {
		return nil, err
	}
	// A record is decoded only when the longest word could be in it.
	hint := slices.MaxFunc(words, func(a, b string) int { return cmp.Compare(len(a), len(b)) })
	if !plainWord(hint) {
		hint = ""
	}
	err = s.view(ctx, op, func(tx *bbolt.Tx) error {
		messages := bucket(tx, bucketMessages).Cursor()
		var folded []byte
		for _, c := range page.Conversations {
			if holds(c.Title, words) {
				found = append(found, chat.SearchResult{
					Conversation: c.ID, Updated: c.Updated, Title: c.Title, Text: c.Title,
				})
			}
			start := prefix(string(c.ID))
			for k, v := messages.Seek(start); bytes.HasPrefix(k, start); k, v = messages.Next() {
				if ctx.Err() != nil {
					return context.Cause(ctx)
				}
				if limit > 0 && len(found) >= limit {
					return nil
				}
				if hint != "" {
					if folded = foldASCII(folded[:0], v); !bytes.Contains(folded, []byte(hint)) {
						continue
					}
				}
				var m chat.Message
				if decode(v, &m) != nil {
					continue
				}
				if text := MessageText(m); holds(text, words) {
					found = append(found, chat.SearchResult{
						Conversation: c.ID, Updated: c.Updated, Seq: m.Seq, Title: c.Title, Role: m.Role, Text: text,
					})
				}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if limit > 0 && len(found) > limit {
		found = found[:limit]
	}
	return found, nil
}

// Holding reads those messages of a conversation in which phrase could stand, in
// the order they were written and whatever branch they are on. It decodes only
// records that hold the longest word of it, so that finding something in a chat of
// 10,000 messages does not decode them all; the caller looks at the text itself.
func (s *Chats) Holding(ctx context.Context, id chat.ConversationID, phrase string) ([]chat.Message, error) {
	const op = "store.holding"
	found := []chat.Message{}
	hint := ""
	for _, word := range strings.Fields(strings.ToLower(phrase)) {
		if plainWord(word) && len(word) > len(hint) {
			hint = word
		}
	}
	err := s.view(ctx, op, func(tx *bbolt.Tx) error {
		if _, err := getConversation(tx, op, id); err != nil {
			return err
		}
		messages := bucket(tx, bucketMessages).Cursor()
		start := prefix(string(id))
		var folded []byte
		for k, v := messages.Seek(start); bytes.HasPrefix(k, start); k, v = messages.Next() {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			folded = foldASCII(folded[:0], v)
			// What streams has its newest text in memory.
			if !bytes.Contains(folded, []byte(hint)) && !bytes.Contains(v, []byte(`"streaming"`)) {
				continue
			}
			var m chat.Message
			if decode(v, &m) == nil {
				found = append(found, m)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.waiting.freshen(found), nil
}

// MessageText returns what is worth searching of a message: its text and the
// text of tool results, not reasoning.
func MessageText(m chat.Message) string {
	text := chat.TextOf(m.Parts)
	for _, p := range m.Parts {
		if p.Result != nil {
			text = strings.TrimPrefix(text+"\n"+p.Result.Text(), "\n")
		}
	}
	return text
}

func holds(text string, words []string) bool {
	text = strings.ToLower(text)
	for _, w := range words {
		if !strings.Contains(text, w) {
			return false
		}
	}
	return true
}

// plainWord reports whether w stands in JSON as it is, whatever its case.
func plainWord(w string) bool {
	for i := range len(w) {
		if c := w[i]; c < 'a' || c > 'z' {
			if c < '0' || c > '9' {
				return false
			}
		}
	}
	return true
}

func foldASCII(dst, src []byte) []byte {
	dst = append(dst, src...)
	for i, c := range dst {
		if 'A' <= c && c <= 'Z' {
			dst[i] = c + 'a' - 'A'
		}
	}
	return dst
}
