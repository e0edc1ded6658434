package httptools

import (
	"context"
	"sync"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// backend calls the tools of a program that registered, at their addresses. It makes no connection
// before a call does.
type backend struct {
	listed plugin.Listing
	tools  []*Registration
	client *caller

	mu    sync.Mutex // guards the fields below
	stop  context.CancelFunc
	ctx   context.Context //nolint:containedctx // of the calls; ends with Close
	calls sync.WaitGroup
}

// Connect implements plugin.Connector.
func (d *Dialect) Connect(ctx context.Context, src plugin.Source, m plugin.Manifest,
	_ plugin.StartOptions, _ plugin.Listener,
) (plugin.Backend, error) {
	_, l, err := read(src)
	if err != nil {
		return nil, err
	}
	b := &backend{tools: l.Tools, client: d.client}
	if b.listed, err = d.Inspect(ctx, src, m); err != nil {
		return nil, err
	}
	b.ctx, b.stop = context.WithCancel(context.Background()) // it lasts longer than the call that needs it first
	return b, nil
}

// List implements plugin.Backend.
func (b *backend) List(context.Context) (plugin.Offer, error) {
	return plugin.Offer{Tools: b.listed.Tools}, nil
}

// Done implements plugin.Backend.
func (b *backend) Done() <-chan struct{} { return b.ctx.Done() }

// Close implements plugin.Backend.
func (b *backend) Close() {
	b.mu.Lock()
	b.stop()
	b.mu.Unlock()
	b.calls.Wait()
}

// begin counts a call that Close waits for. It reports false once the backend is closed.
func (b *backend) begin() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil {
		return false
	}
	b.calls.Add(1)
	return true
}

// Call implements plugin.Backend.
func (b *backend) Call(ctx context.Context, call tool.Call) (plugin.Answer, error) {
	if !b.begin() {
		return plugin.Answer{}, plugin.ErrNotSent
	}
	defer b.calls.Done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(b.ctx, cancel)()
	for _, t := range b.tools {
		if t.Name == call.Tool.Name {
			o := b.client.call(ctx, t, request{
				Name: t.Name, Arguments: call.Arguments, CallID: call.ID, Raw: call.RawArguments,
			}, call.Deadline)
			if b.ctx.Err() != nil {
				return plugin.Answer{}, plugin.ErrEnded
			}
			return plugin.Answer{Result: o.result()}, nil
		}
	}
	return plugin.Answer{Result: Outcome{Failed: true, Text: "the program does not register this tool any more"}.result()},
		nil
}

// result returns the outcome as the result of a call.
func (o Outcome) result() tool.Result {
	r := tool.Result{Status: chat.CallOK}
	text := o.Text
	if o.Value != nil {
		text = string(o.Value)
		if len(text) <= maxValue && tool.Depth(o.Value) <= maxDepth {
			r.Value = o.Value
		}
	}
	if raw, err := encode(text); err != nil || len(raw) > maxAnswerText {
		return Outcome{Failed: true, Text: answerTooLong}.result()
	}
	switch {
	case o.TimedOut:
		r.Status = chat.CallTimeout
		return r
	case o.Failed:
		r.Status, r.Error = chat.CallRaised, text
		if text == "" || text == "null" {
			r.Error = "the tool says that it failed"
		}
		return r
	}
	r.Content = []chat.Part{chat.TextPart(text)}
	for _, p := range o.Pictures {
		r.Content = append(r.Content, chat.Part{
			Kind: chat.PartMedia, Media: &chat.Media{MIME: p.mime, Size: int64(len(p.data)), Data: p.data},
		})
	}
	return r
}
