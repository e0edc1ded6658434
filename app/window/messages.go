package window

import (
	"context"
	"encoding/json"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/tool"
	"conclave/app/view"

	conv "conclave/app/chat/conversation"
)

// Edit changes a message. Without answerAgain its text changes and later messages
// stay; with it, a sibling is made and answered, which only the person's own
// messages can be.
func (c *Chats) Edit(conversation string, seq uint64, text string, answerAgain bool) (Sent, error) {
	ctx := c.call()
	if strings.TrimSpace(text) == "" {
		return Sent{}, fault.New(fault.Invalid, "app.edit", "A message cannot be empty.",
			"Delete the chat, or hide the message from the model.")
	}
	if answerAgain {
		return c.ask(ctx, id(conversation), chat.MessageSeq(seq), text)
	}
	return Sent{Conversation: conversation, Seq: seq}, c.edit(ctx, id(conversation), seq, conv.Edit{Text: &text})
}

// edit changes the entry of the visible path that begins with a message, and draws it again.
func (c *Chats) edit(ctx context.Context, conversation chat.ConversationID, seq uint64, change conv.Edit) error {
	entry, err := c.entry(ctx, conversation, chat.MessageSeq(seq))
	if err != nil {
		return err
	}
	if err := c.core.Conversations.Edit(ctx, conversation, entry.Messages, change); err != nil {
		return err
	}
	return c.open.transcript(conversation).Refresh(ctx, entry.Seq)
}

// SwitchVersion shows the path through the sibling seq, to its newest leaf.
func (c *Chats) SwitchVersion(conversation string, seq uint64) error {
	ctx := c.call()
	o, err := c.core.Store.Outline(ctx, id(conversation))
	if err != nil {
		return err
	}
	head := transcript.NewestLeaf(o, chat.MessageSeq(seq))
	err = c.core.Conversations.WhileIdle(ctx, id(conversation), func() error {
		return c.core.Store.UpdateConversation(ctx, id(conversation), func(v *chat.Conversation) { v.Head = head })
	})
	if err != nil {
		return err
	}
	return c.open.transcript(id(conversation)).Refresh(ctx)
}

// SetHidden keeps an entry from the model, or gives it back.
func (c *Chats) SetHidden(conversation string, seq uint64, hidden bool) error {
	return c.edit(c.call(), id(conversation), seq, conv.Edit{Hidden: &hidden})
}

// entry returns the entry of the visible path that begins with a message.
func (c *Chats) entry(
	ctx context.Context, conversation chat.ConversationID, seq chat.MessageSeq,
) (transcript.Folded, error) {
	o, err := c.core.Store.Outline(ctx, conversation)
	if err != nil {
		return transcript.Folded{}, err
	}
	for _, f := range transcript.Fold(o) {
		if f.Seq == seq {
			return f, nil
		}
	}
	return transcript.Folded{}, fault.New(fault.NotFound, "app.chats",
		"That message is not on the path that is shown.", "")
}

func (c *Chats) entryOf(
	ctx context.Context, conversation chat.ConversationID, seq chat.MessageSeq,
) (chat.OutlineItem, error) {
	o, err := c.core.Store.Outline(ctx, conversation)
	if err != nil {
		return chat.OutlineItem{}, err
	}
	n, ok := o.Item(seq)
	if !ok {
		return chat.OutlineItem{}, fault.New(fault.NotFound, "app.chats", "That message is no longer there.", "")
	}
	return n, nil
}

// entryMessages reads the messages that an entry is drawn of.
func (c *Chats) entryMessages(ctx context.Context, conversation string, seq uint64) ([]chat.Message, error) {
	entry, err := c.entry(ctx, id(conversation), chat.MessageSeq(seq))
	if err != nil {
		return nil, err
	}
	return c.core.Store.Messages(ctx, id(conversation), entry.Messages)
}

// Source returns the Markdown of an entry's text, for copy, quote and edit.
func (c *Chats) Source(conversation string, seq uint64) (string, error) {
	messages, err := c.entryMessages(c.call(), conversation, seq)
	if err != nil {
		return "", err
	}
	var texts []string
	for _, m := range messages {
		if m.Role == chat.RoleTool {
			continue
		}
		if text := strings.TrimSpace(chat.TextOf(m.Parts)); text != "" {
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n\n"), nil
}

// Info returns the requests behind an answer, as they were sent; one that was not kept is
// rebuilt. No key is part of them.
func (c *Chats) Info(conversation string, seq uint64) (MessageInfo, error) {
	ctx := c.call()
	messages, err := c.entryMessages(ctx, conversation, seq)
	if err != nil {
		return MessageInfo{}, err
	}
	out := MessageInfo{Requests: []RequestInfo{}}
	var usage chat.Usage
	for _, m := range messages {
		if m.Role != chat.RoleAssistant {
			continue
		}
		body, err := c.core.Store.Sent(ctx, m.Conversation, m.Seq)
		rebuilt := fault.KindOf(err) == fault.NotFound
		if rebuilt {
			body, err = requestBefore(ctx, c.core, m)
		}
		if err != nil {
			return MessageInfo{}, err
		}
		info := RequestInfo{
			Model: m.Model, Sent: chat.Stamp(m.Created), MS: m.Ended.Sub(m.Created).Milliseconds(), Body: tool.Indented(body),
			Rebuilt: rebuilt,
		}
		if m.Usage != nil {
			usage = usage.Add(*m.Usage)
			info.Usage = *transcript.UsageOf(*m.Usage)
		}
		out.Requests = append(out.Requests, info)
		out.MS = m.Ended.Sub(messages[0].Created).Milliseconds()
	}
	out.Usage = *transcript.UsageOf(usage)
	return out, nil
}

// requestBefore returns the request that a message answered as it can be told from the chat.
func requestBefore(ctx context.Context, core Core, m chat.Message) ([]byte, error) {
	request, err := core.Turns.RequestBefore(ctx, m)
	if err != nil {
		return nil, err
	}
	return json.Marshal(request)
}

// Call returns everything about one tool call.
func (c *Chats) Call(_ string, call string) (view.CallDetail, error) {
	number, err := strconv.ParseUint(call, 10, 64)
	if err != nil {
		return view.CallDetail{}, fault.New(fault.NotFound, "app.call", "That call is not on record.", "")
	}
	r, err := c.core.Store.Call(c.call(), number)
	if err != nil {
		return view.CallDetail{}, err
	}
	return language.Shown(view.NewCallDetail(r, c.open.whyOf(r))), nil
}

// maxAsked bounds how many rows or pieces of a chat one call returns.
const maxAsked = 200

// Pull returns what changed since a revision, 0 opens the conversation, and the blocks
// that the page wants in addition, at most 200 wants.
func (c *Chats) Pull(conversation string, since uint64, wants []transcript.Want) (transcript.Pull, error) {
	pull, err := c.open.transcript(id(conversation)).Pull(c.call(), since, wants[:min(len(wants), maxAsked)]...)
	return language.Shown(pull), err
}
