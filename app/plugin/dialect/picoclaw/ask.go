package picoclaw

import (
	"context"
	"encoding/json"
	"strings"
)

// Ask asks the hook in its own words, for what is recorded to try it with. An
// event is sent, and nothing awaited.
func (c *connection) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if strings.HasSuffix(method, "event") {
		return json.RawMessage("null"), c.client.notify(method, params)
	}
	limit := c.process.InterceptorTime()
	if method == "hook.approve_tool" {
		limit = c.process.ApprovalTime()
	}
	result, err := c.client.within(ctx, limit, method, params)
	if err == nil && result == nil {
		result = json.RawMessage("null")
	}
	return result, err
}
