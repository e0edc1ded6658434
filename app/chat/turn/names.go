package turn

import (
	"context"

	"conclave/app/chat"
	"conclave/app/tool"
)

// Names are where the names are kept that models know tools by in a chat; [Log] and the store
// are.
type Names interface {
	// UpdateConversation reads, changes and writes one conversation in one step.
	UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error
	// ToolsCalled returns the names by which models called tools in a conversation, as
	// chat.Conversation.ToolNames holds them, from the records of its calls. A tool that was
	// called by two names has the newer one.
	ToolsCalled(ctx context.Context, id chat.ConversationID) (map[string]string, error)
}

// NameTools returns the set with the names by which models know its tools in the chat c, and
// keeps those that are new with the chat, before any model is told of them; it writes only
// then. c.ToolNames is brought up to date. A chat that has no names yet, because an older
// Conclave wrote it, begins with those of the calls that are on record.
func NameTools(ctx context.Context, names Names, c *chat.Conversation, set *tool.Set) (*tool.Set, error) {
	if set == nil || set.Len() == 0 {
		return set, nil
	}
	known := c.ToolNames
	if known == nil && c.Last > 0 {
		var err error
		if known, err = names.ToolsCalled(ctx, c.ID); err != nil {
			return set, err
		}
	}
	named, all := set.Named(known)
	if len(all) == len(c.ToolNames) {
		return named, nil
	}
	err := names.UpdateConversation(ctx, c.ID, func(stored *chat.Conversation) {
		if stored.ToolNames == nil {
			stored.ToolNames = known
		}
		named, stored.ToolNames = set.Named(stored.ToolNames)
		c.ToolNames = stored.ToolNames
	})
	return named, err
}

// nameTools gives the tools of the turn the names of its chat.
func (t *run) nameTools(ctx context.Context, c chat.Conversation) error {
	named, err := NameTools(ctx, t.log, &c, t.req.Tools)
	t.req.Tools, t.callTurn.Tools, t.chat = named, named, c
	return err
}

// taken reports whether the name that a hook offers a tool by is another tool's in this chat,
// where members of a council may have been given tools since the turn began.
func (t *run) taken(ctx context.Context, offered tool.Tool) bool {
	if now, err := t.log.Conversation(ctx, t.req.Conversation); err == nil {
		t.chat.ToolNames = now.ToolNames
	}
	whose, given := t.chat.ToolNames[offered.WireName]
	return given && whose != offered.Whose()
}

// keepNames keeps the names by which hooks offered tools.
func (t *run) keepNames(ctx context.Context, offered []tool.Tool) error {
	fresh := map[string]string{}
	for _, o := range offered {
		if _, given := t.chat.ToolNames[o.WireName]; !given {
			fresh[o.WireName] = o.Whose()
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return t.log.UpdateConversation(ctx, t.req.Conversation, func(stored *chat.Conversation) {
		stored.ToolNames = tool.AddNames(stored.ToolNames, fresh)
		t.chat.ToolNames = stored.ToolNames
	})
}
