package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"conclave/app/chat"
	"conclave/app/permit"
	"conclave/app/tool"
)

// perPlugin is how many calls of one plugin run at once
// (contracts/llm-functions, section 8.3).
const perPlugin = 4

// grace is how long after a call's deadline its invoker may take to say so
// itself, which it can say better, before its context ends.
const grace = time.Second

// errTimeout is the cause of a call's context that ended at its deadline.
var errTimeout = errors.New("the call took too long")

// batch is what came of the calls of one message.
type batch struct {
	paused bool // a call has no result yet
	stuck  bool // the same call failed the same way too often
	done   bool // a tool ended the turn
}

// pendingCall is one call of a batch on its way.
type pendingCall struct {
	record chat.CallRecord
	call   *chat.ToolCall
	tool   tool.Tool // zero when there is no such tool
	search bool      // it is the built-in search for tools
	stop   bool      // its tool ended the turn
	result chat.ToolResult
}

// record puts the calls of a message on record as asked, and the numbers of
// their records into the calls. It comes before the message is written, and so
// before any of them runs.
func (t *run) record(ctx context.Context, response chat.MessageSeq, calls []*chat.ToolCall) ([]*pendingCall, error) {
	save, cancel := t.saving(ctx)
	defer cancel()
	pending := make([]*pendingCall, len(calls))
	for i, call := range calls {
		p := &pendingCall{call: call, record: chat.CallRecord{
			ID: call.Sequence, ResponseID: response, Turn: t.turn, Conversation: t.req.Conversation, Round: t.round, Index: i,
			RequestID: call.ID, Caller: string(permit.Main), ToolName: call.Tool,
			Arguments: call.Arguments, RawArguments: call.Raw, Status: chat.CallAsked, Timestamp: t.o.Now().UTC(),
		}}
		if t.req.Tools != nil {
			found, ok := t.req.Tools.ByWire(call.Tool)
			if p.search = t.searching(call.Tool); p.search {
				found, ok = searchTool, true
			}
			if ok {
				p.tool = found
				p.record.ToolID, p.record.Plugin, p.record.Digest, p.record.Instance = found.ID(), found.Plugin, found.Digest, found.Instance
			}
		}
		pending[i] = p
		if err := t.log.PutCall(save, &p.record); err != nil {
			return nil, err
		}
		call.Sequence = p.record.ID
		t.emit(Event{Kind: Asked, Seq: response, Call: copyRecord(p.record)})
	}
	return pending, nil
}

// batch has each call decided in order, runs the released ones in parallel as
// they are released, and writes the results in call order. limit says that the
// turn's last request with tools asked for them: then none is run.
//
// Where a window is asked, a call does not wait for the answer to the one before
// it, so that all cards are there at once and equal ones are one; a terminal is
// asked one thing at a time.
func (t *run) batch(ctx context.Context, pending []*pendingCall, limit bool) batch {
	var running sync.WaitGroup
	for _, p := range pending {
		if refused := t.refused(p, limit); refused != nil {
			t.end(ctx, p, t.hinted(p, *refused))
			continue
		}
		if p.search {
			t.end(ctx, p, t.search(p))
			continue
		}
		turn := make(chan struct{}) // closed when the next call may be decided
		next := sync.OnceFunc(func() { close(turn) })
		running.Go(func() { // ends with its call; waited for below
			defer next()
			released, refusal := t.decide(ctx, p, func() {
				if t.req.Asker == nil {
					next()
				}
			})
			if !released {
				t.end(ctx, p, refusal)
				return
			}
			next()
			t.end(ctx, p, t.hinted(p, t.perform(ctx, p)))
		})
		<-turn
	}
	running.Wait()
	out := batch{stuck: t.stuck()}
	for _, p := range pending {
		out.paused = out.paused || p.result.Status == chat.CallPaused
		out.done = out.done || p.stop
	}
	return out
}

