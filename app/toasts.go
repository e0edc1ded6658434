package app

import (
	"context"

	"conclave/app/bus"
	"conclave/app/chat"
)

// ToastView is a short notice of a plugin's; its texts are cleaned and on one
// line.
type ToastView struct {
	Number uint64 `json:"number"` // grows by one
	Plugin string `json:"plugin"` // its display name
	Kind   string `json:"kind"`   // success, info, warning or error
	Title  string `json:"title"`
	Text   string `json:"text"`
}

// Toasts returns the notices of plugins after the given number, oldest first.
func (w *Window) Toasts(after uint64) ([]ToastView, error) {
	if w.core.Toasts == nil {
		return []ToastView{}, nil
	}
	return append([]ToastView{}, w.core.Toasts(after)...), nil
}

// followEdits draws conversations anew that plugins changed, until ctx ends.
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

// redraw reads a conversation anew, with what is drawn of it, when the page knows
// it.
func (c *Chats) redraw(ctx context.Context, conversation chat.ConversationID) error {
	if t := c.known(conversation); t != nil {
		return t.RefreshAll(ctx)
	}
	return nil
}
