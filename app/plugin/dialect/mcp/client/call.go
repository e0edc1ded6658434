package client

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// toolCall is a call that is under way.
type toolCall struct {
	Call
	ctx   context.Context
	clock *clock

	mu   sync.Mutex // guards done
	done float64
}

// alive notes a sign of life. A nil call has none.
func (t *toolCall) alive() {
	if t != nil {
		t.clock.alive()
	}
}

// progressed passes progress on, unless it goes backwards.
func (t *toolCall) progressed(p Progress) {
	if t == nil {
		return
	}
	t.clock.alive()
	t.mu.Lock()
	forward := p.Done >= t.done
	t.done = max(t.done, p.Done)
	t.mu.Unlock()
	if forward && t.Progress != nil {
		t.Progress(p)
	}
}

func copyOf(params map[string]any) map[string]any {
	c := map[string]any{}
	maps.Copy(c, params)
	return c
}

// Call calls a tool. JSON-RPC errors are results (Result.IsError). The error is ErrNotSent, ErrUnknown,
// ErrTimeout, ErrEnded, ErrClosed, a *RefusedError, or the cause of ctx's end; when nobody waits any longer,
// the server gets a cancellation.
func (s *Session) Call(ctx context.Context, c Call) (Result, error) {
	return s.run(ctx, c, func(t *toolCall) (json.RawMessage, error) {
		if err := s.knowsHeaders(t.ctx); err != nil {
			return nil, err
		}
		raw, err := s.callTool(t)
		if e := rpcError(err); e != nil && e.Code == codeHeaders && s.speaks().has(httpHeaders) {
			if _, _, err := s.Tools(t.ctx); err != nil {
				return nil, err
			}
			raw, err = s.callTool(t)
		}
		return raw, err
	})
}

// Resume waits for a task that an earlier session began with c.
func (s *Session) Resume(ctx context.Context, c Call, task Task) (Result, error) {
	return s.run(ctx, c, func(t *toolCall) (json.RawMessage, error) { return tasks{s}.await(t, task) })
}

// run waits for a place among the calls, starts the clock, and reads the result of f.
func (s *Session) run(ctx context.Context, c Call, f func(*toolCall) (json.RawMessage, error)) (Result, error) {
	select {
	case s.calls <- struct{}{}:
		defer func() { <-s.calls }()
	case <-ctx.Done():
		return Result{}, context.Cause(ctx)
	case <-s.Done():
		return Result{}, fmt.Errorf("%w: %w", ErrNotSent, s.Err())
	}
	t := &toolCall{Call: c}
	limits := s.o.Limits
	t.ctx, t.clock = newClock(ctx, cmp.Or(c.Silence, limits.Silence), cmp.Or(c.Longest, limits.Longest))
	defer t.clock.stop()
	raw, err := f(t)
	if e := rpcError(err); e != nil && !signsIn(err) {
		return Result{IsError: true, Code: int(e.Code), Blocks: []Block{{Type: TextBlock, Text: e.Message}}}, nil
	}
	if err != nil {
		return Result{}, err
	}
	return readResult(raw, c.Output)
}

// signsIn reports whether err is the refusal of a caller, not of a call.
func signsIn(err error) bool {
	refused, ok := errors.AsType[*RefusedError](err)
	return ok && (refused.Status == 401 || refused.Status == 403)
}

// callTool sends the call, with answers while the server asks, and waits for its task if it becomes one.
func (s *Session) callTool(t *toolCall) (json.RawMessage, error) {
	arguments := bytes.TrimSpace(t.Arguments)
	if len(arguments) == 0 {
		arguments = []byte("{}")
	}
	q := sending{
		method: "tools/call", tool: t, header: s.headers.of(t.Tool, arguments),
		params: map[string]any{"name": t.Tool, "arguments": json.RawMessage(arguments)},
	}
	speaks := s.speaks()
	if t.Task == "required" && speaks.has(legacyTasks) {
		q.params["task"] = map[string]any{"ttl": legacyTTL.Milliseconds()}
	}
	raw, err := s.visited(t, q)
	if err != nil {
		return nil, err
	}
	task, ok := readTask(raw, speaks)
	if !ok {
		return raw, nil
	}
	return tasks{s}.await(t, task)
}

// visited sends the call, and sends it again once the person has visited the pages that the server wants
// visited first (error -32042 of 2025-11-25).
func (s *Session) visited(t *toolCall, q sending) (json.RawMessage, error) {
	for round := 0; ; round++ {
		raw, err := s.rounds(t.ctx, q, t.ReadOnly)
		e := rpcError(err)
		if e == nil || e.Code != codeURLRequired || !s.o.URL || s.speaks().Era == Modern || round == maxRounds {
			return raw, err
		}
		var d struct {
			Pages []elicitParams `json:"elicitations"`
		}
		if json.Unmarshal(e.Data, &d) != nil || len(d.Pages) == 0 || len(d.Pages) > maxQuestions {
			return nil, err
		}
		for i, page := range d.Pages {
			r, askErr := answerer{s}.askURL(t.ctx, page, place{tool: t, number: i + 1, of: len(d.Pages), repeats: true})
			if askErr != nil {
				return nil, askErr
			}
			if r.Action != Accept {
				return nil, err
			}
		}
	}
}

// renewed sends a request, and sends it once more where that is safe: when the server had forgotten the
// session, and, if again is set, when nobody knows whether the request arrived.
func (s *Session) renewed(ctx context.Context, q sending, again bool) (json.RawMessage, error) {
	raw, err := s.request(ctx, q)
	forgotten, isForgotten := errors.AsType[*forgottenError](err)
	switch {
	case isForgotten:
		if err := (handshake{s}).renew(ctx, forgotten); err != nil {
			return nil, err
		}
		if !again {
			return nil, fmt.Errorf("%w: it had forgotten the session, and has a new one now", ErrNotSent)
		}
	case errors.Is(err, ErrUnknown) && again && s.Err() == nil && ctx.Err() == nil:
	default:
		return raw, err
	}
	return s.request(ctx, q)
}

// readResult reads the result of tools/call.
func readResult(raw, output json.RawMessage) (Result, error) {
	var w struct {
		Content    json.RawMessage `json:"content"`
		Structured json.RawMessage `json:"structuredContent"`
		IsError    bool            `json:"isError"`
		Meta       json.RawMessage `json:"_meta"`
		Type       string          `json:"resultType"`
		Legacy     json.RawMessage `json:"toolResult"` // 2024-10-07
	}
	if err := json.Unmarshal(raw, &w); err != nil {
		return Result{
			IsError: true, Code: jsonrpc.CodeInternalError,
			Blocks: []Block{{Type: TextBlock, Text: "The server's answer is no result of a tool."}},
		}, nil
	}
	r := Result{Blocks: readBlocks(w.Content), Structured: w.Structured, IsError: w.IsError, Meta: w.Meta}
	if string(w.Structured) == "null" {
		r.Structured = nil
	}
	if w.Type != "" && w.Type != "complete" {
		r.IsError = true
		r.Blocks = append(r.Blocks, Block{
			Type: TextBlock, Text: fmt.Sprintf("The server answered with a result of the unknown type %q.", w.Type),
		})
	}
	if len(output) > 0 && r.Structured != nil && !r.IsError {
		if _, err := tool.CheckResult(output, r.Structured); err != nil {
			r.Warnings = append(r.Warnings, "The structured result does not fit the tool's output schema: "+err.Error())
		}
	}
	return r, nil
}

// legacyTTL bounds how long a legacy server should keep a task.
const legacyTTL = 24 * time.Hour
