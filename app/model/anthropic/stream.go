package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"

	"conclave/app/chat"
	"conclave/app/model"
)

// errLeft ends the reading of a stream whose caller left the loop.
var errLeft = errors.New("the caller left")

// Stream implements model.Model.
func (m *client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := m.stream(ctx, r, yield); err != nil {
			yield(model.Event{}, err)
		}
	}
}

// stream makes the request. It returns what is still to be yielded as the error.
func (m *client) stream(ctx context.Context, r model.Request, yield func(model.Event, error) bool) error {
	authorize, err := m.p.authorize(ctx)
	if err != nil {
		return m.p.link.Fail(ctx, m.id, err)
	}
	body, err := m.body(r)
	if err != nil {
		return m.p.link.Fail(ctx, m.id, &model.Error{
			Kind: model.BadRequest, Detail: "the request cannot be written: " + err.Error(), Err: err,
		})
	}
	var answer model.Answer
	response, err := m.p.link.Ask(model.Watching(ctx, &answer), "v1/messages", "", body, authorize)
	if err != nil {
		return m.p.link.Fail(ctx, m.id, err)
	}
	defer response.Body.Close()
	s := &reader{calls: model.NewCallAssembler(r), inputs: map[int]string{}}
	s.yield = func(e model.Event) error {
		s.events++
		if !yield(e, nil) {
			s.gone = true
			return errLeft
		}
		return nil
	}
	defer s.broke()
	_, err = m.p.link.Read(ctx, m.id, response.Body, s.event)
	if errors.Is(err, errLeft) {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil {
		return m.p.link.Fail(ctx, m.id, err)
	}
	if s.whole && s.stop == "" && s.word != "" {
		return m.p.link.Ended(m.id, s.word)
	}
	if !s.whole {
		return m.p.link.Unfinished(m.id, &answer, s.events)
	}
	if s.stop == model.StopFilter && s.events == 0 {
		return m.p.link.Fail(ctx, m.id, &model.Error{Kind: model.Filtered})
	}
	if err := s.end(model.CutNote(r, s.usage.Input, 0, nil)); err != nil && !errors.Is(err, errLeft) {
		return m.p.link.Fail(ctx, m.id, err)
	}
	return nil
}

// reader turns wire events into ours.
type reader struct {
	yield  func(model.Event) error // counts events
	events int
	gone   bool // nobody takes more of them
	calls  *model.CallAssembler
	usage  chat.Usage
	stop   model.StopReason
	word   string // the reason to stop as the server wrote it
	whole  bool   // message_stop came

	open   block          // the thinking block that streams
	kept   []block        // thinking blocks since the last part began
	inputs map[int]string // of calls, as they came with the beginning of their blocks
	lost   model.Lost
}

// The shapes of what comes back. What has another type than it should is left out, see read.
type (
	event struct {
		Type    string `json:"type"`
		Index   int    `json:"index"`
		Message struct {
			Usage usage `json:"usage"`
		} `json:"message"`
		Block started `json:"content_block"`
		Delta struct {
			Type       string `json:"type"`
			Text       string `json:"text"`
			Thinking   string `json:"thinking"`
			Signature  string `json:"signature"`
			Input      string `json:"partial_json"`
			StopReason string `json:"stop_reason"`
		} `json:"delta"`
		Usage usage `json:"usage"`
	}

	usage struct {
		Input   int64 `json:"input_tokens"`
		Read    int64 `json:"cache_read_input_tokens"`
		Created int64 `json:"cache_creation_input_tokens"`
		Output  int64 `json:"output_tokens"`
		Details struct {
			Thinking int64 `json:"thinking_tokens"`
		} `json:"output_tokens_details"`
	}

	// started is a block as it begins, or a whole one.
	started struct {
		Type      string          `json:"type"`
		Text      string          `json:"text"`
		Thinking  string          `json:"thinking"`
		Signature string          `json:"signature"`
		Data      string          `json:"data"`
		ID        string          `json:"id"`
		Name      string          `json:"name"`
		Input     json.RawMessage `json:"input"`
	}
)

// read reads the members of an object that have the type that they should.
func read(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if _, other := errors.AsType[*json.UnmarshalTypeError](err); other {
		return nil
	}
	return err
}

// event reads an event of a stream, or a whole message of a server that does not stream.
func (s *reader) event(data []byte, members map[string]json.RawMessage) error {
	if model.Member(members, "type") == "message" {
		return s.message(data)
	}
	var e event
	if err := read(data, &e); err != nil {
		return err
	}
	return s.take(e)
}

// message reads a whole message, as the events that it would have come in.
func (s *reader) message(data []byte) error {
	var m struct {
		Content    []started `json:"content"`
		StopReason string    `json:"stop_reason"`
		Usage      usage     `json:"usage"`
	}
	if err := read(data, &m); err != nil {
		return err
	}
	for i, block := range m.Content {
		if err := s.start(i, block); err != nil {
			return err
		}
		if err := s.close(i); err != nil {
			return err
		}
	}
	s.usage.Input, s.usage.Output = m.Usage.Input, m.Usage.Output
	s.word, s.stop, s.whole = m.StopReason, stopReason(m.StopReason), true
	return nil
}

func (s *reader) take(e event) error {
	switch e.Type {
	case "message_start":
		u := e.Message.Usage
		s.usage.Input, s.usage.Cached, s.usage.Output = u.Input+u.Read+u.Created, u.Read, u.Output
	case "content_block_start":
		return s.start(e.Index, e.Block)
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			return s.text(model.Text, e.Delta.Text)
		case "thinking_delta":
			s.open.Thinking += e.Delta.Thinking
			return s.text(model.Reasoning, e.Delta.Thinking)
		case "signature_delta":
			s.open.Signature += e.Delta.Signature
		case "input_json_delta":
			if e.Delta.Input != "" {
				delete(s.inputs, e.Index) // it streams
			}
			_, _, err := s.calls.Add(model.Fragment{Index: e.Index, HasIndex: true, Arguments: e.Delta.Input})
			return err
		}
	case "content_block_stop":
		return s.close(e.Index)
	case "message_delta":
		if e.Delta.StopReason != "" {
			s.word, s.stop = e.Delta.StopReason, stopReason(e.Delta.StopReason)
		}
		u := e.Usage // totals so far
		if u.Output > 0 {
			s.usage.Output = u.Output
		}
		if u.Input > 0 {
			s.usage.Input, s.usage.Cached = u.Input+u.Read+u.Created, u.Read
		}
		s.usage.Reasoning = u.Details.Thinking
	case "message_stop":
		s.whole = true
	}
	return nil
}

