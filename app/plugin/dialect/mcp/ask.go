package mcp

import (
	"context"
	"errors"

	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
)

// errNoSampling refuses a server that wants a text of a model.
var errNoSampling = errors.New("this server may not ask models")

// begin notes an open call, to which a question of the server may belong, until the function returned is called.
func (b *backend) begin(call tool.Call) (over func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open[call.ID] = call
	return func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		delete(b.open, call.ID)
	}
}

// toolName returns what a person reads for the tool of a call; empty for none.
func toolName(call tool.Call) string {
	if call.Tool.Name == "" {
		return ""
	}
	return call.Tool.DisplayName()
}

// ask has the person answer a question of the server, as a part of the call that it belongs to.
func (b *backend) ask(ctx context.Context, q client.Question) (client.Reply, error) {
	if b.to.Ask == nil {
		return client.Reply{}, errNoSampling
	}
	b.mu.Lock()
	call := b.open[q.Call]
	b.mu.Unlock()
	if q.Kind == client.Sampling {
		return b.sample(ctx, q, call)
	}
	answer := b.to.Ask(ctx, elicit.Question{
		Call: q.Call, Chat: call.Conversation, Tool: toolName(call), Number: q.Number, Of: q.Of, Message: q.Message,
		Fields: q.Fields, Address: q.Address, Waits: q.Again, Finished: q.Finished,
	})
	return client.Reply{Action: string(answer.Action), Values: answer.Values}, nil
}
