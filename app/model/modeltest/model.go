// Package modeltest tests what speaks with models: a scripted Model for those who
// use one, and a suite for those who are one.
//
// Suite asks every vendor's package the same questions, against recordings of its
// wire that the vendor's package keeps in testdata, and against aimock, a model
// server by other people (@copilotkit/aimock, run with node). Read New and Suite.
package modeltest

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"sync"

	"conclave/app/chat"
	"conclave/app/model"
)

// Step is one thing a scripted model does.
type Step struct {
	event model.Event
	err   error
	wait  <-chan struct{}
}

// Say is a step that says a piece of text.
func Say(text string) Step { return Event(model.Event{Kind: model.Text, Text: text}) }

// Think is a step that yields a piece of reasoning.
func Think(text string) Step { return Event(model.Event{Kind: model.Reasoning, Text: text}) }

// Call is a step that calls a tool; arguments is JSON text, kept as raw text when
// it is no object.
func Call(id, tool, arguments string) Step {
	object, raw := model.Arguments(arguments)
	return Event(model.Event{Kind: model.Call, Call: chat.ToolCall{ID: id, Tool: tool, Arguments: object, Raw: raw}})
}

// Event is a step that yields e as it is.
func Event(e model.Event) Step { return Step{event: e} }

// Fail is a step that ends the stream with err.
func Fail(err error) Step { return Step{err: err} }

// Wait is a step that waits until c is closed, or the request is stopped.
func Wait(c <-chan struct{}) Step { return Step{wait: c} }

// Used is a step that ends the answer with these token counts; without it they
// are zero.
func Used(input, output int64) Step {
	return Event(model.Event{Kind: model.End, Usage: chat.Usage{Input: input, Output: output}, Stop: model.StopEnd})
}

// Model is a scripted model.Model. Use New. It is safe for concurrent use; answers
// are given in the order of the requests.
type Model struct {
	mu       sync.Mutex // guards the rest
	info     model.Info
	answers  [][]Step
	requests []model.Request
}

// New returns a model that gives the answers, one for each request. An answer
// that neither fails nor ends itself gets its End.
func New(answers ...[]Step) *Model {
	return &Model{answers: answers, info: model.Info{
		Connection: "test", ID: "scripted", Title: "Scripted", Provider: "test",
		Can: model.Features{Tools: true, Vision: true},
	}}
}

// SetInfo changes what Info returns.
func (m *Model) SetInfo(info model.Info) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.info = info
}

// Add appends answers.
func (m *Model) Add(answers ...[]Step) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answers = append(m.answers, answers...)
}

// Requests returns the requests so far.
func (m *Model) Requests() []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.requests)
}

// Info implements model.Model.
func (m *Model) Info() model.Info {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.info
}

// Stream implements model.Model. A request beyond the answers fails as malformed.
func (m *Model) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		steps, ok := m.next(r)
		if !ok {
			yield(model.Event{}, &model.Error{
				Kind: model.Malformed, Provider: "test", Model: "scripted", Detail: "the script has no answer for this request",
			})
			return
		}
		calls := false
		for _, s := range steps {
			if s.wait != nil {
				select {
				case <-s.wait:
				case <-ctx.Done():
				}
			}
			if ctx.Err() != nil {
				yield(model.Event{}, context.Cause(ctx))
				return
			}
			switch {
			case s.wait != nil:
				continue
			case s.err != nil:
				yield(model.Event{}, s.err)
				return
			}
			calls = calls || s.event.Kind == model.Call
			if !yield(s.event, nil) || s.event.Kind == model.End {
				return
			}
		}
		stop := model.StopEnd
		if calls {
			stop = model.StopCalls
		}
		yield(model.Event{Kind: model.End, Stop: stop}, nil)
	}
}

func (m *Model) next(r model.Request) ([]Step, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, r)
	if len(m.answers) == 0 {
		return nil, false
	}
	steps := m.answers[0]
	m.answers = m.answers[1:]
	return steps, true
}

// Heard is a whole stream, put together as a turn puts it together.
type Heard struct {
	Text, Reasoning string
	Calls           []chat.ToolCall
	Started         []chat.ToolCall // by CallStart
	Drawn           []*chat.Media
	Notices         []string
	Parts           []chat.Part // the assistant's message
	Usage           chat.Usage
	Stop            model.StopReason
	Ended           bool
	Events          int
	Err             error
}

// Hear reads a stream to its end.
func Hear(stream iter.Seq2[model.Event, error]) Heard {
	var h Heard
	for e, err := range stream {
		if err != nil {
			h.Err = err
			break
		}
		h.Events++
		h.take(e)
	}
	return h
}

func (h *Heard) take(e model.Event) {
	switch e.Kind {
	case model.Text, model.Reasoning:
		kind := chat.PartText
		if e.Kind == model.Reasoning {
			kind = chat.PartReasoning
			h.Reasoning += e.Text
		} else {
			h.Text += e.Text
		}
		if n := len(h.Parts); n == 0 || h.Parts[n-1].Kind != kind || h.Parts[n-1].Vendor != nil {
			h.Parts = append(h.Parts, chat.Part{Kind: kind})
		}
		h.Parts[len(h.Parts)-1].Text += e.Text
	case model.Moved:
		h.move(chat.PartKind(e.Text))
	case model.Drawn:
		h.Drawn = append(h.Drawn, e.Media)
		h.Parts = append(h.Parts, chat.Part{Kind: chat.PartMedia, Media: e.Media})
	case model.Notice:
		h.Notices = append(h.Notices, e.Text)
	case model.CallStart:
		h.Started = append(h.Started, e.Call)
	case model.Call:
		h.Calls = append(h.Calls, e.Call)
		h.Parts = append(h.Parts, chat.Part{Kind: chat.PartToolCall, Call: &e.Call})
	case model.Vendor:
		if len(h.Parts) == 0 {
			h.Parts = append(h.Parts, chat.Part{Kind: chat.PartReasoning})
		}
		last := &h.Parts[len(h.Parts)-1]
		if last.Vendor == nil {
			last.Vendor = map[string]json.RawMessage{}
		}
		for k, v := range e.Part {
			last.Vendor[k] = v
		}
	case model.End:
		h.Usage, h.Stop, h.Ended = e.Usage, e.Stop, true
	}
}

// move makes one part of kind of all text and thinking so far.
func (h *Heard) move(kind chat.PartKind) {
	moved := chat.Part{Kind: kind}
	for _, p := range h.Parts {
		moved.Text += p.Text
	}
	h.Parts, h.Text, h.Reasoning = []chat.Part{moved}, "", moved.Text
	if kind == chat.PartText {
		h.Text, h.Reasoning = moved.Text, ""
	}
}
