package window

import (
	"context"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/service"
)

// Toasts returns the notices of plugins after the given number, oldest first.
func (w *Window) Toasts(after uint64) ([]service.Toast, error) {
	return list(w.core.Toasts(after)), nil
}

// followEdits draws conversations again that plugins changed, until ctx ends.
func (c *Chats) followEdits(ctx context.Context) {
	edits := c.core.Bus.Subscribe(bus.Edits)
	defer edits.Close()
	for {
		notices, err := edits.Next(ctx)
		if err != nil {
			return
		}
		for _, n := range notices {
			if err := c.redraw(ctx, id(n.ID)); err != nil {
				c.log.Warn("a chat that a plugin changed could not be drawn anew", "conversation", n.ID, "err", err)
			}
		}
		c.core.Bus.Changed(bus.Chats, "")
	}
}

// redraw reads a conversation again, with what is drawn of it, when the page knows
// it.
func (c *Chats) redraw(ctx context.Context, conversation chat.ConversationID) error {
	if t := c.known(conversation); t != nil {
		return t.RefreshAll(ctx)
	}
	return nil
}
