package core

import (
	"context"
	"io"
	"slices"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/model"
	"conclave/app/plugin"
	"conclave/app/service"
	"conclave/app/service/events"
	"conclave/app/tool/hook"
)

// services returns what plugins may ask Conclave for.
func (c *Core) services() map[string]plugin.Service {
	c.Settings.Switched = func(id string) { c.events.Opened(chat.ConversationID(id)) }
	c.Services = service.New(service.Options{
		Chats: c.Store.Turns, Conversations: c.Conversations, Models: c.Models, Keys: c.Keys, Lending: c.Gate.Reach,
		Values:   c.Store.PluginData,
		Spending: spending{c.Store.Plugins, c}, Now: c.o.Now,
		Shared: c.Store.PluginData, Web: c.egress, Bus: c.Bus, Log: c.Log, Active: c.active, Given: c.givenIn,
		Council: c.councilOf, Publish: c.Host.Hooks.Publish,
	})
	all := c.Services.All()
	all["macros.resolve"] = c.Services.Resolve(c.prompt())
	return all
}

// prompt lets plugins look at prompts.
func (c *Core) prompt() *service.Prompt {
	return &service.Prompt{Hooks: c.Host.Hooks, Granted: func(id, permission string) bool {
		granted, _ := c.Gate.Reach.Permissions(id)
		return slices.Contains(granted, permission)
	}}
}

// flushTime bounds how long plugins have, before Conclave closes, to get the last events and to act
// on them.
var flushTime = 3 * time.Second

// flushEvents lets plugins handle the last events: a command that answers and ends must not lose what
// a plugin saves at the end of an answer.
func (c *Core) flushEvents() {
	ctx, cancel := context.WithTimeout(context.Background(), flushTime) // nobody's: the program is ending
	defer cancel()
	if c.events != nil && c.Host != nil {
		c.events.Flush(ctx)
		for _, o := range c.observers {
			o.Flush(ctx)
		}
		c.Host.Hooks.WaitDelivered(ctx)
	}
}

// endServices stops the events to plugins. It may be called more than once, and before there are any.
func (c *Core) endServices() {
	if c.events != nil {
		c.events.Close()
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

// points returns the hooks of turns and calls: those of plugins' processes. From now on hook processes
// get the events of turns.
func (c *Core) points() *hook.Points {
	sources, observers := hookProcesses(c.dialects, c.Host.Backends)
	c.observers = observers
	return &hook.Points{
		Sources: append([]hook.Source{eventsFirst{c.prompt(), c.events}}, sources...), Mask: mask{c}.unasked,
		Guard: guard{c}.turn, Required: guard{c}.required,
	}
}

// guard keeps turns from going on without hooks that the person wants in each.
type guard struct{ c *Core }

// required returns a function that reports whether the person wants no answer without the hooks of
// a plugin.
func (g guard) required(ctx context.Context) func(id string) bool {
	set, err := g.c.Settings.Settings(ctx)
	return func(id string) bool { // nobody can tell without the settings
		return id != hook.Conclave.ID && (err != nil || slices.Contains(set.RequiredHooks, id))
	}
}

// turn stops a turn in which plugins cannot take part that the person approved or requires.
func (g guard) turn(ctx context.Context) error {
	if problem := g.c.Host.Folder.Unread(); problem != nil && g.c.expectsPlugins() {
		return hook.Refuse("The plugins that you approved cannot take part, so nothing was sent to the model. "+
			problem.Message, problem.Hint)
	}
	set, err := g.c.Settings.Settings(ctx)
	if err != nil {
		return err
	}
	for _, id := range set.RequiredHooks {
		why, err := g.c.Host.Absent(ctx, id)
		if err != nil {
			return err
		}
		if why != "" {
			return hook.Refuse("The hooks of the plugin "+id+" are required and do not run, so nothing was sent to "+
				"the model. "+why, hook.OptionalHint(id))
		}
	}
	return nil
}

// observer sends the events of turns to hook processes.
type observer interface {
	Take(e chat.Event) // without waiting
	Flush(ctx context.Context)
	Close()
}

// onTurnEvent sends plugins an event of a turn, unless its chat is temporary. It does not block.
func (c *Core) onTurnEvent(e chat.Event) {
	if e.Kind == chat.EventQuestioned {
		c.Bus.Changed(bus.Chats, "") // the chat may be new, and is the newest
	}
	if c.Store.Chats.IsTemporary(e.Conversation) {
		return
	}
	c.events.Turn(e)
	for _, o := range c.observers {
		o.Take(e)
	}
}

// eventsFirst sends the plugins the events that wait, such as the start of a
// generation, before their hooks run for its prompt.
type eventsFirst struct {
	hook.Source
	events *events.Events
}

// BeforeModel implements hook.Source.
func (s eventsFirst) BeforeModel(ctx context.Context, info hook.TurnInfo) []hook.Step[model.Request] {
	s.events.Flush(ctx)
	return s.Source.BeforeModel(ctx, info)
}

// ChatChanged tells plugins that the person changed a conversation itself, unless it is temporary.
func (c *Core) ChatChanged(id chat.ConversationID) {
	if !c.Store.Chats.IsTemporary(id) {
		c.events.Changed(id)
	}
}
