package deliberation

import (
	"context"
	"encoding/json"
	"iter"
	"maps"
	"sync"
	"time"
	"unicode/utf8"

	"conclave/app/chat"
	"conclave/app/council"
	"conclave/app/limit"
	"conclave/app/llm"
)

// recorded is the model that a member speaks through, for one task: asked as the member's
// settings say, within what it may use, with every request kept as it was sent.
type recorded struct {
	llm.Model
	price       func(llm.ModelInfo, chat.Usage) chat.Usage // nil knows no price
	job         council.Job
	ledger      *ledger
	blocks      []council.BlockText
	now         func() time.Time
	temperature *float64
	topP        *float64
	maxTokens   int64
	most        int64 // bytes of all its answers

	mu       sync.Mutex // guards the fields below
	requests []council.Request
	texts    map[council.Hash][]byte
	usage    chat.Usage
	said     int64 // bytes of all its answers
	cut      bool  // said was more than may be
}

// Stream implements llm.Model.
func (m *recorded) Stream(ctx context.Context, r llm.Request) iter.Seq2[llm.Event, error] {
	return func(yield func(llm.Event, error) bool) {
		if m.temperature != nil {
			r.Temperature = m.temperature
		}
		if m.topP != nil {
			r.TopP = m.topP
		}
		most, err := m.ledger.hold(m, tokensOf(r))
		if err != nil {
			yield(llm.Event{}, err)
			return
		}
		defer m.ledger.release(m)
		r.MaxTokens = least(r.MaxTokens, most)
		blocks, input := m.made(r)
		tapped := false
		keep := func(body []byte) {
			tapped = true
			m.keep(body, blocks, input)
		}
		ended, output := false, int64(0)
		defer func() {
			if !ended && output > 0 { // nobody says what it used; it was not nothing
				m.used(chat.Usage{Input: input, Output: output})
			}
		}()
		for e, err := range m.Model.Stream(llm.Tap(ctx, func(s llm.Sent) { keep(s.Body) }), r) {
			if !tapped && err == nil { // a model that is asked without HTTP
				raw, _ := json.Marshal(r) // of texts, numbers and JSON that was checked
				keep(raw)
			}
			if err == nil && e.Kind == llm.End {
				ended = true
				m.used(e.Usage)
			}
			text, full := m.fits(e)
			e.Text = text
			output += llm.Tokens(text)
			if !yield(e, err) || err != nil {
				return
			}
			if full {
				yield(llm.Event{Kind: llm.End, Usage: chat.Usage{Input: input, Output: output}, Stop: llm.StopLength}, nil)
				return
			}
		}
	}
}

// fits returns as much of a piece of text as the member may still say.
func (m *recorded) fits(e llm.Event) (text string, full bool) {
	if e.Kind != llm.Text && e.Kind != llm.Reasoning {
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

// used adds to what the member used.
func (m *recorded) used(u chat.Usage) {
	u = m.priced(u)
	m.ledger.add(m, u)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.usage = m.usage.Add(u)
}

// made says what a request is made of: what the member was given, and the results of the
// calls that it made since.
func (m *recorded) made(r llm.Request) (blocks []council.BlockText, input int64) {
	blocks = append(blocks, m.blocks...)
	for _, message := range r.Messages {
		if message.Role != chat.RoleTool {
			continue
		}
		for _, p := range message.Parts {
			if p.Result == nil {
				continue
			}
			text := p.Result.Text()
			blocks = append(blocks, council.BlockText{
				Block: council.Block{Source: council.FromCall, Title: p.Result.Tool, Tokens: llm.Tokens(text)}, Words: text,
			})
		}
	}
	for _, b := range blocks {
		input += b.Tokens
	}
	return blocks, input
}

// keep notes a request.
func (m *recorded) keep(body []byte, blocks []council.BlockText, tokens int64) {
	given, texts := blocksOf(blocks)
	sent := council.Request{
		Model: m.Info().Name(), Body: council.HashOf(body), Bytes: len(body), Given: given, Tokens: tokens,
		AtMS: m.now().Sub(m.job.Task.Started).Milliseconds(),
	}
	if int64(len(body)) <= limit.CouncilRequest.Value {
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

// fill puts what was sent and used into the end of a task.
func (m *recorded) fill(work *council.Work) {
	m.mu.Lock()
	defer m.mu.Unlock()
	work.End.Usage, work.End.Requests = work.End.Usage.Add(m.usage), append(m.requests, work.End.Requests...)
	if work.Texts == nil {
		work.Texts = map[council.Hash][]byte{}
	}
	maps.Copy(work.Texts, m.texts)
}