// writeResults writes the message with the results, in call order, behind the
// turn. A call that is paused has none; with no result at all nothing is written,
// and the answer is false.
func (t *run) writeResults(ctx context.Context, pending []*pendingCall, reason chat.EndReason) bool {
	m := chat.Message{
		Conversation: t.req.Conversation, Turn: t.turn, Role: chat.RoleTool, Model: t.model,
		State: chat.Complete, Reason: reason, Created: t.o.Now(), Ended: t.o.Now(), Parts: []chat.Part{},
	}
	if reason == chat.EndStopped {
		m.State = chat.Stopped
	}
	for _, p := range pending {
		if p.result.Status == chat.CallPaused {
			continue
		}
		result := p.result
		m.Parts = append(m.Parts, chat.Part{Kind: chat.PartToolResult, Result: &result})
	}
	if len(m.Parts) == 0 {
		return false
	}
	t.path = append(t.path, m)
	t.scribe.do(ctx, func(save context.Context) error {
		if err := t.scribe.append(save, &m); err != nil {
			return err
		}
		t.emit(Event{Kind: Saved, Seq: m.Seq})
		return nil
	})
	return true
}

// refused is the result of a call that cannot be run at all, or nil.
func (t *run) refused(p *pendingCall, limit bool) *tool.Result {
	switch {
	case limit:
		return &tool.Result{Status: chat.CallLimit, Error: fmt.Sprintf("limit of %d model requests reached", t.req.ChainLimit)}
	case p.tool.Name == "":
		return &tool.Result{Status: chat.CallUnknown, Error: unknownTool(p.call.Tool, t.req.Tools)}
	case p.call.Raw != "":
		return badArguments(p, notObject(p.call.Raw))
	case p.search:
		return nil
	}
	return t.misfit(p, p.call.Arguments)
}

// misfit is the result of a call whose arguments do not fit its schema, or nil.
func (t *run) misfit(p *pendingCall, arguments json.RawMessage) *tool.Result {
	warning, err := p.tool.CheckArguments(arguments)
	if warning != "" {
		t.o.Slog.Debug("a tool's arguments could not be checked", "tool", p.tool.ID(), "err", warning)
	}
	if err != nil {
		return badArguments(p, err)
	}
	return nil
}

func badArguments(p *pendingCall, err error) *tool.Result {
	return &tool.Result{Status: chat.CallBadArguments, Error: "arguments do not fit " + p.call.Tool + ":\n" + err.Error()}
}

// callID names a call to the gate and to its tool. It is the same when a paused
// call is resumed.
func (t *run) callID(p *pendingCall) string {
	return string(t.req.Conversation) + "/" + p.call.ID
}

// decide asks the gate about one call. held is called when a person has to be
// waited for.
func (t *run) decide(ctx context.Context, p *pendingCall, held func()) (bool, tool.Result) {
	d := t.o.Gate.Ask(ctx, permit.Request{
		Call: t.callID(p), Caller: permit.Caller(p.record.Caller), Tool: p.tool, Arguments: p.call.Arguments,
		Conversation: t.req.Conversation, Turn: t.turn, Asker: t.req.Asker,
		Waiting: func(q permit.Pending) {
			t.emit(Event{Kind: Held, Call: copyRecord(p.record), Pending: &q})
			held()
		},
	})
	if d.Effect != permit.Allow && ctx.Err() != nil {
		return false, tool.Result{Status: chat.CallCancelled, Error: "the person stopped the answer"}
	}
	p.record.Decision, p.record.DecidedBy = string(d.Effect), d.Why
	if d.Effect == permit.Allow && d.Edited {
		p.record.Arguments = d.Arguments // by the person
	}
	t.emit(Event{Kind: Decided, Call: copyRecord(p.record), Decision: &d})
	if d.Effect != permit.Allow {
		return false, tool.Result{Status: chat.CallRefused, Error: cmp.Or(d.Reason, d.Why, "it was not allowed")}
	}
	if d.Edited {
		if bad := t.misfit(p, d.Arguments); bad != nil {
			return false, *bad
		}
	}
	return true, tool.Result{}
}

// perform runs a released call, when its plugin has room for it.
func (t *run) perform(ctx context.Context, p *pendingCall) tool.Result {
	return t.makeCall(ctx, p, t.req.Tools, tool.Call{
		Tool: p.tool, Conversation: t.req.Conversation, ContextMessages: t.told(p.tool),
		Progress: func(note string) {
			note, _ = tool.Strip(note)
			t.emit(Event{Kind: Progress, Call: copyRecord(p.record), Note: note})
		},
	})
}

