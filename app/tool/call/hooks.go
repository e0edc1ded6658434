package call

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/hook"
)

func (c *Call) hookCall() hook.Call {
	return hook.Call{ID: c.Name(), Tool: c.Tool, Arguments: c.arguments}
}

// traced remembers what hooks did, and emits their notes as events.
func (c *Call) traced(trace []hook.Trace) {
	c.hooks = append(c.hooks, trace...)
	for _, note := range hook.Notes(trace) {
		c.emit(chat.Event{Kind: chat.EventNoted, Note: note})
	}
}

// beforeTool runs the hooks before anybody is asked, and returns the result of a call that they refuse,
// or nil. A call that they changed is checked again, and the gate decides about the changed one.
func (c *Call) beforeTool(ctx context.Context, held func()) *tool.Result {
	if c.runner.o.Points == nil {
		return nil
	}
	out, refused, trace, err := c.runner.o.Points.BeforeTool(ctx, c.hookCall(), c.turn.TurnInfo)
	c.traced(trace)
	if err != nil {
		return c.calledOff(ctx, err)
	}
	if refused != "" {
		return c.refusedBy(refused)
	}
	if bad := c.takeChanges(out); bad != nil {
		return bad
	}
	c.answer = out.Result
	if out.Own { // who answers stands guard itself
		return nil
	}
	refused, trace, err = c.runner.o.Points.Approve(ctx, c.hookCall(), c.turn.TurnInfo)
	c.traced(trace)
	if err != nil {
		return c.calledOff(ctx, err)
	}
	if refused != "" {
		return c.refusedBy(refused)
	}
	if out.Instead != nil {
		return c.substitute(ctx, *out.Instead, held)
	}
	return nil
}

// takeChanges applies the changes of hooks to the call, and returns the result of one that cannot be made
// then, or nil.
func (c *Call) takeChanges(out hook.Call) *tool.Result {
	c.ask = append(c.ask, out.Ask...)
	if out.Renamed != "" && out.Renamed != c.Tool.WireName {
		found, ok := c.turn.Tools.ByWire(out.Renamed)
		if !ok {
			return &tool.Result{Status: chat.CallUnknown, Error: unknownTool(out.Renamed, c.turn.Tools)}
		}
		c.Tool = found
		c.names(found)
	} else if string(out.Arguments) == string(c.arguments) {
		return nil
	}
	c.arguments, c.Record.Arguments = out.Arguments, out.Arguments
	return c.checkArguments(c.arguments)
}

// maxShown bounds what a person is shown of a hook's answer, in bytes.
const maxShown = 2 << 10

// substitute asks whether a hook may answer in place of another plugin's tool, and returns the result of
// a call for which it may not. The tool itself is not run then: a hook may answer for it in order to
// keep it from running (contracts/picoclaw-hooks, section 11).
func (c *Call) substitute(ctx context.Context, by hook.Substitute, held func()) *tool.Result {
	said := by.Result.Error
	if said == "" {
		said = chat.TextOf(by.Result.Content)
	}
	shown, _ := tool.Strip(cutText(said, maxShown))
	arguments, err := json.Marshal(map[string]any{
		"tool": c.Record.ToolName, "arguments": c.arguments, "answer": shown,
	})
	if err != nil {
		arguments = nil // it is shown without
	}
	name := "answer for " + c.Tool.ID()
	asking := askingOf(ctx)
	d := c.runner.o.Gate.Decide(ctx, gate.Call{
		ID: c.Name(), Caller: c.turn.Caller, CallerName: c.turn.CallerName,
		Tool: tool.Normal(tool.Tool{
			Plugin: by.By.ID, Name: name, WireName: name, Title: "answer in place of " + c.Record.ToolName,
			Dialect: c.Tool.Dialect,
		}),
		Arguments: arguments, Conversation: c.turn.Conversation, Turn: c.turn.Turn, Taint: c.taint(), Asker: c.turn.Asker,
		Instead: c.Record.ToolName, OnWait: c.waits(asking, held),
	})
	asking.over()
	if d.Effect != gate.Allow && ctx.Err() != nil {
		return &tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	c.decided(d)
	c.emit(chat.Event{Kind: chat.EventDecided})
	if d.Effect != gate.Allow {
		return &tool.Result{
			Status: chat.CallRefused,
			Error: fmt.Sprintf("the hook %s wanted to answer in place of %s, which is not its tool; the tool was not run",
				by.By.Title, c.Record.ToolName),
		}
	}
	c.answer = &by.Result
	return nil
}

// refusedBy returns the result of a call that a hook refused, in its words.
func (c *Call) refusedBy(words string) *tool.Result {
	c.Record.Decision, c.Record.DecidedBy, c.Record.Decider = "deny", words, "hook"
	return &tool.Result{Status: chat.CallRefused, Error: words}
}

// calledOff returns the result of a call at which a hook called the turn off, or that was stopped
// meanwhile.
func (c *Call) calledOff(ctx context.Context, err error) *tool.Result {
	off, ok := errors.AsType[*hook.Stopped](err)
	if !ok || ctx.Err() != nil {
		return &tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	c.stopped = err
	return &tool.Result{Status: chat.CallCancelled, Error: off.Error()}
}

// afterTool runs the hooks on a tool's result.
func (c *Call) afterTool(ctx context.Context, r tool.Result) tool.Result {
	if c.runner.o.Points == nil || r.Status == chat.CallPaused || r.Status == chat.CallCancelled {
		return r
	}
	seen := c.hookCall()
	seen.Arguments, seen.Result, seen.Took = c.Record.Arguments, &r, c.runner.o.Now().Sub(c.Record.Started)
	out, trace, err := c.runner.o.Points.AfterTool(ctx, seen, c.turn.TurnInfo)
	c.traced(trace)
	if err != nil {
		return *c.calledOff(ctx, err)
	}
	out.Outside, out.Shared, out.Kept = r.Outside, r.Shared, r.Kept // whatever a hook made of it, it was made of that
	return out
}

// hookedReason returns why a person is asked about a call that a hook made or changed.
func hookedReason(h *chat.HookedCall) string {
	if h.Tool == "" {
		return "the model did not ask for it: the hook " + h.By + " added it"
	}
	return "the hook " + h.By + " changed what the model asked for"
}

// changed returns the call as its caller asked for it, or nil where hooks left it so.
func (c *Call) changed() *gate.Original {
	was := c.original
	moved := was.Tool != c.Tool.WireName
	if !moved && tool.SameJSON(was.Arguments, c.arguments) {
		return nil
	}
	if found, ok := c.turn.Tools.ByWire(was.Tool); ok {
		was.Tool = found.DisplayName()
	}
	if !moved {
		was.Tool = ""
	}
	return &was
}
