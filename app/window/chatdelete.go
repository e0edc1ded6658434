package window

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"conclave/app/base/bus"
	"conclave/app/chat"
)

// Delete deletes a conversation, with undo until the program quits. A running turn
// is stopped.
func (c *Chats) Delete(conversation string) (Undo, error) {
	ctx := c.call()
	v, err := c.core.Store.Conversation(ctx, id(conversation))
	if err != nil {
		return Undo{}, err
	}
	title := cmp.Or(v.Title, unnamed)
	back, err := c.delete(ctx, []chat.Conversation{v})
	if err != nil {
		return Undo{}, err
	}
	return c.undo.add("“"+title+"” was deleted.", back), nil
}

// DeleteDemo deletes every chat that talked to Demo guide only.
func (c *Chats) DeleteDemo() (Undo, error) {
	ctx := c.call()
	var demo []chat.Conversation
	all, err := c.core.Store.List(ctx, chat.ListOptions{})
	if err != nil {
		return Undo{}, err
	}
	for _, v := range all.Conversations {
		if v.Demo {
			demo = append(demo, v)
		}
	}
	back, err := c.delete(ctx, demo)
	if err != nil {
		return Undo{}, err
	}
	return c.undo.add(fmt.Sprintf("%d demo chats were deleted.", len(demo)), back), nil
}

func (c *Chats) delete(ctx context.Context, all []chat.Conversation) (func(context.Context) error, error) {
	var tokens []string
	for _, v := range all {
		token, err := c.core.Conversations.Delete(ctx, v.ID, errStopped)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token)
		c.open.forget(v.ID)
	}
	c.core.Bus.Changed(bus.Chats, "")
	return func(ctx context.Context) error {
		var errs []error
		for _, token := range tokens {
			_, err := c.core.Store.Undelete(ctx, token)
			errs = append(errs, err)
		}
		c.core.Bus.Changed(bus.Chats, "")
		return errors.Join(errs...)
	}, nil
}
