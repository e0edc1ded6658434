package window

import (
	"strings"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/chat"
	"conclave/app/tool"
)

// Seen says that the conversation is being looked at: it is read, and opened at
// the next start. "" is none. Temporary chats that were left for it are deleted.
func (c *Chats) Seen(conversation string) error {
	if c.open.look(id(conversation)) {
		c.core.Bus.Changed(bus.Chats, "")
	}
	temporary, err := c.open.leaveTemporary(c.call(), id(conversation))
	if err != nil {
		return err
	}
	if temporary {
		conversation = ""
	}
	_, err = c.core.Settings.ChangeSettings(c.call(), func(s *settings.Settings) { s.OpenChat = conversation })
	return err
}

// update changes a conversation and tells the page.
func (c *Chats) update(conversation string, change func(*chat.Conversation)) error {
	ctx := c.call()
	if err := c.core.Store.UpdateConversation(ctx, id(conversation), change); err != nil {
		return err
	}
	c.core.Bus.Changed(bus.Chats, "")
	return c.open.transcript(id(conversation)).Refresh(ctx)
}

// Rename gives the conversation a title.
func (c *Chats) Rename(conversation, title string) error {
	title, _ = tool.Strip(strings.Join(strings.Fields(title), " "))
	if title == "" {
		return fault.New(fault.Invalid, "app.rename", "A chat cannot have an empty title.", "")
	}
	return c.update(conversation, func(v *chat.Conversation) {
		v.Title, v.Named = string([]rune(title)[:min(200, len([]rune(title)))]), true
	})
}

// SetPinned pins the conversation or lets it go.
func (c *Chats) SetPinned(conversation string, pinned bool) error {
	return c.update(conversation, func(v *chat.Conversation) { v.Pinned = pinned })
}

// SetArchived puts the conversation into the archive or takes it out.
func (c *Chats) SetArchived(conversation string, archived bool) error {
	return c.update(conversation, func(v *chat.Conversation) { v.Archived = archived })
}

// SetModel chooses the conversation's model, and how it is asked. The kind is invalid for what no model
// takes.
func (c *Chats) SetModel(conversation, model string, asking chat.Asking) error {
	if err := asking.Check(); err != nil {
		return err
	}
	if model != "" {
		if _, err := c.core.Models.Open(c.call(), model); err != nil {
			return err
		}
	}
	return c.update(conversation, func(v *chat.Conversation) {
		v.Model, v.Asking = model, asking
		v.Demo = v.Demo && model == settings.DemoModel
	})
}

// SetProject sets the folder that the conversation is about; "" is none. For conversation "", which is not begun, the
// folder is only checked. The kind is invalid for what is no folder, or holds the person's home.
func (c *Chats) SetProject(conversation, folder string) error {
	project := ""
	if path := written(folder); path != "" {
		var err error
		if project, err = chat.OpenProject(path); err != nil {
			return err
		}
	}
	if conversation == "" {
		return nil
	}
	if err := c.update(conversation, func(v *chat.Conversation) { v.Project = project }); err != nil {
		return err
	}
	c.core.Bus.Changed(bus.Councils, "")
	return nil
}

// SetSystem sets the conversation's system text.
func (c *Chats) SetSystem(conversation, text string) error {
	return c.update(conversation, func(v *chat.Conversation) { v.System = text })
}
