package window

import (
	"context"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/tool"
)

// maxTranscripts bounds how many conversations stay drawn.
const maxTranscripts = 20

// transcript returns the transcript of a conversation, a new one if need be.
func (c *Chats) transcript(id chat.ConversationID) *transcript.Transcript {
	c.mu.Lock()
	defer c.mu.Unlock()
	if t := c.transcripts[id]; t != nil {
		return t
	}
	if len(c.transcripts) >= maxTranscripts {
		for old := range c.transcripts {
			if old != c.seen && !c.core.Conversations.Running(old) {
				c.closeTranscript(old)
				break
			}
		}
	}
	t := transcript.New(transcript.Options{
		Conversation: id, Store: c.core.Store, After: c.past, Log: c.log, Chat: c.chatView, ModelTitle: c.modelTitle,
		Words:   c.callWords,
		Council: func(ctx context.Context, turn string) *transcript.CouncilLine { return c.lineOf(ctx, id, turn) },
		Changed: func(revision uint64) {
			c.core.Bus.Publish(bus.Notice{Topic: bus.Chat, ID: string(id), Revision: revision})
		},
	})
	c.transcripts[id] = t
	return t
}

// closeTranscript lets go of a transcript. Those made after it go on from its
// revision, so that a page that still holds it starts again. The caller holds mu.
func (c *Chats) closeTranscript(id chat.ConversationID) {
	if t := c.transcripts[id]; t != nil {
		c.past = max(c.past, t.Revision())
		delete(c.transcripts, id)
	}
}

// known returns the transcript of a conversation, nil when there is none.
func (c *Chats) known(id chat.ConversationID) *transcript.Transcript {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.transcripts[id]
}

// maxAsked bounds how many rows or pieces of a chat one call returns.
const maxAsked = 200

// Pull returns what changed since a revision, 0 opens the conversation, and the blocks
// that the page wants in addition, at most 200 wants.
func (c *Chats) Pull(conversation string, since uint64, wants []transcript.Want) (transcript.Pull, error) {
	ctx := c.call()
	return c.transcript(id(conversation)).Pull(ctx, since, wants[:min(len(wants), maxAsked)]...)
}

// callWords says what a call's tool and plugin are called.
func (c *Chats) callWords(r chat.CallRecord) transcript.Words {
	t, ok := c.core.Tools.Set().ByID(r.ToolID)
	if !ok {
		t = tool.Tool{Name: r.ToolName}
	}
	words := transcript.Words{Title: t.DisplayName(), Doing: t.Doing(), Did: t.Did(), Plugin: r.Plugin}
	if r.Plugin != "" {
		if s, err := c.core.Host.Status(r.Plugin); err == nil {
			words.Plugin = s.Manifest.Name
		}
	}
	return words
}

func (c *Chats) chatView(ctx context.Context, v chat.Conversation) transcript.Chat {
	name := c.modelOf(ctx, v)
	info := c.core.Models.Info(ctx, name)
	var spent *transcript.Usage
	if v.Spent != nil {
		spent = transcript.UsageOf(*v.Spent)
	}
	return transcript.Chat{
		ID: string(v.ID), Title: v.Title, Model: name, ModelTitle: info.Title, Vision: info.Can.Vision, Tools: info.Can.Tools,
		System: v.System, Project: v.Project, Pinned: v.Pinned, Archived: v.Archived, Demo: v.Demo, Spent: spent,
		Created: chat.Stamp(v.Created), Updated: chat.Stamp(v.Updated),
	}
}

func (c *Chats) modelTitle(ctx context.Context, name string) string {
	if name == "" {
		return ""
	}
	return c.core.Models.Info(ctx, name).Title
}
