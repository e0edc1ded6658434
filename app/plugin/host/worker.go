package host

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/wire"
	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	build "conclave/app/base/version"
)

// worker is the backend of a process that speaks the wire: MCP, with our additions where the process
// announces them (docs/WIRE.md).
type worker struct {
	transport *wire.Transport
	mcp       *mcp.ClientSession
	speaks    bool // it is one of our own shims and knows conclave/… keys
	progress  progress
}

// dialWorker shakes hands with the process of s. The errors are those of wire.Dial.
func dialWorker(ctx context.Context, s *session, v version) (_ *worker, err error) {
	w, to := &worker{}, s.listener()
	w.mcp, w.transport, err = wire.Dial(ctx, s.process.Wire(),
		&mcp.Implementation{Name: "conclave", Version: build.Version}, s.host,
		s.r.h.o.Log, &mcp.ClientOptions{
			Logger:                 s.r.h.o.Log,
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { to.ToolsChanged() },
			LoggingMessageHandler: func(_ context.Context, m *mcp.LoggingMessageRequest) {
				to.Log(logLevel(string(m.Params.Level)), logText(m.Params.Data))
				s.heardJob(m.Params.Meta)
			},
		})
	if err != nil {
		return nil, err
	}
	w.speaks = wire.Speaks(w.mcp)
	w.transport.OnProgress(w.progress.take)
	s.surface.transport.Store(w.transport)
	return w, nil
}

// Done implements plugin.Backend.
func (w *worker) Done() <-chan struct{} { return w.transport.Done() }

// Close implements plugin.Backend.
func (w *worker) Close() {
	_ = w.mcp.Close()
	w.transport.Close()
}

// listedTool is one entry of tools/list (MCP 2025-06-18, and docs/WIRE.md
// section 2 for _meta).
type listedTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Meta        struct {
		Line       int      `json:"conclave/line"`
		File       string   `json:"conclave/file"`
		TimeoutMS  int64    `json:"conclave/timeout-ms"`
		Serial     bool     `json:"conclave/serial"`
		Async      bool     `json:"conclave/async"`
		Council    bool     `json:"conclave/council-eligible"`
		Inline     bool     `json:"conclave/inline-available"`
		Visibility string   `json:"conclave/visibility"`
		Warnings   []string `json:"conclave/warnings"`
		Strict     bool     `json:"conclave/strict"`
		Instance   string   `json:"conclave/instance"`
		Members    []string `json:"conclave/council-members"`
	} `json:"_meta"`
}

