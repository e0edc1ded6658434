package call

import (
	"context"

	"conclave/app/chat"
	"conclave/app/hook"
	"conclave/app/tool"
)

func (c *Call) hookCall() hook.Call {
	return hook.Call{ID: c.Name(), Tool: c.Tool, Arguments: c.arguments}
}

// traced remembers what hooks did, and emits their notes as events.
func (c *Call) traced(trace []hook.Trace) {
	c.hooks = append(c.hooks, trace...)
	for _, note := range hook.Notes(trace) {
		c.emit(Event{Kind: Noted, Note: note})
	}
}

// beforeTool has hooks look at the call before anybody is asked, and returns the result
// of a call that they refuse, or nil. What they make of its arguments is checked
// again, and is what the gate decides about.
func (c *Call) beforeTool(ctx context.Context) *tool.Result {
	if c.runner.o.Points == nil {
		return nil
	}
	out, refused, trace, err := c.runner.o.Points.BeforeTool(ctx, c.hookCall(), c.turn.TurnInfo)
	c.traced(trace)
	if err != nil {
		return &tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	if refused != "" {
		return c.refusedBy(refused)
	}
	if string(out.Arguments) != string(c.arguments) {
		c.arguments, c.Record.Arguments = out.Arguments, out.Arguments
		if bad := c.checkArguments(c.arguments); bad != nil {
			return bad
		}
	}
	c.answer = out.Result
	refused, trace, err = c.runner.o.Points.Approve(ctx, c.hookCall(), c.turn.TurnInfo)
	c.traced(trace)
	if err != nil {
		return &tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	if refused != "" {
		return c.refusedBy(refused)
	}
	return nil
}

// refusedBy is the result of a call that a hook refused, in its words.
func (c *Call) refusedBy(words string) *tool.Result {
	c.Record.Decision, c.Record.DecidedBy, c.Record.Decider = "deny", words, "hook"
	return &tool.Result{Status: chat.CallRefused, Error: words}
}

// afterTool has hooks look at what a tool answered.
func (c *Call) afterTool(ctx context.Context, r tool.Result) tool.Result {
	if c.runner.o.Points == nil || r.Status == chat.CallPaused || r.Status == chat.CallCancelled {
		return r
	}
	seen := c.hookCall()
	seen.Arguments, seen.Result, seen.Took = c.Record.Arguments, &r, c.runner.o.Now().Sub(c.Record.Started)
	out, trace, err := c.runner.o.Points.AfterTool(ctx, seen, c.turn.TurnInfo)
	c.traced(trace)
	if err != nil {
		return tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	return out
}