func (s *reader) start(index int, b started) error {
	switch b.Type {
	case "text":
		return s.text(model.Text, b.Text)
	case "thinking":
		s.open = block{Type: b.Type, Thinking: b.Thinking, Signature: b.Signature}
		return s.text(model.Reasoning, b.Thinking)
	case "redacted_thinking":
		s.open = block{Type: b.Type, Data: b.Data}
	case "tool_use":
		call, started, err := s.calls.Add(model.Fragment{Index: index, HasIndex: true, ID: b.ID, Name: b.Name})
		if err != nil || !started {
			return err
		}
		s.kept = nil
		if model.Object(b.Input) != nil {
			s.inputs[index] = string(b.Input)
		}
		return s.yield(model.Event{Kind: model.CallStart, Call: call})
	case "":
	default:
		s.lost.Add(fmt.Sprintf("a part of the kind “%.40s”, which it does not know", b.Type))
	}
	return nil
}

// text yields a piece of text or thinking. It begins a new part wherever thinking
// blocks were closed before it, so these are not yielded again.
func (s *reader) text(kind model.EventKind, text string) error {
	if text == "" {
		return nil
	}
	s.kept = nil
	return s.yield(model.Event{Kind: kind, Text: text})
}

// close ends a block. A thinking block is yielded with those before it that belong
// to the same part, because the part keeps what was yielded last.
func (s *reader) close(index int) error {
	if input := s.inputs[index]; input != "" { // whole, with the beginning of the block
		delete(s.inputs, index)
		if _, _, err := s.calls.Add(model.Fragment{Index: index, HasIndex: true, Arguments: input}); err != nil {
			return err
		}
	}
	calls, nameless := s.calls.Calls() // in their place among the thinking
	if nameless > 0 {
		s.lost.Add("a tool call without the name of a tool")
	}
	for _, call := range calls {
		if err := s.yield(model.Event{Kind: model.Call, Call: call.ToolCall}); err != nil {
			return err
		}
	}
	if s.open.Type == "" {
		return nil
	}
	s.kept = append(s.kept, s.open)
	s.open = block{}
	data, err := json.Marshal(s.kept)
	if err != nil {
		return err
	}
	return s.yield(model.Event{Kind: model.Vendor, Part: map[string]json.RawMessage{Kind: data}})
}

// end yields what stands at the end of an answer. note is a sentence for the person, or empty.
func (s *reader) end(note string) error {
	if err := s.lost.Tell(s.yield); err != nil {
		return err
	}
	if note != "" {
		if err := s.yield(model.Event{Kind: model.Notice, Text: note}); err != nil {
			return err
		}
	}
	if s.stop == "" {
		s.stop = model.StopEnd
	}
	return s.yield(model.Event{Kind: model.End, Usage: s.usage, Stop: s.stop})
}

// stopReason returns the meaning of a word with which an answer ends, or "" for one that is no end
// of an answer, such as pause_turn, or that nobody here knows.
func stopReason(word string) model.StopReason {
	switch word {
	case "end_turn", "stop_sequence", "stop":
		return model.StopEnd
	case "tool_use", "tool_calls":
		return model.StopCalls
	case "max_tokens", "model_context_window_exceeded", "length":
		return model.StopLength
	case "refusal", "content_filter":
		return model.StopFilter
	}
	return ""
}

// broke yields what was left out of an answer that was cut.
func (s *reader) broke() {
	if s.events > 0 && !s.gone {
		_ = s.lost.Tell(s.yield) // nobody is left to tell
	}
}
