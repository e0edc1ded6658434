package service

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/model"
	"conclave/app/plugin"
)

// Models opens and lists models for services; connections.Models is the real one.
type Models interface {
	// Open returns a model by "connection/model".
	Open(ctx context.Context, name string) (model.Model, error)
	Connections(ctx context.Context) ([]model.Connection, error)
	// Known returns the models that are known without asking anybody.
	Known(ctx context.Context) ([]model.Info, error)
	// Chosen is the default that the person chose; empty when they chose none.
	Chosen(ctx context.Context) (string, error)
}

// Bounds of a plugin's model calls. Its permission lets it ask; these, and what it may have
// them cost (Spending), keep a plugin that runs wild from spending without end. A
// person who asks something waits for it; a plugin with more to ask than this has no person
// waiting.
const (
	callsAtOnce  = 4
	callsAnHour  = 300
	generateTime = 5 * time.Minute
	maxGenerated = 3 << 20 // bytes; the most that a line of the wire holds
	pieceEvery   = 40 * time.Millisecond
)

// PieceEvent is the event that sends the caller of models.generate with a stream what
// the model says as it says it: {stream, number, kind, text}, kind text or reasoning.
// The answer says how many there were. Plugins cannot subscribe to it.
const PieceEvent = "conclave.piece"

// modelServices ask models.
type modelServices struct {
	o      *Options
	chats  *chatServices
	ledger *ledger

	mu      sync.Mutex                        // guards the fields below
	budgets map[string]*budget                // by plugin
	open    map[requestKey]context.CancelFunc // model calls under way
}

type requestKey struct{ plugin, request string }

// generated is the answer of models.generate.
type generated struct {
	Content   string     `json:"content"`
	Reasoning string     `json:"reasoning,omitempty"`
	Finish    string     `json:"finish_reason"`
	Calls     []toolCall `json:"tool_calls,omitempty"`
	Usage     usage      `json:"usage"`
	Model     string     `json:"model"`
	Pieces    int        `json:"pieces,omitempty"`
}

type usage struct {
	Prompt     int64 `json:"prompt_tokens"`
	Completion int64 `json:"completion_tokens"`
	Total      int64 `json:"total_tokens"`
}

func (s *modelServices) generate(ctx context.Context, by plugin.Caller, a generateArgs) (any, error) {
	request, err := a.request()
	if err != nil {
		return nil, err
	}
	m, err := s.model(ctx, by, a)
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithTimeoutCause(ctx, generateTime,
		fault.New(fault.Timeout, "service.generate", "The model did not answer within 5 minutes.", ""))
	defer stop()
	ctx, forget := s.stoppable(ctx, requestKey{by.Plugin, a.Request})
	defer forget()
	release, err := s.spend(ctx, by)
	if err != nil {
		return nil, err
	}
	defer release()
	bill, err := s.ledger.charge(ctx, by, m.Info(), &request)
	if err != nil {
		return nil, err
	}
	defer bill.pay(ctx)
	out := generated{Model: m.Info().Name(), Finish: "stop"}
	var content, reasoning strings.Builder
	pieces := &pieces{by: by, stream: a.Stream, last: time.Now()}
	for e, err := range model.WithRetry(m, model.Policy{}).Stream(ctx, request) {
		if err != nil {
			bill.failed = ctx.Err() == nil
			return nil, modelFault(ctx, err)
		}
		switch e.Kind {
		case model.Text:
			content.WriteString(e.Text)
			bill.output.WriteString(e.Text)
			pieces.add("text", e.Text)
		case model.Reasoning:
			reasoning.WriteString(e.Text)
			bill.output.WriteString(e.Text)
			pieces.add("reasoning", e.Text)
		case model.Moved:
			from, to := &content, &reasoning
			if e.Text == string(model.Text) {
				from, to = to, from
			}
			to.WriteString(from.String())
			from.Reset()
		case model.Call:
			arguments := e.Call.Arguments
			if len(arguments) == 0 {
				arguments = json.RawMessage("{}")
			}
			bill.output.Write(arguments)
			out.Calls = append(out.Calls, toolCall{ID: e.Call.ID, Name: e.Call.Tool, Arguments: arguments})
		case model.End:
			bill.usage = e.Usage
			out.Usage = usage{e.Usage.Input, e.Usage.Output, e.Usage.Input + e.Usage.Output}
			out.Finish = finish(e.Stop)
		}
		if content.Len()+reasoning.Len() > maxGenerated || bill.output.Len() > longest(request.MaxTokens) {
			out.Finish = "length"
			break
		}
	}
	if ctx.Err() != nil {
		return nil, modelFault(ctx, ctx.Err())
	}
	pieces.flush()
	out.Content = strings.ToValidUTF8(content.String(), "\uFFFD")
	out.Reasoning, out.Pieces = strings.ToValidUTF8(reasoning.String(), "\uFFFD"), pieces.sent
	if len(out.Calls) > 0 {
		out.Finish = "tool_calls"
	}
	return out, nil
}

