package deliberation

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/model"
	"conclave/app/tool"
)

// recorded is a member's model for one task. It applies the member's settings and limits, and records
// each request as it was sent.
type recorded struct {
	model.Model
	price       func(chat.Usage) chat.Usage // adds the cost, where that is known
	job         council.Job
	ledger      *ledger
	blocks      []council.BlockText
	tools       *tool.Set // that the member can call
	now         func() time.Time
	temperature *float64
	topP        *float64
	maxTokens   int64
	most        int64 // bound of its answers in bytes

	mu   sync.Mutex   // guards the fields below
	work council.Work // its requests, with their texts, and their usage
	said int64        // bytes of all its answers
	cut  bool         // its answers exceeded the bound
	full int64        // the bound in tokens at which its newest answer was cut; 0 is none
}

// Stream implements model.Model.
func (m *recorded) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) { m.stream(ctx, r, yield) }
}

func (m *recorded) stream(ctx context.Context, r model.Request, yield func(model.Event, error) bool) {
	r.Temperature, r.TopP = cmp.Or(m.temperature, r.Temperature), cmp.Or(m.topP, r.TopP)
	input := tokensOf(r)
	most, err := m.ledger.hold(m, input)
	if err != nil {
		yield(model.Event{}, err)
		return
	}
	defer m.ledger.release(m)
	r.MaxTokens = least(r.MaxTokens, most)
	ended, output := false, int64(0)
	defer func() {
		if !ended && output > 0 { // the provider did not report the usage
			m.used(chat.Usage{Input: input, Output: output}, 0)
		}
	}()
	for e, err := range m.record(ctx, r, input) {
		full := false
		switch {
		case err != nil:
		case e.Kind != model.End:
			e.Text, full = m.fits(e)
			output += model.Tokens(e.Text)
		case e.Stop == model.StopLength:
			ended = true
			m.used(e.Usage, r.MaxTokens)
		default:
			ended = true
			m.used(e.Usage, 0)
		}
		if !yield(e, err) || err != nil {
			return
		}
		if full {
			yield(model.Event{Kind: model.End, Usage: chat.Usage{Input: input, Output: output}, Stop: model.StopLength}, nil)
			return
		}
	}
}

// record makes a request of so many tokens, and records it as it was sent.
func (m *recorded) record(ctx context.Context, r model.Request, tokens int64) iter.Seq2[model.Event, error] {
	blocks, tapped := m.made(r), false
	keep := func(body []byte) {
		m.mu.Lock()
		defer m.mu.Unlock()
		tapped = true
		m.work.Sent(council.Request{
			Model: m.Info().Name(), Tokens: tokens, AtMS: m.now().Sub(m.job.Task.Started).Milliseconds(),
		}, body, blocks)
	}
	return func(yield func(model.Event, error) bool) {
		for e, err := range m.Model.Stream(model.Tap(ctx, func(s model.Sent) { keep(s.Body.Bytes()) }), r) {
			if !tapped && err == nil { // a model without HTTP
				raw, _ := json.Marshal(r) // can be encoded: texts, numbers and valid JSON
				keep(raw)
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// fits returns the part of a text that is within the bound.
func (m *recorded) fits(e model.Event) (text string, full bool) {
	if e.Kind != model.Text && e.Kind != model.Reasoning {
		return e.Text, false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	left := m.most - m.said
	if m.said += int64(len(e.Text)); int64(len(e.Text)) <= left {
		return e.Text, false
	}
	m.cut = true
	for left > 0 && !utf8.RuneStart(e.Text[left]) {
		left--
	}
	return e.Text[:max(left, 0)], true
}

// used adds to the member's usage, of an answer that was cut at so many tokens; 0 is none.
func (m *recorded) used(u chat.Usage, full int64) {
	u = m.price(u)
	m.ledger.add(m, u)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.work.End.Usage, m.full = m.work.End.Usage.Add(u), full
}

// silent returns the error of a model without an answer.
func (m *recorded) silent() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	name := who(m.job)
	if m.full == 0 {
		return fault.New(fault.Provider, "deliberation.member", name+" ended without an answer.",
			"Try it again, or choose another model for it.")
	}
	return fault.New(fault.Provider, "deliberation.member",
		fmt.Sprintf("%s ended without an answer: its model used up the %s that it may write, thinking included.",
			name, limit.Counted(int(m.full), "token")),
		"Set a longer answer for it, raise the cap, or choose a model that thinks less.")
}

// made returns what a request is made of: what the member was given, the tools that it may call, and
// what it said with the calls that it made since, these, and their results.
func (m *recorded) made(r model.Request) []council.BlockText {
	blocks := slices.Clone(m.blocks)
	add := func(source council.Source, title, text string) {
		blocks = append(blocks, council.NewBlock(source, title, text))
	}
	named := func(wire string) string {
		if m.tools != nil { // else only arguments are asked for
			if called, ok := m.tools.ByWire(wire); ok {
				return called.DisplayName()
			}
		}
		return wire
	}
	for _, t := range r.Tools {
		add(council.FromTools, named(t.Name), strings.Join([]string{t.Name, t.Description, string(t.Parameters)}, "\n"))
	}
	for _, message := range r.Messages {
		calls := slices.ContainsFunc(message.Parts, func(p chat.Part) bool { return p.Call != nil })
		for _, p := range message.Parts {
			switch {
			case p.Result != nil:
				add(council.FromCall, "Result of "+named(p.Result.Tool), p.Result.Text())
			case p.Call != nil:
				add(council.FromCall, "Its call of "+named(p.Call.Tool), string(p.Call.Arguments))
			case calls && p.Text != "":
				add(council.FromCall, "What it said with its call", p.Text)
			}
		}
	}
	return blocks
}

// tokensOf estimates the input tokens of a request.
func tokensOf(r model.Request) int64 {
	sum := model.Tokens(r.System)
	for _, t := range r.Tools {
		sum += model.Tokens(t.Name) + model.Tokens(t.Description) + model.Tokens(string(t.Parameters))
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			sum += tokensIn(p)
		}
	}
	return sum
}

// tokensIn estimates the tokens of a part of a message.
func tokensIn(p chat.Part) (sum int64) {
	switch {
	case p.Result != nil:
		for _, content := range p.Result.Content {
			sum += tokensIn(content)
		}
		return sum
	case p.Call != nil:
		return model.Tokens(string(p.Call.Arguments))
	case p.Media != nil:
		return council.FileTokens(p.Media)
	}
	return model.Tokens(p.Text)
}

// fill adds the requests and the usage to the outcome of a task.
func (m *recorded) fill(work *council.Work) {
	m.mu.Lock()
	defer m.mu.Unlock()
	work.Follow(m.work)
}
