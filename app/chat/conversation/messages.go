package conversation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/chat"
)

// Append adds messages at the end of the visible path, each as the answer to the one
// before, at once or when the turn that writes there is over (waits). A zero Created
// is set to now. If then is not nil, Append calls it with the written messages before
// anybody else changes the chat.
func (o *Owner) Append(ctx context.Context, id chat.ConversationID, messages []chat.Message,
	then func(ctx context.Context, written []chat.Message),
) (waits bool, err error) {
	messages = slices.Clone(messages)
	return o.Change(ctx, id, func(ctx context.Context) error {
		c, err := o.o.Store.Conversation(ctx, id)
		if err != nil {
			return err
		}
		for i := range messages {
			m := &messages[i]
			m.Conversation, m.Parent = id, c.Head
			if m.Created.IsZero() {
				m.Created, m.Ended = o.o.Now(), o.o.Now()
			}
			if err := o.o.Store.Append(ctx, m); err != nil {
				return err
			}
			c.Head = m.Seq
		}
		if then != nil {
			then(ctx, messages)
		}
		return nil
	})
}

// maxFollowing bounds the messages after an entry that is removed: all of them are written
// again.
const maxFollowing = 200

// Remove removes the entry that a message belongs to from the visible path, at once or
// when the turn that writes there is over (waits). It overwrites nothing: it writes
// what followed the entry again on a branch without it, and the old branch stays among
// the versions. If then is not nil, Remove calls it afterwards. The error is of kind
// not_found for a message that is not on the path.
func (o *Owner) Remove(ctx context.Context, id chat.ConversationID, seq chat.MessageSeq,
	then func(),
) (waits bool, err error) {
	return o.Change(ctx, id, func(ctx context.Context) error {
		path, err := o.o.Store.Path(ctx, id)
		if err != nil {
			return err
		}
		entries := chat.Entries(path)
		i := chat.EntryOf(entries, seq)
		if i < 0 {
			return notThere()
		}
		gone := entries[i].Messages
		first := slices.IndexFunc(path, func(m chat.Message) bool { return m.Seq == gone[0].Seq })
		after := slices.DeleteFunc(path[first:], func(m chat.Message) bool {
			return slices.ContainsFunc(gone, func(g chat.Message) bool { return g.Seq == m.Seq })
		})
		if len(after) > maxFollowing {
			return fault.New(fault.Invalid, "conversation",
				fmt.Sprintf("Only one of the last %d messages can be removed.", maxFollowing), "")
		}
		head := gone[0].Parent
		if err := o.o.Store.UpdateConversation(ctx, id, func(c *chat.Conversation) { c.Head = head }); err != nil {
			return err
		}
		if len(after) > 0 { // it was made from what is removed
			for i := range gone {
				after[0].Origins = chat.AddOrigins(after[0].Origins, gone[i].Brought()...)
			}
		}
		for _, m := range after {
			m.Parent = head
			if err := o.o.Store.Append(ctx, &m); err != nil {
				return err
			}
			head = m.Seq
		}
		if then != nil {
			then()
		}
		return nil
	})
}

func notThere() error {
	return fault.New(fault.NotFound, "conversation", "That message is not on the path that is shown.", "")
}

// Edit is a change of an entry; a nil field changes nothing.
type Edit struct {
	Text   *string // what it says, in place of all its texts
	Hidden *bool   // whether the model gets it
	// Origins say where Text comes from where it is not the person's.
	Origins []chat.Origin
	// Metadata, an object of JSON that plugins store with it, takes the place of the former; nil does not.
	Metadata json.RawMessage
}

// Edit changes the messages of an entry in place, all or none. The text of messages
// that a turn is writing cannot be changed (kind conflict). They can be hidden; then
// what that turn still writes is hidden when it is over.
func (o *Owner) Edit(ctx context.Context, id chat.ConversationID, entry []chat.MessageSeq, e Edit) error {
	if len(entry) == 0 {
		return notThere()
	}
	written := false
	err := o.o.Store.UpdateMessages(ctx, id, entry, func(messages []chat.Message) error {
		written = o.writes(id, messages)
		if e.Text != nil {
			if written {
				return fault.New(fault.Conflict, "conversation", "That message is still being written.",
					"Stop it first, or wait for it.")
			}
			replaceText(messages, *e.Text)
			messages[0].Origins = chat.AddOrigins(messages[0].Origins, e.Origins...)
		}
		if e.Metadata != nil {
			messages[0].Metadata = e.Metadata
		}
		if e.Hidden != nil {
			for i := range messages {
				messages[i].Hidden = *e.Hidden
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	o.o.Edited(id, entry[0])
	if e.Hidden == nil || !written {
		return nil
	}
	_, err = o.Change(ctx, id, func(ctx context.Context) error { return o.hide(ctx, id, entry[0], *e.Hidden) })
	return err
}

// writes reports whether a turn is writing one of these messages.
func (o *Owner) writes(id chat.ConversationID, messages []chat.Message) bool {
	o.mu.Lock()
	s := o.chats[id]
	var main *answer
	if s != nil {
		main = s.main
	}
	o.mu.Unlock()
	return main != nil && slices.ContainsFunc(messages, main.wrote)
}

// hide keeps all of the entry of the path that begins with a message from the model, or
// gives it back.
func (o *Owner) hide(ctx context.Context, id chat.ConversationID, first chat.MessageSeq, hidden bool) error {
	path, err := o.o.Store.Path(ctx, id)
	if err != nil {
		return err
	}
	entries := chat.Entries(path)
	i := chat.EntryOf(entries, first)
	if i < 0 {
		return notThere()
	}
	var seqs []chat.MessageSeq
	for _, m := range entries[i].Messages {
		seqs = append(seqs, m.Seq)
	}
	return o.o.Store.UpdateMessages(ctx, id, seqs, func(messages []chat.Message) error {
		for i := range messages {
			messages[i].Hidden = hidden
		}
		return nil
	})
}

// replaceText puts text where the first text of an entry stood; its other texts go. An
// entry without text gets it before all else in its last message that is no tool's.
func replaceText(entry []chat.Message, text string) {
	placed, last := false, len(entry)-1
	for i := range entry {
		m := &entry[i]
		if m.Role == chat.RoleTool {
			continue
		}
		last = i
		if placed {
			m.Parts, _ = chat.ReplaceText(m.Parts, "")
			continue
		}
		m.Parts, placed = chat.ReplaceText(m.Parts, text)
	}
	if !placed {
		entry[last].Parts = slices.Insert(entry[last].Parts, 0, chat.TextPart(text))
	}
}