// longest returns how many bytes an answer of so many tokens has at most, which are some four a
// token, and of spaces many more. A server that heeds no bound is not listened to any longer: what
// it goes on saying would be paid for.
func longest(tokens int64) int {
	const perToken, few = 16, 64
	if tokens <= 0 || tokens > maxGenerated {
		return math.MaxInt
	}
	return int(tokens)*perToken + few
}

func finish(why model.StopReason) string {
	switch why {
	case model.StopLength:
		return "length"
	case model.StopFilter:
		return "content_filter"
	case model.StopCalls:
		return "tool_calls"
	}
	return "stop"
}

// modelFault returns the error of a model that did not answer.
func modelFault(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		if f, ok := errors.AsType[*fault.Error](context.Cause(ctx)); ok {
			return f
		}
		return fault.Of(ctx.Err())
	}
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Fault()
	}
	return err
}

// pieces tells the caller what a model says, not more often than anybody can
// read.
type pieces struct {
	by     plugin.Caller
	stream string
	kind   string
	text   strings.Builder
	last   time.Time
	sent   int
}

func (p *pieces) add(kind, text string) {
	if p.stream == "" || p.by.Tell == nil {
		return
	}
	if kind != p.kind {
		p.flush()
		p.kind = kind
	}
	p.text.WriteString(text)
	if time.Since(p.last) >= pieceEvery {
		p.flush()
	}
}

func (p *pieces) flush() {
	if p.text.Len() == 0 {
		return
	}
	piece := map[string]any{"stream": p.stream, "number": p.sent + 1, "kind": p.kind, "text": p.text.String()}
	if p.by.Tell(PieceEvent, piece) == nil { // else the text is in the answer still
		p.sent++
	}
	p.text.Reset()
	p.last = time.Now()
}

// stoppable returns a context that models.stop ends.
func (s *modelServices) stoppable(ctx context.Context, key requestKey) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if key.request == "" {
		return ctx, func() { cancel(nil) }
	}
	stop := func() { cancel(fault.New(fault.Canceled, "service.generate", "It was stopped.", "")) }
	s.mu.Lock()
	s.open[key] = stop
	s.mu.Unlock()
	return ctx, func() {
		s.mu.Lock()
		delete(s.open, key)
		s.mu.Unlock()
		cancel(nil)
	}
}

type stopArgs struct {
	Request string `json:"request"`
}

func (s *modelServices) stop(_ context.Context, by plugin.Caller, a stopArgs) (any, error) {
	s.mu.Lock()
	stop := s.open[requestKey{by.Plugin, a.Request}]
	s.mu.Unlock()
	if stop != nil {
		stop()
	}
	return map[string]any{"stopped": stop != nil}, nil
}

// budget counts what one plugin asks of models.
type budget struct {
	slots chan struct{}
	calls []time.Time // of the last hour
}

// spend takes one call out of the plugin's budget, waiting for another of its calls to
// end when too many are under way.
func (s *modelServices) spend(ctx context.Context, by plugin.Caller) (release func(), err error) {
	s.mu.Lock()
	b := s.budgets[by.Plugin]
	if b == nil {
		b = &budget{slots: make(chan struct{}, callsAtOnce)}
		s.budgets[by.Plugin] = b
	}
	now := s.o.Now()
	b.calls = slices.DeleteFunc(b.calls, func(at time.Time) bool { return now.Sub(at) >= time.Hour })
	full := len(b.calls) >= callsAnHour
	if !full {
		b.calls = append(b.calls, now)
	}
	s.mu.Unlock()
	if full {
		return nil, refused(fmt.Sprintf("%s has asked models %d times within an hour, which is the most a plugin may.",
			by.Name, callsAnHour))
	}
	select {
	case b.slots <- struct{}{}:
		return func() { <-b.slots }, nil
	case <-ctx.Done():
		return nil, modelFault(ctx, ctx.Err())
	}
}

