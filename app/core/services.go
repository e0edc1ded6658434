package core

import (
	"context"
	"encoding/json"
	"io"
	"slices"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/model"
	"conclave/app/plugin"
	"conclave/app/service"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// services builds what plugins may ask Conclave for. What it works with that is
// built later is asked for when it is needed.
func (c *Core) services() map[string]plugin.Service {
	c.Settings.Switched = func(id string) { c.events.queueEvent(func() { c.events.switchTo(chat.ConversationID(id)) }) }
	c.Services = service.New(service.Options{
		Chats: c.Store.Turns, Conversations: c.Conversations, Models: c.Models, Keys: c.Keys, Lending: c.Gate.Reach,
		Values:   c.Store.PluginData,
		Spending: spending{c.Store.Plugins, c}, Now: c.o.Now,
		Shared: c.Store.PluginData, Web: c.egress, Bus: c.Bus, Log: c.Log, Active: c.active, Given: c.givenIn, Council: c.councilOf,
		Publish: func(event string, payload any) {
			c.Host.Publish(event, payload)
		},
	})
	all := c.Services.All()
	all["macros.resolve"] = c.Services.Resolve(c.prompt())
	return all
}

// prompt lets plugins look at prompts.
func (c *Core) prompt() *service.Prompt {
	return &service.Prompt{Hooks: laterHost{c}, Granted: func(id, permission string) bool {
		granted, _ := c.Gate.Reach.Permissions(id)
		return slices.Contains(granted, permission)
	}}
}

// flushTime bounds how long plugins have, before Conclave closes, to be told
// what happened last and to act on it.
var flushTime = 3 * time.Second

// flushEvents lets plugins finish with what happened: a command that answers and
// ends must not lose what a plugin saves at the end of an answer.
func (c *Core) flushEvents() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime) // nobody's: the program is ending
	defer cancel()
	if c.events != nil && c.Host != nil {
		c.events.flush(ctx)
		for _, o := range c.observers {
			o.Flush(ctx)
		}
		c.Host.WaitDelivered(ctx)
	}
}

// endServices ends what services do by themselves. It may be called more than
// once, and before there are any.
func (c *Core) endServices() {
	if c.events != nil {
		c.events.close()
	}
	for _, o := range c.observers {
		o.Close()
	}
}

// printToasts writes the notices of plugins to out, one a line, until the function
// returned is called.
func (c *Core) printToasts(out io.Writer) (stop func()) {
	news := c.Bus.Subscribe(bus.Toasts)
	ctx, cancel := context.WithCancel(context.Background()) // its own: stop ends it
	last := uint64(0)
	tell := func() {
		for _, t := range c.Services.Toasts.After(last) {
			last = t.Number
			_, _ = io.WriteString(out, t.Sentence()+"\n") // a closed terminal has nobody to tell
		}
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		defer news.Close()
		for {
			if _, err := news.Next(ctx); err != nil {
				tell() // what came at the very end
				return
			}
			tell()
		}
	})
	return func() {
		cancel()
		wg.Wait()
	}
}

// laterHost is the host, which is made after the services it is given.
type laterHost struct{ c *Core }

// Hooks implements service.Hooks.
func (h laterHost) Hooks(ctx context.Context, kind, asker string) []plugin.Hook {
	return h.c.Host.Hooks(ctx, kind, asker)
}

// RunHook implements service.Hooks.
func (h laterHost) RunHook(ctx context.Context, hook plugin.Hook, in chat.ConversationID,
	payload any,
) (json.RawMessage, error) {
	return h.c.Host.RunHook(ctx, hook, in, payload)
}

// Authors implements service.Hooks.
func (h laterHost) Authors(hook plugin.Hook) []chat.Author { return h.c.Host.Authors(hook) }

// WriteLog implements service.Hooks.
func (h laterHost) WriteLog(id, level, text string) { h.c.Host.WriteLog(id, level, text) }

