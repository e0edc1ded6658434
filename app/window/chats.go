package window

import (
	"log/slog"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/council/deliberation"
)

// Chats is bound: conversations, their messages, and the turns that run.
type Chats struct {
	*lifecycle
	core  Core
	undo  *undos
	open  *openChats
	turns *turns

	mu       sync.Mutex            // guards attached
	attached map[string]chat.Media // by id, since the program started
}

func newChats(l *lifecycle, core Core, log *slog.Logger, undo *undos) *Chats {
	open := newOpenChats(l, core, log)
	return &Chats{
		lifecycle: l, core: core, undo: undo, open: open,
		turns:    &turns{lifecycle: l, core: core, log: log, open: open},
		attached: map[string]chat.Media{},
	}
}

var (
	errClosing = deliberation.ErrClosing // a council that it cuts off can go on
	errStopped = fault.New(fault.Canceled, "app.stop", "You stopped it.", "")
)

func id(conversation string) chat.ConversationID { return chat.ConversationID(conversation) }
