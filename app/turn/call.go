package turn

import (
	"context"
	"encoding/json"
	"time"

	"github.com/google/uuid"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/permit"
	"conclave/app/tool"
)

// SingleCall is a call outside a turn: from the tools page, the command line or
// another plugin. It goes through the same gate and into the same record.
type SingleCall struct {
	Caller       permit.Caller
	Tools        *tool.Set
	Tool         string // tool id
	Arguments    string // JSON text of an object; empty is {}
	Conversation chat.ConversationID
	Member       json.RawMessage
	Context      []tool.ContextMessage
	Timeout      time.Duration // 0 is the tool's own
	Asker        permit.Asker
	Log          Log // replaces the runner's; nil is the runner's
}

// Call makes one call and returns what the tool answered. The error is for a
// call that was not made: kind not_found for an unknown tool. A refusal and bad
// arguments are results. Its record is on the disk within 250 ms, or by the
// log's next Sync; the call does not wait for that.
func (r *Runner) Call(ctx context.Context, c SingleCall) (tool.Result, error) {
	found, ok := c.Tools.ByID(c.Tool)
	if !ok {
		return tool.Result{}, fault.New(fault.NotFound, "turn.call", "There is no tool "+c.Tool+".", "conclave tools list --all shows what there is.")
	}
	t := r.newRun(Request{ID: uuid.Must(uuid.NewV7()).String(), Tools: c.Tools, Conversation: c.Conversation, Asker: c.Asker, Log: c.Log}, nil)
	id, log := t.turn, t.log
	if c.Arguments == "" {
		c.Arguments = "{}"
	}
	call := &chat.ToolCall{ID: id, Tool: found.WireName, Arguments: json.RawMessage("{}")}
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(c.Arguments), &object) == nil && object != nil {
		call.Arguments = json.RawMessage(c.Arguments)
	} else {
		call.Raw = c.Arguments
	}
	p := &pendingCall{call: call, tool: found, record: chat.CallRecord{
		Turn: id, Conversation: c.Conversation, RequestID: id, Caller: string(c.Caller), ToolName: found.WireName, ToolID: found.ID(),
		Plugin: found.Plugin, Digest: found.Digest, Instance: found.Instance, Arguments: call.Arguments, RawArguments: call.Raw, Status: chat.CallAsked, Timestamp: r.o.Now().UTC(),
	}}
	if err := log.PutCall(ctx, &p.record); err != nil {
		return tool.Result{}, err
	}
	result := t.single(ctx, p, c)
	t.end(ctx, p, result)
	result.Content = p.result.Content
	if p.result.IsError {
		result.Error = p.result.Text()
		result.Content = nil
	}
	return result, nil
}

func (t *run) single(ctx context.Context, p *pendingCall, c SingleCall) tool.Result {
	// A council call carries no arguments of its own: the handler reads the
	// context (contracts/spindle, section 7).
	if c.Member == nil {
		if refused := t.refused(p, false); refused != nil {
			return *refused
		}
	}
	released, refusal := t.decide(ctx, p, func() {})
	if !released {
		return refusal
	}
	call := tool.Call{Tool: p.tool, Conversation: c.Conversation, CouncilMember: c.Member, ContextMessages: c.Context}
	if c.Timeout > 0 {
		call.Tool.Timeout = c.Timeout
	}
	return t.makeCall(ctx, p, c.Tools, call)
}