// Ready waits for plugins that may be of a dialect.
func (h laterHost) Ready(ctx context.Context, dialect string) { h.c.Host.Ready(ctx, dialect) }

// Enlisted returns the plugins of a dialect that hooks are asked of.
func (h laterHost) Enlisted(dialect string) []plugin.Enlisted { return h.c.Host.Enlisted(dialect) }

// Borrow returns the backend of a plugin.
func (h laterHost) Borrow(ctx context.Context, id string) (plugin.Backend, func(), error) {
	return h.c.Host.Borrow(ctx, id)
}

// Inject takes up tools that a plugin injects.
func (h laterHost) Inject(ctx context.Context, id string,
	tools []tool.Tool,
) (map[string]tool.Tool, tool.Invoker, error) {
	return h.c.Host.Inject(ctx, id, tools)
}

// points returns the hooks of turns and calls: those of plugins' processes. It begins
// to tell hook processes what happens.
func (c *Core) points() *hook.Points {
	sources, observers := hookProcesses(c.dialects, laterHost{c})
	c.observers = observers
	return &hook.Points{
		Sources: append([]hook.Source{eventsFirst{c.prompt(), c.events}}, sources...), Mask: c.maskUnasked,
		Guard: c.guardTurn, Required: c.requiresHook,
	}
}

// requiresHook returns what reports whether the person wants no answer without the hooks of a plugin.
func (c *Core) requiresHook(ctx context.Context) func(id string) bool {
	set, err := c.Settings.Settings(ctx)
	return func(id string) bool { // nobody can tell without the settings
		return id != hook.Conclave.ID && (err != nil || slices.Contains(set.RequiredHooks, id))
	}
}

// guardTurn stops a turn in which approved plugins cannot take part, since nobody could read them,
// or one that the person requires.
func (c *Core) guardTurn(ctx context.Context) error {
	if problem := c.Host.Unread(); problem != nil && c.expectsPlugins() {
		return hook.Refuse("The plugins that you approved cannot take part, so nothing was sent to the model. "+
			problem.Message, problem.Hint)
	}
	set, err := c.Settings.Settings(ctx)
	if err != nil {
		return err
	}
	for _, id := range set.RequiredHooks {
		why, err := c.Host.Absent(ctx, id)
		if err != nil {
			return err
		}
		if why != "" {
			return hook.Refuse("The hooks of the plugin "+id+" are required and do not run, so nothing was sent to the model. "+
				why, hook.OptionalHint(id))
		}
	}
	return nil
}

// observer tells plugins what happens in turns.
type observer interface {
	Take(e chat.Event) // without waiting
	Flush(ctx context.Context)
	Close()
}

// onTurnEvent tells plugins of an event of a turn. It does not block.
func (c *Core) onTurnEvent(e chat.Event) {
	c.events.onTurnEvent(e)
	for _, o := range c.observers {
		o.Take(e)
	}
}

// eventsFirst sends the plugins the events that wait, such as the start of a
// generation, before their hooks run for its prompt.
type eventsFirst struct {
	hook.Source
	events *pluginEvents
}

// BeforeModel implements hook.Source.
func (s eventsFirst) BeforeModel(ctx context.Context, info hook.TurnInfo) []hook.Step[model.Request] {
	s.events.flush(ctx)
	return s.Source.BeforeModel(ctx, info)
}

// messageEdited tells plugins that a message was changed in place.
func (n *pluginEvents) messageEdited(id chat.ConversationID, seq chat.MessageSeq) {
	n.queueEvent(func() { n.message("MESSAGE_EDITED", id, seq) })
}

// ChatChanged tells plugins that the person changed a conversation itself.
func (c *Core) ChatChanged(id chat.ConversationID) {
	c.events.queueEvent(func() {
		if v, err := c.Store.Chats.Conversation(c.events.ctx, id); err == nil {
			c.Host.Publish("CHAT_CHANGED", map[string]any{"chat": service.ChatOf(v), "changedFields": []string{}})
		}
	})
}

