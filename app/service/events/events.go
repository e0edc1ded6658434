// Package events sends plugins the events of Conclave that they subscribed to: of turns, of messages
// and of councils (contracts/spindle, section 12). It decides nothing about a turn and holds none up.
// Read Events first.
package events

import (
	"context"
	"log/slog"
	"sync"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/plugin/host"
	"conclave/app/service"
)

// Chats reads chats; the store is the real one.
type Chats interface {
	Conversation(ctx context.Context, id chat.ConversationID) (chat.Conversation, error)
	Path(ctx context.Context, id chat.ConversationID) ([]chat.Message, error)
}

// Options configure Events. All are required.
type Options struct {
	Host  *host.Host
	Chats Chats
	Texts func(ctx context.Context, run council.RunID) council.ReadText // of a council's run
	Log   *slog.Logger
}

// maxEvents bounds the events that wait to be sent to plugins; more are dropped, since
// plugins must not hold up a turn.
const maxEvents = 1024

// Events sends events to plugins, in order, on one goroutine. Use New. Its methods are safe for
// concurrent use and do not block, unless they say so.
type Events struct {
	o       Options
	waiting chan func()
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	done    sync.WaitGroup

	// Of the goroutine alone.
	at       chat.ConversationID        // the chat that plugins were told is open
	councils map[council.RunID]*sentRun // the runs that are live
}

// New returns Events. Close ends their goroutine.
func New(o Options) *Events {
	n := &Events{o: o, waiting: make(chan func(), maxEvents), councils: map[council.RunID]*sentRun{}}
	n.ctx, n.cancel = context.WithCancel(context.Background()) // its own: Close ends it
	n.done.Go(func() {
		for {
			select {
			case send := <-n.waiting:
				send()
			case <-n.ctx.Done():
				return
			}
		}
	})
	return n
}

// Close ends the goroutine and waits for it. Events that wait are dropped.
func (n *Events) Close() {
	n.cancel()
	n.done.Wait()
}

// Flush waits until every waiting event has been sent, or for ctx's end.
func (n *Events) Flush(ctx context.Context) {
	sent := make(chan struct{})
	select {
	case n.waiting <- func() { close(sent) }:
	case <-ctx.Done():
		return
	case <-n.ctx.Done():
		return
	}
	select {
	case <-sent:
	case <-ctx.Done():
	case <-n.ctx.Done():
	}
}

// queue has the goroutine call send.
func (n *Events) queue(send func()) {
	select {
	case n.waiting <- send:
	default:
		n.o.Log.Debug("an event was not sent to plugins: too many wait")
	}
}

// Opened sends that another chat is open; "" is none.
func (n *Events) Opened(id chat.ConversationID) { n.queue(func() { n.switchTo(id) }) }

// Edited sends that a message was changed in place.
func (n *Events) Edited(id chat.ConversationID, seq chat.MessageSeq) {
	n.queue(func() { n.message("MESSAGE_EDITED", id, seq) })
}

// Changed sends that the person changed a conversation itself.
func (n *Events) Changed(id chat.ConversationID) {
	n.queue(func() {
		if v, err := n.o.Chats.Conversation(n.ctx, id); err == nil {
			n.o.Host.Hooks.Publish("CHAT_CHANGED", map[string]any{"chat": service.ChatOf(v), "changedFields": []string{}})
		}
	})
}

// Turn sends an event of a turn.
func (n *Events) Turn(e chat.Event) {
	say := func(event string, payload map[string]any) {
		payload["generationId"], payload["chatId"] = e.Turn, e.Conversation
		n.o.Host.Hooks.Publish(event, payload)
	}
	switch e.Kind {
	case chat.EventStarted:
		n.queue(func() {
			n.switchTo(e.Conversation)
			say("GENERATION_STARTED", map[string]any{"model": e.Model, "generationType": e.Answers})
		})
	case chat.EventQuestioned:
		n.queue(func() { n.message("MESSAGE_SENT", e.Conversation, e.Seq) })
	case chat.EventText, chat.EventReasoning:
		if n.o.Host.Hooks.HasSubscriber("STREAM_TOKEN_RECEIVED") {
			n.queue(func() { say("STREAM_TOKEN_RECEIVED", map[string]any{"token": e.Text, "type": string(e.Kind)}) })
		}
	case chat.EventEnded:
		n.queue(func() {
			ended := map[string]any{"messageId": "", "content": "", "reason": e.Reason}
			if view, ok := n.message("MESSAGE_SENT", e.Conversation, e.Seq); ok {
				ended["messageId"], ended["content"] = view.ID, view.Content
			}
			if e.Failure != nil {
				ended["error"] = e.Failure.Message
			}
			if e.Reason == chat.EndStopped {
				say("GENERATION_STOPPED", ended)
				return
			}
			say("GENERATION_ENDED", ended)
		})
	}
}

// switchTo sends which chat is open or answered now, if plugins do not know.
func (n *Events) switchTo(id chat.ConversationID) {
	if id == n.at {
		return
	}
	n.at = id
	if id == "" {
		n.o.Host.Hooks.Publish("CHAT_SWITCHED", map[string]any{"chatId": nil})
		return
	}
	n.o.Host.Hooks.Publish("CHAT_SWITCHED", map[string]any{"chatId": id})
}

// message sends a message as plugins see it, and returns it.
func (n *Events) message(event string, id chat.ConversationID, seq chat.MessageSeq) (service.Message, bool) {
	if seq == 0 || !n.o.Host.Hooks.HasSubscriber(event) && !n.o.Host.Hooks.HasSubscriber("GENERATION_ENDED") {
		return service.Message{}, false
	}
	path, err := n.o.Chats.Path(n.ctx, id)
	if err != nil {
		return service.Message{}, false
	}
	view, ok := service.MessageAt(path, seq)
	if ok {
		n.o.Host.Hooks.Publish(event, map[string]any{"chatId": id, "message": view})
	}
	return view, ok
}
