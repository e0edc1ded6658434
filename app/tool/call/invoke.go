package call

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
	"conclave/app/tool/hook"

	"golang.org/x/sync/semaphore"
)

// wholeLine is the weight of a plugin's queue, of which each running call holds an equal part: so a call that
// begins after the person changed their number waits for those that began before. It is large enough that the
// rest of a division never lets one call more run.
const wholeLine = 1 << 20

// grace is the time after a call's deadline that its invoker may take to report that itself, with a better
// sentence, before its context ends.
const grace = time.Second

// maxProgress is the longest note of progress that is shown, in characters: one line.
const maxProgress = 1000

// errTimeout is the cause of a call's context that ended at its deadline.
var errTimeout = errors.New("the call took too long")

// stopped is the result of a call whose context ended, for the model.
const stopped = "the person stopped the answer"

// Extra holds what a tool gets with a call in addition to the arguments. The zero
// value adds nothing.
type Extra struct {
	Member  json.RawMessage       // the council member's context object
	Context []tool.ContextMessage // the messages that the caller got
	// Handed is called with the messages of Context that the tool gets, as it is called.
	Handed  func([]tool.ContextMessage)
	Timeout time.Duration // 0 is the tool's own
}

// Invoke makes a call that the gate allowed. It waits in the plugin's queue, puts the
// call on record as running, and calls the tool under its deadline. Everything that
// can go wrong is a result.
func (c *Call) Invoke(ctx context.Context, extra Extra) tool.Result {
	invoker, ok := c.turn.Tools.Invoker(c.Tool.ID())
	if !ok {
		return tool.Result{Status: chat.CallDied, Error: "the plugin " + c.Tool.Plugin + " is gone"}
	}
	if asker, ok := c.turn.Asker.(elicit.Asker); ok {
		ctx = elicit.WithAsker(ctx, asker)
	}
	line, weight := c.runner.line(c.Tool)
	if line.Acquire(ctx, weight) != nil {
		return tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	defer line.Release(weight)
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	refused, ended := c.begin(ctx, cancel)
	defer ended()
	if refused != nil {
		return *refused
	}
	if c.runner.o.Keep != nil && c.answer == nil {
		ended, err := c.runner.o.Keep(ctx, &c.Record)
		if err != nil {
			return *notKept(ctx, err)
		}
		if ended != nil {
			defer c.keptEnd(ended)
		}
	}
	if refused := c.markRunning(ctx); refused != nil {
		return *refused
	}
	if c.answer != nil {
		return *c.answer
	}
	return c.underDeadline(ctx, limited, cancel, invoker, extra)
}

// notKept returns the result of a call that is not made since nobody could undo it.
func notKept(ctx context.Context, err error) *tool.Result {
	if ctx.Err() != nil {
		return &tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	f := fault.Of(err)
	return &tool.Result{
		Status: chat.CallDied,
		Error: strings.TrimSpace("the files that the call may change could not be kept as they are, so it was not made: " +
			f.Message + " " + f.Hint),
	}
}

// keptEnd writes into the record what a call changed, and notes what is not known.
func (c *Call) keptEnd(ended func(*chat.CallRecord)) {
	ended(&c.Record)
	if c.Record.Unkept != "" {
		c.emit(chat.Event{Kind: chat.EventNoted, Note: c.Record.ToolName + ": " + c.Record.Unkept})
	}
}

// underDeadline calls the tool and takes its result, by the deadline at the latest. cancel ends limited,
// which is derived from ctx.
func (c *Call) underDeadline(ctx, limited context.Context, cancel context.CancelCauseFunc,
	invoker tool.Invoker, extra Extra,
) tool.Result {
	timeout := cmp.Or(extra.Timeout, c.Tool.TimeLimit())
	limit := time.AfterFunc(timeout+grace, func() { cancel(errTimeout) })
	defer limit.Stop()
	deadline, asking := c.runner.o.Now().Add(timeout), askingOf(ctx)
	defer asking.over()
	if c.runner.o.Sent != nil {
		defer func() { c.Record.Sent = append(c.Record.Sent, c.runner.o.Sent(c.Name())...) }()
	}
	limited = gate.WithBehalf(limited, gate.Call{
		ID: c.Name(), Caller: c.turn.Caller, CallerName: c.turn.CallerName, Tool: c.Tool,
		Conversation: c.turn.Conversation, Turn: c.turn.Turn, Asker: c.turn.Asker, Taint: c.taint(),
		Rule: c.Record.Rule, Capabilities: c.allowed.Capabilities,
	})
	given := c.given(extra.Context)
	if extra.Handed != nil {
		extra.Handed(given)
	}
	result := c.runner.invoke(limited, invoker, tool.Call{
		ID: c.Name(), Tool: c.Tool, Arguments: c.Record.Arguments, RawArguments: c.rawArguments(),
		Conversation: c.turn.Conversation,
		Deadline:     deadline, CouncilMember: extra.Member, ContextMessages: given,
		Progress: func(note string) {
			note, _ = tool.Strip(shorten.To(note, maxProgress))
			c.emit(chat.Event{Kind: chat.EventProgress, Note: note})
		},
		Moved: func(to time.Time) { // out when a person is asked, and back when they answered
			limit.Reset(time.Until(to) + grace)
			if to.After(deadline) {
				asking.begin()
			} else {
				asking.over()
			}
			deadline = to
		},
	})
	result = c.ended(ctx, limited, result)
	if result.CallsOff != "" {
		by := hook.Owner{ID: c.Tool.Plugin, Title: c.Tool.Plugin}
		return *c.calledOff(ctx, hook.CallOff(by, result.Error, result.CallsOff == tool.TakesItBack))
	}
	switch {
	case result.Status == chat.CallTimeout && result.Error == "":
		result.Error = TookLonger(c.Record.ToolName, timeout)
	case result.Status == chat.CallCancelled && ctx.Err() != nil:
		result.Error = stopped
	}
	return c.afterTool(ctx, result)
}

// TookLonger returns the sentence about something that its deadline stopped.
func TookLonger(what string, than time.Duration) string {
	return fmt.Sprintf("%s took longer than %s and was stopped", what, fault.Seconds(than))
}

// ended returns the result of a call that was stopped, by its deadline or the person, as one of
// these.
func (c *Call) ended(ctx, limited context.Context, r tool.Result) tool.Result {
	var taken revoked
	switch {
	case r.Status != chat.CallCancelled || ctx.Err() != nil:
	case errors.Is(context.Cause(limited), errTimeout):
		return tool.Result{Status: chat.CallTimeout, Printed: r.Printed}
	case errors.As(context.Cause(limited), &taken):
		r.Error = taken.Error()
		c.Record.Stopped = taken.Why
	}
	return r
}

// markRunning records the call as running: a kill while it runs must not lose that it was asked for. The
// result is for a call that is not made because that failed.
func (c *Call) markRunning(ctx context.Context) *tool.Result {
	var err error
	if c.turn.Ready != nil {
		err = c.turn.Ready()
	}
	if err == nil {
		c.Record.Status, c.Record.Started = chat.CallRunning, c.runner.o.Now().UTC()
		err = c.log.PutCall(ctx, &c.Record)
		if err != nil && ctx.Err() != nil {
			return &tool.Result{Status: chat.CallCancelled, Error: stopped}
		}
	}
	if err != nil {
		return &tool.Result{
			Status: chat.CallDied,
			Error:  "the call could not be put on record, so it was not made: " + fault.Of(err).Message,
		}
	}
	c.emit(chat.Event{Kind: chat.EventRunning})
	return nil
}

// line returns the queue of the tool's plugin, and the part of it that a call of the tool holds: Options.AtOnce
// calls run at once, or one serial call, from whatever caller. Calls that wait begin in the order in which they
// came.
func (r *Runner) line(t tool.Tool) (line *semaphore.Weighted, weight int64) {
	weight = wholeLine
	if !t.Serial {
		weight /= int64(r.o.AtOnce(t.Plugin))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if line = r.lines[t.Plugin]; line == nil {
		line = semaphore.NewWeighted(wholeLine)
		r.lines[t.Plugin] = line
	}
	return line, weight
}

// invoke calls the tool; an error of Conclave itself is a result too, so that a turn goes on.
func (r *Runner) invoke(ctx context.Context, invoker tool.Invoker, call tool.Call) (result tool.Result) {
	defer func() {
		if p := recover(); p != nil { // an invoker's bug must not end the program
			r.o.Slog.Error("a tool's invoker panicked", "tool", call.Tool.ID(), "err", p)
			result = tool.Result{Status: chat.CallDied, Error: "the call failed inside Conclave"}
		}
	}()
	result, err := invoker.Call(ctx, call)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{Status: chat.CallCancelled}
		}
		r.o.Slog.Error("a tool could not be called", "tool", call.Tool.ID(), "err", err)
		return tool.Result{Status: chat.CallDied, Error: fault.Of(err).Message}
	}
	if result.Status == "" {
		result.Status = chat.CallOK
	}
	return result
}