// maxEvents bounds the events that wait to be sent to plugins; more are dropped, since
// plugins must not hold up a turn.
const maxEvents = 1024

// pluginEvents sends events to plugins, in order, on one goroutine.
type pluginEvents struct {
	c       *Core
	ctx     context.Context //nolint:containedctx // of reading what is told; ends with close
	cancel  context.CancelFunc
	waiting chan func()
	done    sync.WaitGroup

	// The goroutine's own:
	at       chat.ConversationID        // the chat plugins were told of last
	councils map[council.RunID]*toldRun // those that are live
}

func newPluginEvents(c *Core) *pluginEvents {
	n := &pluginEvents{c: c, waiting: make(chan func(), maxEvents), councils: map[council.RunID]*toldRun{}}
	n.ctx, n.cancel = context.WithCancel(context.Background()) // its own: close ends it
	n.done.Go(func() {
		for {
			select {
			case say := <-n.waiting:
				say()
			case <-n.ctx.Done():
				return
			}
		}
	})
	return n
}

func (n *pluginEvents) close() {
	n.cancel()
	n.done.Wait()
}

// flush waits until every waiting event has been sent, or for ctx's end.
func (n *pluginEvents) flush(ctx context.Context) {
	told := make(chan struct{})
	select {
	case n.waiting <- func() { close(told) }:
	case <-ctx.Done():
		return
	case <-n.ctx.Done():
		return
	}
	select {
	case <-told:
	case <-ctx.Done():
	case <-n.ctx.Done():
	}
}

func (n *pluginEvents) queueEvent(say func()) {
	select {
	case n.waiting <- say:
	default:
		n.c.Log.Debug("plugins were not told of something: too much waits to be told")
	}
}

// onTurnEvent sends plugins an event of a turn. It does not block.
func (n *pluginEvents) onTurnEvent(e chat.Event) {
	say := func(event string, payload map[string]any) {
		payload["generationId"], payload["chatId"] = e.Turn, e.Conversation
		n.c.Host.Publish(event, payload)
	}
	switch e.Kind {
	case chat.EventStarted:
		n.queueEvent(func() {
			n.switchTo(e.Conversation)
			say("GENERATION_STARTED", map[string]any{"model": e.Model, "generationType": e.Answers})
		})
	case chat.EventQuestioned:
		n.queueEvent(func() { n.message("MESSAGE_SENT", e.Conversation, e.Seq) })
	case chat.EventText, chat.EventReasoning:
		if n.c.Host.HasSubscriber("STREAM_TOKEN_RECEIVED") {
			n.queueEvent(func() { say("STREAM_TOKEN_RECEIVED", map[string]any{"token": e.Text, "type": string(e.Kind)}) })
		}
	case chat.EventEnded:
		n.queueEvent(func() {
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

// switchTo tells of the chat that is open or answered now, once.
func (n *pluginEvents) switchTo(id chat.ConversationID) {
	if id == n.at {
		return
	}
	n.at = id
	if id == "" {
		n.c.Host.Publish("CHAT_SWITCHED", map[string]any{"chatId": nil})
		return
	}
	n.c.Host.Publish("CHAT_SWITCHED", map[string]any{"chatId": id})
}

// message tells of a message as plugins see it, and returns it.
func (n *pluginEvents) message(event string, id chat.ConversationID, seq chat.MessageSeq) (service.Message, bool) {
	if seq == 0 || !n.c.Host.HasSubscriber(event) && !n.c.Host.HasSubscriber("GENERATION_ENDED") {
		return service.Message{}, false
	}
	path, err := n.c.Store.Chats.Path(n.ctx, id)
	if err != nil {
		return service.Message{}, false
	}
	view, ok := service.MessageAt(path, seq)
	if ok {
		n.c.Host.Publish(event, map[string]any{"chatId": id, "message": view})
	}
	return view, ok
}
