package turn

import (
	"context"

	"conclave/app/chat"
	"conclave/app/tool"
)

// Names stores the names by which models know tools in a chat; [Log] and the store implement it.
type Names interface {
	// UpdateConversation reads, changes and writes one conversation in one step.
	UpdateConversation(ctx context.Context, id chat.ConversationID, change func(*chat.Conversation)) error
	// ToolsCalled returns the names by which models called tools in a conversation, as
	// chat.Conversation.ToolNames holds them, from the records of its calls. A tool that was
	// called by two names has the newer one.
	ToolsCalled(ctx context.Context, id chat.ConversationID) (map[string]string, error)
}

// NameTools returns the set with the names by which models know its tools in the chat c. It stores new
// names with the chat before any model gets them, and writes only then. c.ToolNames is brought up to
// date. A chat without names, which an older Conclave wrote, begins with those of its recorded calls.
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

// chatNames are the names that models know tools by in the chat of a turn.
type chatNames struct {
	log  Log
	chat chat.Conversation // as it was when the turn began, but for the names
}

// taken reports whether the name by which a hook offers a tool is another tool's in this chat, where
// members of a council may have got tools since the turn began.
func (n *chatNames) taken(ctx context.Context, offered tool.Tool) bool {
	if now, err := n.log.Conversation(ctx, n.chat.ID); err == nil {
		n.chat.ToolNames = now.ToolNames
	}
	whose, given := n.chat.ToolNames[offered.WireName]
	return given && whose != offered.Whose()
}

// add stores the names by which hooks offered tools.
func (n *chatNames) add(ctx context.Context, offered []tool.Tool) error {
	fresh := map[string]string{}
	for _, o := range offered {
		if _, given := n.chat.ToolNames[o.WireName]; !given {
			fresh[o.WireName] = o.Whose()
		}
	}
	if len(fresh) == 0 {
		return nil
	}
	return n.log.UpdateConversation(ctx, n.chat.ID, func(stored *chat.Conversation) {
		stored.ToolNames = tool.AddNames(stored.ToolNames, fresh)
		n.chat.ToolNames = stored.ToolNames
	})
}
