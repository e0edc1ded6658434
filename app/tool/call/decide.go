package call

import (
	"cmp"
	"context"
	"encoding/json"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

// Check returns the result of a call that cannot be made, because there is no such
// tool or its arguments do not fit; nil for one that can.
func (c *Call) Check() *tool.Result {
	switch {
	case c.Tool.Name == "":
		return &tool.Result{Status: chat.CallUnknown, Error: unknownTool(c.Record.ToolName, c.turn.Tools)}
	case c.Record.RawArguments != "" && !c.Tool.Convention.Raw:
		return c.badArguments(notObject(c.Record.RawArguments))
	}
	return c.checkArguments(c.arguments)
}

// checkArguments returns the result of a call whose arguments do not fit its schema, or nil.
func (c *Call) checkArguments(arguments json.RawMessage) *tool.Result {
	warning, err := c.Tool.CheckArguments(arguments)
	if warning != "" {
		c.runner.o.Slog.Debug("a tool's arguments could not be checked", "tool", c.Tool.ID(), "err", warning)
	}
	if err != nil {
		return c.badArguments(err)
	}
	return nil
}

func (c *Call) badArguments(err error) *tool.Result {
	return &tool.Result{
		Status: chat.CallBadArguments, Error: "arguments do not fit " + c.Record.ToolName + ":\n" + err.Error(),
	}
}

// Decide runs the hooks before the call and asks the gate. It returns the result of a
// call that one of them denied or answered wrongly, nil for one that may be made.
// held, when not nil, is called before the gate waits for a person.
func (c *Call) Decide(ctx context.Context, held func()) *tool.Result {
	if refused := c.beforeTool(ctx, held); refused != nil || c.answer != nil && c.Record.Decision != "" {
		return refused
	}
	asking := askingOf(ctx)
	asked := gate.Call{
		ID: c.Name(), Caller: c.turn.Caller, CallerName: c.turn.CallerName, Tool: c.Tool, Arguments: c.arguments,
		Conversation: c.turn.Conversation, Turn: c.turn.Turn, Taint: c.taint(), Asker: c.turn.Asker,
		Because: c.ask, Original: c.changed(), OnWait: c.waits(asking, held), Given: c.turn.Given,
	}
	if c.turn.Wrote != nil {
		asked.Wrote = c.turn.Wrote(c.arguments)
	}
	d := c.runner.o.Gate.Decide(ctx, asked)
	asking.over()
	if d.Effect != gate.Allow && ctx.Err() != nil {
		return &tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	c.decided(d)
	if d.Effect == gate.Allow && d.Edited {
		c.Record.Arguments = d.Arguments // by the person
	}
	c.emit(chat.Event{Kind: chat.EventDecided})
	if d.Effect != gate.Allow {
		return &tool.Result{Status: chat.CallRefused, Error: cmp.Or(d.Reason, d.Why, "it was not allowed")}
	}
	c.asked, c.allowed = asked, d
	if d.Edited {
		c.asked.Arguments = d.Arguments
		return c.checkArguments(d.Arguments)
	}
	return nil
}

// given returns the messages of the caller that the tool gets: none if the gate allowed the call because
// its arguments could not carry untrusted text.
func (c *Call) given(context []tool.ContextMessage) []tool.ContextMessage {
	if c.allowed.Alone && context != nil {
		return []tool.ContextMessage{}
	}
	return context
}

// revoked is the cause of a call's context that ended because the person paused the tools or revoked
// what allowed the call, with the refusal that took its place.
type revoked gate.Decision

// Error implements error; the model gets it.
func (t revoked) Error() string {
	return "it was stopped while it ran: " + t.Reason + ". What it did until then stays."
}

// begin begins an allowed call, which cancel stops once it may not go on; the caller calls ended when it
// is over. The result is for a call that may not be made any more, since the person paused the tools or
// revoked a permission while it waited; nil for one that may.
func (c *Call) begin(ctx context.Context, cancel context.CancelCauseFunc) (refused *tool.Result, ended func()) {
	if c.allowed.Effect != gate.Allow || c.answer != nil {
		return nil, func() {}
	}
	d, ended := c.runner.o.Gate.Begin(ctx, c.asked, c.allowed, func(no gate.Decision) { cancel(revoked(no)) })
	if d.Effect == gate.Allow {
		return nil, ended
	}
	c.decided(d)
	c.emit(chat.Event{Kind: chat.EventDecided})
	return &tool.Result{Status: chat.CallRefused, Error: cmp.Or(d.Reason, d.Why)}, ended
}

// taint returns the origins of the text that the call could carry on: of what its caller got, and of what
// hooks put into the call.
func (c *Call) taint() []chat.Origin {
	var all []chat.Origin
	if c.turn.Taint != nil {
		all = c.turn.Taint()
	}
	return chat.AddOrigins(all, hook.Origins(c.hooks)...)
}

// waits reports that a person is asked about the call.
func (c *Call) waits(asking *asking, held func()) func(id string) {
	return func(id string) {
		asking.begin()
		if c.turn.Ready != nil { // the chat shows the call before anybody is asked about it
			_ = c.turn.Ready() // Invoke looks at the error
		}
		c.emit(chat.Event{Kind: chat.EventHeld, Request: id})
		if held != nil {
			held()
		}
	}
}
