package deliberation

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
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
	price       func(model.Info, chat.Usage) chat.Usage // nil: no price is known
	job         council.Job
	ledger      *ledger
	blocks      []council.BlockText
	tools       *tool.Set // that the member can call
	now         func() time.Time
	temperature *float64
	topP        *float64
	maxTokens   int64
	most        int64 // bound of its answers in bytes

	mu       sync.Mutex // guards the fields below
	requests []council.Request
	texts    map[council.Hash][]byte
	usage    chat.Usage
	said     int64 // bytes of all its answers
	cut      bool  // its answers exceeded the bound
	full     int64 // the bound in tokens at which its newest answer was cut; 0 is none
}

// Stream implements model.Model.
func (m *recorded) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if m.temperature != nil {
			r.Temperature = m.temperature
		}
		if m.topP != nil {
			r.TopP = m.topP
		}
		input := tokensOf(r)
		most, err := m.ledger.hold(m, input)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		defer m.ledger.release(m)
		r.MaxTokens = least(r.MaxTokens, most)
		blocks := m.made(r)
		tapped := false
		keep := func(body []byte) {
			tapped = true
			m.keep(body, blocks, input)
		}
		ended, output := false, int64(0)
		defer func() {
			if !ended && output > 0 { // the provider did not report the usage
				m.used(chat.Usage{Input: input, Output: output})
			}
		}()
		for e, err := range m.Model.Stream(model.Tap(ctx, func(s model.Sent) { keep(s.Body) }), r) {
			if !tapped && err == nil { // a model without HTTP
				raw, _ := json.Marshal(r) // can be encoded: texts, numbers and valid JSON
				keep(raw)
			}
			if err == nil && e.Kind == model.End {
				ended = true
				m.used(e.Usage)
				m.ends(e.Stop, r.MaxTokens)
			}
			text, full := m.fits(e)
			e.Text = text
			output += model.Tokens(text)
			if !yield(e, err) || err != nil {
				return
			}
			if full {
				yield(model.Event{Kind: model.End, Usage: chat.Usage{Input: input, Output: output}, Stop: model.StopLength}, nil)
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

// used adds to the member's usage.
func (m *recorded) used(u chat.Usage) {
	u = m.priced(u)
	m.ledger.add(m, u)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage = m.usage.Add(u)
}

// ends records whether an answer was cut at a bound in tokens.
func (m *recorded) ends(stop model.StopReason, most int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full = 0; stop == model.StopLength {
		m.full = most
	}
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
		blocks = append(blocks, council.BlockText{
			Block: council.Block{Source: source, Title: title, Tokens: model.Tokens(text)}, Words: text,
		})
	}
	named := func(wire string) string {
		if m.tools == nil { // what is asked for is arguments alone
			return wire
		}
		if called, ok := m.tools.ByWire(wire); ok {
			return called.DisplayName()
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

// keep records a request.
func (m *recorded) keep(body []byte, blocks []council.BlockText, tokens int64) {
	given, texts := blocksOf(blocks)
	sent := council.Request{
		Model: m.Info().Name(), Body: council.HashOf(body), Bytes: len(body), Given: given, Tokens: tokens,
		AtMS: m.now().Sub(m.job.Task.Started).Milliseconds(),
	}
	if int64(len(body)) <= limit.CouncilRequest {
		texts[sent.Body] = body
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.requests = append(m.requests, sent)
	if m.texts == nil {
		m.texts = map[council.Hash][]byte{}
	}
	maps.Copy(m.texts, texts)
}

// fill adds the requests and the usage to the outcome of a task.
func (m *recorded) fill(work *council.Work) {
	m.mu.Lock()
	defer m.mu.Unlock()
	work.End.Usage, work.End.Requests = work.End.Usage.Add(m.usage), append(m.requests, work.End.Requests...)
	if work.Texts == nil {
		work.Texts = map[council.Hash][]byte{}
	}
	maps.Copy(work.Texts, m.texts)
}