// List implements plugin.Backend: it asks for all pages of the tools.
func (w *worker) List(ctx context.Context) (offer plugin.Offer, err error) {
	for cursor := ""; ; {
		params := map[string]string{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		raw, err := w.ask(ctx, "tools/list", params)
		if err != nil {
			return plugin.Offer{}, err
		}
		var page struct {
			Tools      []listedTool `json:"tools"`
			NextCursor string       `json:"nextCursor"`
			Meta       struct {
				Options json.RawMessage `json:"conclave/options"`
				Notes   []string        `json:"conclave/notes"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return plugin.Offer{}, &plugin.Problem{
				Kind: "crashed", Message: "Its tool list cannot be read: " + err.Error() + ".",
			}
		}
		if w.speaks {
			if len(page.Meta.Options) > 0 {
				offer.Options = page.Meta.Options
			}
			offer.Notes = append(offer.Notes, page.Meta.Notes...)
		}
		for _, t := range page.Tools {
			offer.Tools = append(offer.Tools, t.tool())
		}
		if cursor = page.NextCursor; cursor == "" || len(page.Tools) == 0 {
			return offer, nil
		}
	}
}

func (t listedTool) tool() tool.Tool {
	role := ""
	if len(t.Meta.Members) > 0 {
		role = t.Meta.Members[0]
	}
	return tool.Tool{
		Role: role, Name: t.Name, Title: t.Title, Description: t.Description, Parameters: t.InputSchema,
		CouncilEligible: t.Meta.Council, InlineAvailable: t.Meta.Inline, Visibility: tool.Visibility(t.Meta.Visibility),
		File: t.Meta.File, Line: t.Meta.Line, Serial: t.Meta.Serial, Async: t.Meta.Async,
		Warnings: t.Meta.Warnings, Strict: t.Meta.Strict, Instance: t.Meta.Instance,
		Timeout: time.Duration(t.Meta.TimeoutMS) * time.Millisecond,
	}
}

// ask sends one request and waits for its result.
func (w *worker) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	p, err := w.transport.Start(ctx, method, params)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.Done():
		return p.Result()
	case <-ctx.Done():
		_ = p.Cancel("no longer waited for")
		return nil, context.Cause(ctx)
	}
}

// callResult is the result of tools/call (MCP 2025-06-18; docs/WIRE.md section 4
// for _meta).
type callResult struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     []byte `json:"data"` // base64 in JSON
		MIMEType string `json:"mimeType"`
		Name     string `json:"name"`
		URI      string `json:"uri"`
		Resource struct {
			URI      string `json:"uri"`
			MIMEType string `json:"mimeType"`
			Text     string `json:"text"`
			Blob     []byte `json:"blob"`
		} `json:"resource"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Meta       struct {
		Result    json.RawMessage  `json:"conclave/result"`
		Status    chat.CallStatus  `json:"conclave/status"`
		ErrorType string           `json:"conclave/error-type"`
		Traceback string           `json:"conclave/traceback"`
		Printed   string           `json:"conclave/printed"`
		EndTurn   bool             `json:"conclave/end-turn"`
		Handled   bool             `json:"conclave/handled"`
		Notes     []string         `json:"conclave/for-person"`
		CallsOff  tool.CallsOff    `json:"conclave/calls-off"`
		Refused   []plugin.Refusal `json:"conclave/refused"`
	} `json:"_meta"`
}

// Call implements plugin.Backend. When ctx ends it sends a cancellation and waits on.
func (w *worker) Call(ctx context.Context, call tool.Call) (plugin.Answer, error) {
	token, over := w.progress.follow(call.Progress)
	defer over()
	p, err := w.transport.Start(ctx, "tools/call", w.params(call, token))
	if err != nil {
		if streamEnded(err) || w.transport.Err() != nil {
			err = plugin.ErrNotSent
		}
		return plugin.Answer{}, err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		_ = p.Cancel(reason(ctx))
		<-p.Done()
	}
	raw, err := p.Result()
	if err == nil {
		return w.answer(raw), nil
	}
	if streamEnded(err) || w.transport.Err() != nil {
		err = plugin.ErrEnded
	}
	return plugin.Answer{}, err
}

// params are the parameters of tools/call. A server that is not ours gets no
// conclave/… keys. token is that of its progress.
func (w *worker) params(call tool.Call, token string) any {
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	params := map[string]any{"name": call.Tool.Name, "arguments": arguments}
	if !w.speaks {
		return params
	}
	meta := map[string]any{
		wire.MetaCall: call.ID, wire.MetaDeadline: call.Deadline.UnixMilli(),
		wire.MetaConversation: string(call.Conversation), wire.MetaUser: wire.User,
	}
	if token != "" {
		meta["progressToken"] = token
	}
	if call.Tool.Convention.Raw {
		meta[wire.MetaRaw] = call.RawArguments
	}
	if call.CouncilMember != nil {
		meta[wire.MetaMember] = call.CouncilMember
	}
	if call.ContextMessages != nil {
		meta[wire.MetaMessages] = call.ContextMessages
	}
	params["_meta"] = meta
	return params
}

// answer reads the result of tools/call. A server that is not ours has no say about the turn.
func (w *worker) answer(raw json.RawMessage) plugin.Answer {
	var c callResult
	if err := json.Unmarshal(raw, &c); err != nil {
		return plugin.Answer{Result: tool.Result{
			Status: chat.CallRaised, Error: "the tool's answer cannot be read: " + err.Error(),
		}}
	}
	a := plugin.Answer{Result: tool.Result{
		Status: c.Meta.Status, Value: c.Meta.Result, ErrorType: c.Meta.ErrorType, Traceback: c.Meta.Traceback,
		Printed: c.Meta.Printed,
	}}
	r := &a.Result
	if w.speaks {
		r.EndTurn, r.Handled, r.CallsOff, r.Notes = c.Meta.EndTurn, c.Meta.Handled, c.Meta.CallsOff, c.Meta.Notes
		a.Refused = c.Meta.Refused
	}
	if r.Status == "" || (c.IsError && r.Status == chat.CallOK) {
		r.Status = chat.CallOK
		if c.IsError {
			r.Status = chat.CallRaised
		}
	}
	if r.Value == nil {
		r.Value = c.Structured
	}
	for _, block := range c.Content {
		switch {
		case block.Type == "text":
			r.Content = append(r.Content, chat.TextPart(block.Text))
		case block.Type == "image" || block.Type == "audio":
			r.Content = append(r.Content, media(block.MIMEType, block.Name, block.Data))
		case block.Type == "resource" && block.Resource.Blob != nil:
			r.Content = append(r.Content, media(block.Resource.MIMEType, block.Resource.URI, block.Resource.Blob))
		case block.Type == "resource":
			r.Content = append(r.Content, chat.TextPart(block.Resource.Text))
		case block.Type == "resource_link":
			r.Content = append(r.Content, chat.TextPart(block.Name+": "+block.URI))
		}
	}
	if r.Status != chat.CallOK && r.Status != chat.CallPaused {
		r.Error = strings.TrimPrefix(chat.TextOf(r.Content), "Error: ")
		r.Content = nil
	}
	return a
}

func logLevel(level string) string {
	switch level {
	case "debug":
		return "debug"
	case "info", "notice":
		return "info"
	case "warning":
		return "warn"
	}
	return "error"
}

func logText(data any) string {
	if text, ok := data.(string); ok {
		return text
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Sprint(data)
	}
	return string(raw)
}
