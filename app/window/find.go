package window

import (
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/chat/transcript"
)

// maxFound bounds how many places are shown.
const maxFound = 1000

// Find returns where the words stand in what the visible path says, at most 1,000 places.
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
	holds := make(map[chat.MessageSeq]bool, len(messages))
	for _, m := range messages {
		holds[m.Seq] = m.Role != chat.RoleTool
	}
	said := c.open.transcript(id(conversation))
	for _, f := range transcript.Fold(o) {
		if !slices.ContainsFunc(f.Messages, func(seq chat.MessageSeq) bool { return holds[seq] }) {
			continue
		}
		places, err := said.Places(ctx, uint64(f.Seq), words, maxFound-len(found))
		if err != nil {
			return nil, err
		}
		for _, at := range places {
			found = append(found, Find{Seq: uint64(f.Seq), Spot: at.Spot, Nth: at.Nth})
		}
	}
	return found, nil
}
