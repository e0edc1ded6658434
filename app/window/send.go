package window

import (
	"context"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/responder"
	"conclave/app/chat/turn"
)

// Send saves a message and starts a turn; conversation "" makes one. It returns
// at once.
func (c *Chats) Send(conversation string, message Outgoing) (Sent, error) {
	ctx := c.call()
	if strings.TrimSpace(message.Text) == "" && len(message.Attachments) == 0 {
		return Sent{}, fault.New(fault.Invalid, "app.send", "There is nothing to send.", "Write a message first.")
	}
	attachments, err := c.attachments(ctx, message.Attachments)
	if err != nil {
		return Sent{}, err
	}
	m := responder.Message{
		Text: message.Text, Model: message.Model, Asking: message.Asking, System: message.System,
		Project: written(message.Project), Skip: message.CouncilSkip, Only: message.CouncilOnly,
	}
	in := id(conversation)
	if in == "" {
		if in, err = c.core.Responder.Begin(ctx, m); err != nil {
			return Sent{}, err
		}
	}
	c.core.Store.SaveDraft(in, "")
	how, err := c.core.Responder.How(ctx, in, m)
	if err != nil {
		return Sent{}, err
	}
	asked := turn.Request{Text: message.Text, Attachments: attachments}
	return c.turns.begin(ctx, in, asked, message.Model, message.NoTools, how)
}

// stopTime bounds how long Stop waits for what was said to be saved.
const stopTime = 5 * time.Second

// Stop stops what runs in the chat and keeps what was said. No turn is no error.
func (c *Chats) Stop(conversation string) error {
	ctx, cancel := context.WithTimeout(c.call(), stopTime) // then it goes on stopping; the window sees when it has
	defer cancel()
	c.core.Conversations.Stop(ctx, id(conversation), errStopped)
	return nil
}

// Regenerate answers the question of the answer seq again, as another version of it;
// model "" is the chat's.
func (c *Chats) Regenerate(conversation string, seq uint64, model string) (Sent, error) {
	ctx := c.call()
	entry, err := c.entryOf(ctx, id(conversation), chat.MessageSeq(seq))
	if err != nil {
		return Sent{}, err
	}
	parent := entry.Parent
	if entry.Role == chat.RoleUser { // an unanswered question is answered
		parent = entry.Seq
	}
	if parent == 0 { // an import may begin with what a model says
		return Sent{}, fault.New(fault.Invalid, "app.regenerate", "There is no question that this answers.",
			"Write one below it.")
	}
	question, err := c.core.Store.Messages(ctx, id(conversation), []chat.MessageSeq{parent})
	if err != nil {
		return Sent{}, err
	}
	how, err := c.core.Responder.How(ctx, id(conversation), responder.Message{Text: chat.TextOf(question[0].Parts)})
	if err != nil {
		return Sent{}, err
	}
	how.Chosen = model != ""
	return c.turns.begin(ctx, id(conversation), turn.Request{Parent: &parent}, model, false, how)
}

// ask makes a sibling of a question, with its attachments and another text, and has it
// answered.
func (c *Chats) ask(
	ctx context.Context, conversation chat.ConversationID, seq chat.MessageSeq, text string,
) (Sent, error) {
	if _, err := c.entryOf(ctx, conversation, seq); err != nil {
		return Sent{}, err
	}
	messages, err := c.core.Store.Messages(ctx, conversation, []chat.MessageSeq{seq})
	if err != nil {
		return Sent{}, err
	}
	m := messages[0]
	if m.Role != chat.RoleUser {
		return Sent{}, fault.New(fault.Invalid, "app.edit", "Only your own messages can be answered again.", "")
	}
	media := slices.DeleteFunc(m.Parts, func(p chat.Part) bool { return p.Kind != chat.PartMedia })
	how, err := c.core.Responder.How(ctx, conversation, responder.Message{Text: text})
	if err != nil {
		return Sent{}, err
	}
	asked := turn.Request{Parent: &m.Parent, Text: text, Attachments: media}
	return c.turns.begin(ctx, conversation, asked, "", false, how)
}
