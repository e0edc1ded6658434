package turn

import (
	"context"
	"fmt"
	"sync"

	"conclave/app/chat"
	"conclave/app/tool"
	"conclave/app/tool/call"
)

// batch holds the ends of the calls of one message.
type batch struct {
	paused bool // a call has no result yet
	stuck  bool // the same call failed the same way too often
	done   bool // a tool ended the turn
}

// record records the calls of a message as asked, and puts the numbers of their records into the calls.
// It comes before the message is written, and so before any of them runs.
func (t *run) record(ctx context.Context, response chat.MessageSeq, asked []*chat.ToolCall) ([]*call.Call, error) {
	save, cancel := call.SaveContext(ctx)
	defer cancel()
	calls := make([]*call.Call, len(asked))
	for i, one := range asked {
		var found tool.Tool
		if t.toolSearch().searching(one.Tool) {
			found = searchTool
		} else if t.callTurn.Tools != nil {
			found, _ = t.callTurn.Tools.ByWire(one.Tool)
		}
		c, err := t.o.Calls.Record(save, t.turnOf(found), one, found,
			call.Position{Response: response, Round: t.round, Index: i})
		if err != nil {
			return nil, err
		}
		calls[i], one.Sequence = c, c.Record.ID
		record := c.Record
		t.emit(chat.Event{Kind: chat.EventAsked, Seq: response, Call: &record})
		if record.Mended != nil {
			t.emit(chat.Event{
				Kind: chat.EventNoted, Note: record.ToolName + ": " + record.Mended.Sentence(), Call: &record,
			})
		}
	}
	return calls, nil
}

// turnOf returns the turn for the calls of a tool: a council member's tool is called for the member.
func (t *run) turnOf(called tool.Tool) *call.Turn {
	inline, ok := t.req.Inline[called.Member]
	if !ok {
		return &t.callTurn
	}
	turn := t.callTurn
	turn.Caller, turn.CallerName = inline.Caller, inline.Name
	return &turn
}

// batch has each call decided in order, runs the allowed ones in parallel, each as soon as it is
// allowed, and finishes them. With limit, the last request with tools that the turn may make asked for
// them: then none is run.
//
// In a window, a call does not wait for the answer about the one before it, so that all cards are there
// at once and equal ones are one; a terminal is asked one thing at a time.
func (t *run) batch(ctx context.Context, calls []*call.Call, limit bool) batch {
	var running sync.WaitGroup
	serial := t.o.Points.Serial(ctx, t.callTurn.TurnInfo)
	for _, c := range calls {
		if result := t.answered(c, limit); result != nil {
			c.Finish(ctx, t.toolSearch().hinted(c, *result))
			continue
		}
		turn := make(chan struct{}) // closed when the next call may be decided
		next := sync.OnceFunc(func() { close(turn) })
		running.Go(func() { // ends with its call; waited for below
			defer next()
			refused := c.Decide(ctx, func() {
				if t.req.Asker == nil && !serial {
					next()
				}
			})
			if refused != nil {
				c.Finish(ctx, *refused)
				return
			}
			if !serial {
				next()
			}
			extra := call.Extra{Member: t.req.Member, Context: t.chatContext(c.Tool)}
			if inline, ok := t.req.Inline[c.Tool.Member]; ok {
				extra.Member = inline.Member
			}
			c.Finish(ctx, t.toolSearch().hinted(c, c.Invoke(ctx, extra)))
		})
		<-turn
		if serial && t.off == nil {
			t.off = c.Stopped()
		}
	}
	running.Wait()
	out := batch{stuck: t.failures.Stuck()}
	handled := len(calls) > 0
	for _, c := range calls {
		handled = handled && c.Handled
		out.paused = out.paused || c.Result.Status == chat.CallPaused
		out.done = out.done || c.EndTurn
	}
	out.done = out.done || handled
	return out
}

// answered returns the result of a call about which nobody is asked, because it cannot be made or is
// Conclave's own; nil for the others.
func (t *run) answered(c *call.Call, limit bool) *tool.Result {
	if off, ok := hookStopped(t.off); ok {
		return &tool.Result{Status: chat.CallCancelled, Error: off.Error()}
	}
	if limit {
		return &tool.Result{
			Status: chat.CallLimit, Error: fmt.Sprintf("limit of %d model requests reached", t.req.ChainLimit),
		}
	}
	if t.toolSearch().searching(c.Record.ToolName) && c.Record.RawArguments == "" {
		result := t.toolSearch().search(c)
		return &result
	}
	return c.Check()
}

// writeResults writes the message with the results, in call order. A paused call has none; without any
// result it writes nothing and returns false.
func (t *run) writeResults(ctx context.Context, calls []*call.Call, reason chat.EndReason) bool {
	m := chat.Message{
		Conversation: t.req.Conversation, Turn: t.turn, Role: chat.RoleTool, Model: t.model,
		State: chat.Complete, Reason: reason, Created: t.o.Now(), Ended: t.o.Now(), Parts: []chat.Part{},
	}
	if reason == chat.EndStopped {
		m.State = chat.Stopped
	}
	for _, c := range calls {
		if c.Result.Status == chat.CallPaused {
			continue
		}
		result := c.Result
		m.Parts = append(m.Parts, chat.Part{Kind: chat.PartToolResult, Result: &result})
		m.Origins = chat.AddOrigins(m.Origins, c.Record.Brought...)
	}
	if len(m.Parts) == 0 {
		return false
	}
	t.path = append(t.path, m)
	t.scribe.hold(m)
	if reason != "" || t.req.Log != nil { // no answer follows, or nothing is gained by waiting for it
		t.scribe.do(ctx, t.log.Sync)
	}
	return true
}
