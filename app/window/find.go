package window

import (
	"strings"

	"conclave/app/chat"
	"conclave/app/chat/transcript"
)

// Find returns the messages of the visible path that hold the words, at most
// 1,000.
func (c *Chats) Find(conversation, words string) ([]Find, error) {
	ctx := c.call()
	found := []Find{}
	words = strings.TrimSpace(words)
	if words == "" {
		return found, nil
	}
	o, err := c.core.Store.Outline(ctx, id(conversation))
	if err != nil {
		return nil, err
	}
	messages, err := c.core.Store.Holding(ctx, id(conversation), words)
	if err != nil {
		return nil, err
	}
	bySeq := make(map[chat.MessageSeq]chat.Message, len(messages))
	for _, m := range messages {
		bySeq[m.Seq] = m
	}
	for i, f := range transcript.Fold(o) {
		for _, seq := range f.Messages {
			m, held := bySeq[seq]
			if !held || m.Role == chat.RoleTool {
				continue
			}
			if e, ok := chat.ExcerptOf(chat.TextOf(m.Parts), words); ok {
				found = append(found, Find{Seq: uint64(f.Seq), Index: i, Excerpt: e})
				break
			}
		}
		if len(found) == 1000 {
			break
		}
	}
	return found, nil
}

// Place returns where the words occur first in an entry; its first block when they do
// not.
func (c *Chats) Place(conversation string, seq uint64, words string) (transcript.Spot, error) {
	return c.open.transcript(id(conversation)).Place(c.call(), seq, strings.TrimSpace(words))
}