// model opens the model that was asked for.
func (s *modelServices) model(ctx context.Context, by plugin.Caller, a generateArgs) (model.Model, error) {
	name := a.Model
	if raw, ok := a.Parameters["model"]; ok && name == "" {
		_ = json.Unmarshal(raw, &name) // what is no text names none
	}
	if a.Connection == "" {
		if name == "" {
			usual, err := s.usual(ctx, by)
			if err != nil {
				return nil, err
			}
			return s.o.Models.Open(ctx, usual)
		}
		all, err := s.o.Models.Connections(ctx)
		if err != nil {
			return nil, err
		}
		if first, _, ok := strings.Cut(name, "/"); ok &&
			slices.ContainsFunc(all, func(c model.Connection) bool { return c.Name == first }) {
			return s.o.Models.Open(ctx, name)
		}
		usual, err := s.usual(ctx, by)
		if err != nil {
			return nil, err
		}
		connection, _, _ := strings.Cut(usual, "/")
		return s.o.Models.Open(ctx, connection+"/"+name)
	}
	if name != "" {
		return s.o.Models.Open(ctx, a.Connection+"/"+strings.TrimPrefix(name, a.Connection+"/"))
	}
	of, err := s.modelOf(ctx, a.Connection)
	if err != nil {
		return nil, err
	}
	if of == "" {
		return nil, missing("There is no connection " + a.Connection + ", or no model of it is known yet.")
	}
	return s.o.Models.Open(ctx, a.Connection+"/"+of)
}

// usual is the model of a request that names none: the default that the person
// chose, else that of the chat the request is made in. The scripted model counts as
// chosen only where there is no chat: earlier versions stored it as the default of
// everybody who had chosen none.
func (s *modelServices) usual(ctx context.Context, by plugin.Caller) (string, error) {
	chosen, err := s.o.Models.Chosen(ctx)
	if err != nil || chosen != "" && chosen != settings.DemoModel {
		return chosen, err
	}
	if s.o.Chats != nil {
		if c, err := s.chats.find(ctx, by, ""); err == nil && c.Model != "" {
			return c.Model, nil
		}
	}
	if chosen != "" {
		return chosen, nil
	}
	return "", missing("No model was chosen that plugins could ask. Choose a default one in Settings > Models, " +
		"or with conclave models default.")
}

// modelOf is the model that a connection stands for: the default one when it is
// of that connection, else the first known.
func (s *modelServices) modelOf(ctx context.Context, connection string) (string, error) {
	chosen, err := s.o.Models.Chosen(ctx)
	if err != nil {
		return "", err
	}
	if id, ok := strings.CutPrefix(chosen, connection+"/"); ok {
		return id, nil
	}
	known, err := s.o.Models.Known(ctx)
	if err != nil {
		return "", err
	}
	for _, m := range known {
		if m.Connection == connection {
			return m.ID, nil
		}
	}
	return "", nil
}

// connection is a connection as plugins see it: the key is never part of it.
type connection struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Provider  string   `json:"provider"`
	Model     string   `json:"model"`
	Models    []string `json:"models"`
	IsDefault bool     `json:"is_default"`
	HasKey    bool     `json:"has_key"`
}

func (s *modelServices) connections(ctx context.Context, by plugin.Caller, _ struct{}) (any, error) {
	all, err := s.o.Models.Connections(ctx)
	if err != nil {
		return nil, err
	}
	known, err := s.o.Models.Known(ctx)
	if err != nil {
		return nil, err
	}
	usual, err := s.usual(ctx, by)
	if err != nil && fault.KindOf(err) != fault.NotFound {
		return nil, err
	}
	out := []connection{}
	for _, c := range all {
		of, err := s.modelOf(ctx, c.Name)
		if err != nil {
			return nil, err
		}
		row := connection{
			ID: c.Name, Name: cmp.Or(c.Title, c.Name), Provider: c.Kind, Model: of, Models: []string{},
			IsDefault: strings.HasPrefix(usual, c.Name+"/"), HasKey: c.HasKey,
		}
		for _, m := range known {
			if m.Connection == c.Name {
				row.Models = append(row.Models, m.ID)
			}
		}
		out = append(out, row)
	}
	return map[string]any{"connections": out}, nil
}
