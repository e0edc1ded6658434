package call

import (
	"context"
	"encoding/json"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"

	"github.com/google/uuid"
)

// Do makes one call outside a turn (o.Turn names it; empty makes a name), of the tool with the given id, through all
// steps, and returns what the tool answered. arguments are the JSON text of an
// object; empty is {}. Where a council member calls (extra.Member) and there are none,
// none are checked: the tool reads the context (contracts/spindle, section 7).
//
// The error is for a call that was not made: kind not_found for an unknown tool, or
// the log's. A refusal and bad arguments are results. That a person's call was asked for is on the
// disk before it is made, as Ready says if there is one, or Sync. The rest of the call's record is
// there within 250 ms, or by the log's next Sync; Do does not wait for that.
func (r *Runner) Do(ctx context.Context, o Turn, id, arguments string, extra Extra) (tool.Result, error) {
	found, ok := o.Tools.ByID(id)
	if !ok {
		return tool.Result{}, fault.New(fault.NotFound, "call", "There is no tool "+id+".",
			"conclave tools list --all shows what there is.")
	}
	if o.Turn == "" {
		o.Turn = uuid.Must(uuid.NewV7()).String()
	}
	asked := &chat.ToolCall{ID: o.Turn, Tool: found.WireName, Arguments: json.RawMessage("{}")}
	var object map[string]json.RawMessage
	switch {
	case arguments == "":
	case json.Unmarshal([]byte(arguments), &object) == nil && object != nil:
		asked.Arguments = json.RawMessage(arguments)
	default:
		asked.Raw = arguments
	}
	if o.Ready == nil && o.Caller == gate.Person && r.o.Sync != nil {
		o.Ready = func() error { return r.o.Sync(ctx) }
	}
	c, err := r.Record(ctx, &o, asked, found, Position{})
	if err != nil {
		return tool.Result{}, err
	}
	result := c.steps(ctx, extra, extra.Member != nil && arguments == "")
	c.Finish(ctx, result)
	result.Content = c.Result.Content
	if c.Result.IsError {
		result.Error, result.Content = c.Result.Text(), nil
	}
	return result, nil
}

// steps takes a call from its check to its result.
func (c *Call) steps(ctx context.Context, extra Extra, unchecked bool) tool.Result {
	if !unchecked {
		if refused := c.Check(); refused != nil {
			return *refused
		}
	}
	if refused := c.Decide(ctx, nil); refused != nil {
		return *refused
	}
	return c.Invoke(ctx, extra)
}
