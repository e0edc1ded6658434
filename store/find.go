package store

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strings"

	"go.etcd.io/bbolt"

	"conclave/app/chat"
)

// Found is a message, or with Seq 0 a title, in which all words stand.
type Found struct {
	Conversation chat.ConversationID
	Seq          chat.MessageSeq
	Title        string // of the conversation
	Role         chat.Role
	Text         string // the text, whole
}

// Find looks for messages and titles that hold every word of query, in any case
// and anywhere in a word, and returns at most limit of them (0 means all), last
// changed conversation first. It reads every message and needs no index: that
// suits a command which runs once; the window has package search, which ranks.
func (s *Store) Find(ctx context.Context, query string, limit int) ([]Found, error) {
	const op = "store.find"
	found := []Found{}
	words := strings.Fields(strings.ToLower(query))
	if len(words) == 0 {
		return found, nil
	}
	page, err := s.List(ctx, ListOptions{})
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
				found = append(found, Found{Conversation: c.ID, Title: c.Title, Text: c.Title})
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
					found = append(found, Found{c.ID, m.Seq, c.Title, m.Role, text})
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
	for _, c := range src {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		dst = append(dst, c)
	}
	return dst
}