// makeCall waits for a place in the plugin's line, puts the call on record as running
// and makes it, under its time limit.
func (t *run) makeCall(ctx context.Context, p *pendingCall, tools *tool.Set, call tool.Call) tool.Result {
	invoker, ok := tools.Invoker(p.tool.ID())
	if !ok {
		return tool.Result{Status: chat.CallDied, Error: "the plugin " + p.tool.Plugin + " is gone"}
	}
	weight := int64(1)
	if p.tool.Serial {
		weight = perPlugin
	}
	line := t.line(p.tool.Plugin)
	if line.Acquire(ctx, weight) != nil {
		return tool.Result{Status: chat.CallCancelled, Error: "the person stopped the answer"}
	}
	defer line.Release(weight)

	timeout := cmp.Or(call.Tool.Timeout, tool.DefaultTimeout)
	if err := t.scribe.wait(); err != nil { // a kill while it runs must not lose that it was asked for
		return tool.Result{Status: chat.CallDied, Error: "the call could not be put on record, so it was not made: " + failure(err).Message}
	}
	p.record.Status, p.record.Started = chat.CallRunning, t.o.Now().UTC()
	if err := t.log.PutCall(ctx, &p.record); err != nil {
		if ctx.Err() != nil {
			return tool.Result{Status: chat.CallCancelled, Error: "the person stopped the answer"}
		}
		return tool.Result{Status: chat.CallDied, Error: "the call could not be put on record, so it was not made: " + failure(err).Message}
	}
	t.emit(Event{Kind: Running, Call: copyRecord(p.record)})
	call.ID, call.Arguments, call.Deadline = t.callID(p), p.record.Arguments, t.o.Now().Add(timeout)
	limited, cancel := context.WithTimeoutCause(ctx, timeout+grace, errTimeout)
	defer cancel()
	result := t.invoke(limited, invoker, call)
	if result.Status == chat.CallCancelled && ctx.Err() == nil && errors.Is(context.Cause(limited), errTimeout) {
		result = tool.Result{Status: chat.CallTimeout, Printed: result.Printed}
	}
	switch {
	case result.Status == chat.CallTimeout && result.Error == "":
		result.Error = fmt.Sprintf("%s took longer than %s and was stopped", p.call.Tool, seconds(timeout))
	case result.Status == chat.CallCancelled && ctx.Err() != nil:
		result.Error = "the person stopped the answer"
	}
	return result
}

func seconds(d time.Duration) string {
	if d%time.Second == 0 {
		return fmt.Sprintf("%d s", int(d.Seconds()))
	}
	return fmt.Sprintf("%.1f s", d.Seconds())
}

// line is a plugin's line: perPlugin calls at once, or one serial one, whichever
// turns they belong to.
func (r *Runner) line(plugin string) *semaphore.Weighted {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := r.lines[plugin]
	if line == nil {
		line = semaphore.NewWeighted(perPlugin)
		r.lines[plugin] = line
	}
	return line
}

// invoke calls the tool; what goes wrong with Conclave itself is a result too, so
// that the turn goes on.
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
		return tool.Result{Status: chat.CallDied, Error: failure(err).Message}
	}
	if result.Status == "" {
		result.Status = chat.CallOK
	}
	return result
}

// end gives a call its result and puts both on record.
func (t *run) end(ctx context.Context, p *pendingCall, r tool.Result) {
	save, cancel := t.saving(ctx)
	defer cancel()
	r.Content = t.o.settleMedia(save, t.log, r.Content)
	p.stop = r.EndTurn && r.Status == chat.CallOK
	p.result = shape(p, r)
	if r.Status != chat.CallOK {
		t.repeated(p)
	} else {
		t.forget(p)
	}
	if r.Status != chat.CallPaused {
		p.record.Ended = t.o.Now().UTC()
		if !p.record.Started.IsZero() {
			p.record.MS = float64(p.record.Ended.Sub(p.record.Started).Microseconds()) / 1000
		}
	}
	if err := t.log.PutCall(save, &p.record); err != nil {
		t.o.Slog.Error("the end of a call could not be recorded", "tool", p.record.ToolID, "err", err)
	}
	result := p.result
	t.emit(Event{Kind: Answered, Call: copyRecord(p.record), Result: &result})
}

func copyRecord(r chat.CallRecord) *chat.CallRecord { return &r }
