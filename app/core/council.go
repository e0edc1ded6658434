package core

import (
	"cmp"
	"context"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/council/deliberation"
	"conclave/app/plugin"
	"conclave/app/service"
	"conclave/app/tool/call"
)

// councils returns the runner of councils.
func (c *Core) councils() *deliberation.Runner {
	return deliberation.New(deliberation.Options{
		Log: c.Store.Councils, Settings: c.Store.Councils, Conversations: c.Conversations, Calls: c.Calls,
		Tools: c.Tools, Models: c.Models, Chats: c.Store.Turns, Bus: c.Bus, Price: c.Models.Price,
		Call: c.Store.Calls.Call, Slog: c.Log,
		OnEvent: func(e deliberation.Event) {
			if !c.Store.Chats.IsTemporary(e.Run.Conversation) { // plugins get no events of those
				c.events.Council(e)
			}
		},
		Missing: c.whyMissing,
		Load:    func(ctx context.Context, plugins ...string) error { return c.Scan(ctx, plugins...) },
		Background: func(ctx context.Context, id chat.ConversationID, path []chat.Message) (
			[]council.Background, error,
		) {
			return c.Services.Memory.Background(ctx, id, path) // built after this
		},
	})
}

// whyMissing returns a sentence on why tools of a plugin are not there, and how to get them back; ""
// for an unknown plugin.
func (c *Core) whyMissing(id string, tools []string) string {
	s, err := c.Host.Status(id)
	if err != nil {
		return ""
	}
	what, are := "The tool "+tools[0], "is"
	if len(tools) > 1 {
		what, are = "The tools "+limit.Listed(tools), "are"
	}
	what += " of " + cmp.Or(s.Manifest.Name, id) + " " + are
	switch {
	case s.ToolsDenied:
		return what + " not offered: you took the permission tools from the plugin. Give it back with " +
			"conclave plugins grant " + id + " tools."
	case s.State == plugin.Disabled:
		return what + " not offered: the plugin is switched off. Switch it on with " +
			"conclave plugins enable " + id + "."
	case s.State == plugin.NeedsApproval || s.State == plugin.Quarantined && s.Problem == nil:
		return what + " not offered: the plugin waits for your approval. Look at it with " +
			"conclave plugins trust " + id + "."
	case s.Problem != nil && !s.Serving:
		return what + " not offered: the plugin does not run. " + s.Problem.Message
	}
	return ""
}

// councilOf returns the council that holds in a chat.
func (c *Core) councilOf(ctx context.Context, id chat.ConversationID) (council.Council, error) {
	held, _, err := c.Councils.Council(ctx, id, "")
	return held, err
}

// projectOf returns the project of a chat; "" for none, and for a temporary chat.
func (c *Core) projectOf(ctx context.Context, id chat.ConversationID) (string, error) {
	project, err := c.Store.Chats.Project(ctx, id)
	if fault.KindOf(err) == fault.NotFound {
		return "", nil
	}
	return project, err
}

// givenIn returns what was given to the council member that makes a call.
func (c *Core) givenIn(name string) (service.Given, bool) {
	turn := call.TurnOf(name)
	if turn == "" {
		return service.Given{}, false
	}
	message, memory, is := c.Councils.Given(turn)
	return service.Given{Message: message, Memory: memory}, is
}
