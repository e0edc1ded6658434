package window

import (
	"context"
	"log/slog"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/council/deliberation"
)

// Chats is bound: conversations, their messages, and the turns that run.
type Chats struct {
	*lifecycle
	core Core
	log  *slog.Logger
	undo *undos

	mu          sync.Mutex // guards the fields below
	transcripts map[chat.ConversationID]*transcript.Transcript
	past        uint64 // the newest revision of a transcript that was closed
	unread      map[chat.ConversationID]bool
	attached    map[string]chat.Media // by id, since the program started
	seen        chat.ConversationID
	run         context.Context //nolint:containedctx // of turns: a turn outlives the call that began it; nil before start
	cancel      context.CancelCauseFunc
	naming      context.Context //nolint:containedctx // of titles that models make: it ends with the window
	turns       sync.WaitGroup
}

func newChats(l *lifecycle, core Core, log *slog.Logger, undo *undos) *Chats {
	return &Chats{
		lifecycle: l, core: core, log: log, undo: undo,
		transcripts: map[chat.ConversationID]*transcript.Transcript{}, unread: map[chat.ConversationID]bool{},
		attached: map[string]chat.Media{},
	}
}

// start lets turns begin: they run until they end, or stop is called.
func (c *Chats) start(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.run, c.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	c.naming = ctx
}

// stop stops all turns that the window began, and waits for them.
func (c *Chats) stop() {
	c.mu.Lock()
	if c.cancel != nil {
		c.cancel(errClosing)
	}
	c.mu.Unlock()
	c.turns.Wait()
}

// running returns the context of turns; the error says that none can begin.
func (c *Chats) running() (context.Context, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.run == nil || c.run.Err() != nil {
		return nil, errClosing
	}
	return c.run, nil
}

var (
	errClosing = deliberation.ErrClosing // a council that it cuts off can go on
	errStopped = fault.New(fault.Canceled, "app.stop", "You stopped it.", "")
)

func id(conversation string) chat.ConversationID { return chat.ConversationID(conversation) }
