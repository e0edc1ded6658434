package google

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
)

// errLeft ends the reading of a stream whose caller left the loop.
var errLeft = errors.New("the caller left")

// chunk is one event of the stream.
//
//	{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP"}],
//	 "usageMetadata":{"promptTokenCount":4,"candidatesTokenCount":1,"totalTokenCount":5}}
type chunk struct {
	Candidates []struct {
		Content content `json:"content"`
		Finish  string  `json:"finishReason"`
		Ground  struct {
			Chunks json.RawMessage `json:"groundingChunks"`
		} `json:"groundingMetadata"`
	} `json:"candidates"`
	Feedback struct {
		Block string `json:"blockReason"`
	} `json:"promptFeedback"`
	Usage *struct {
		Prompt    int64 `json:"promptTokenCount"`
		ToolUse   int64 `json:"toolUsePromptTokenCount"`
		Answer    int64 `json:"candidatesTokenCount"`
		Thoughts  int64 `json:"thoughtsTokenCount"`
		FromCache int64 `json:"cachedContentTokenCount"`
	} `json:"usageMetadata"`
}

// Stream implements model.Model.
func (m *client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := m.stream(ctx, r, yield); err != nil {
			yield(model.Event{}, err)
		}
	}
}

// path is the model's resource: tuned models have a separate folder.
func (m *client) path() string {
	if strings.Contains(m.id, "/") {
		return m.id
	}
	return "models/" + m.id
}

// stream makes the request. It returns what is still to be yielded as the error.
func (m *client) stream(ctx context.Context, r model.Request, yield func(model.Event, error) bool) error {
	authorize, err := m.p.auth(ctx)
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
	response, err := m.p.link.Ask(model.Watching(ctx, &answer), m.path()+":streamGenerateContent", "alt=sse",
		body, authorize)
	if err != nil {
		return m.p.link.Fail(ctx, m.id, err)
	}
	defer response.Body.Close()
	s := &reader{calls: model.NewCallAssembler(r)}
	s.yield = func(e model.Event) error {
		s.events++
		if !yield(e, nil) {
			s.gone = true
			return errLeft
		}
		return nil
	}
	defer s.broke()
	if _, err := m.p.link.Read(ctx, m.id, response.Body, s.event); err != nil {
		return s.left(ctx, m, err)
	}
	if s.stop == "" && s.why != "" {
		return m.p.link.Ended(m.id, s.why)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case s.stop == "":
		return m.p.link.Unfinished(m.id, &answer, s.events)
	case s.stop == model.StopFilter && s.events == 0:
		return m.p.link.Fail(ctx, m.id, &model.Error{Kind: model.Filtered, Detail: s.why})
	case s.broken:
		return m.p.link.Fail(ctx, m.id, &model.Error{
			Kind: model.Malformed, Found: "the model wrote a tool call that its provider could not read (" + s.why + ")",
		})
	}
	if s.called && s.stop == model.StopEnd {
		s.stop = model.StopCalls // this wire has one word for both
	}
	return s.left(ctx, m, s.end(model.CutNote(r, s.usage.Input, 0, &m.encoded)))
}

// end yields what stands at the end of an answer. note is a sentence for the person, or empty.
func (s *reader) end(note string) error {
	if sources := s.sources.Text(); sources != "" {
		if err := s.yield(model.Event{Kind: model.Text, Text: sources}); err != nil {
			return err
		}
	}
	if err := s.lost.Tell(s.yield); err != nil {
		return err
	}
	if note != "" {
		if err := s.yield(model.Event{Kind: model.Notice, Text: note}); err != nil {
			return err
		}
	}
	return s.yield(model.Event{Kind: model.End, Usage: s.usage, Stop: s.stop})
}

func (s *reader) left(ctx context.Context, m *client, err error) error {
	if errors.Is(err, errLeft) {
		return nil
	}
	return m.p.link.Fail(ctx, m.id, err)
}

// reader turns chunks into events.
type reader struct {
	yield  func(model.Event) error // counts events
	events int
	gone   bool // nobody takes more of them
	calls  *model.CallAssembler
	usage  chat.Usage
	stop   model.StopReason
	why    string // the wire's own word for stop
	called bool
	broken bool // a call that could not be read

	sources model.Sources
	lost    model.Lost
}

func (s *reader) event(data []byte, _ map[string]json.RawMessage) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return err
	}
	return s.chunk(c)
}

func (s *reader) chunk(c chunk) error {
	if u := c.Usage; u != nil {
		s.usage = chat.Usage{
			Input: u.Prompt + u.ToolUse, Output: u.Answer + u.Thoughts, Cached: u.FromCache, Reasoning: u.Thoughts,
		}
	}
	if c.Feedback.Block != "" {
		s.stop, s.why = model.StopFilter, c.Feedback.Block
	}
	if len(c.Candidates) == 0 {
		return nil
	}
	candidate := c.Candidates[0]
	for _, p := range candidate.Content.Parts {
		if err := s.part(p); err != nil {
			return err
		}
	}
	s.sources.Take(candidate.Ground.Chunks)
	if candidate.Finish != "" {
		s.finish(candidate.Finish)
	}
	return nil
}

func (s *reader) part(p part) error {
	switch {
	case p.Call != nil:
		arguments := string(p.Call.Args)
		if arguments == "" {
			arguments = "{}" // a call without arguments has no such field
		}
		if _, _, err := s.calls.Add(model.Fragment{ID: p.Call.ID, Name: p.Call.Name, Arguments: arguments}); err != nil {
			return err
		}
		calls, nameless := s.calls.Calls() // they come whole
		if nameless > 0 {
			s.lost.Add("a tool call without the name of a tool")
		}
		for _, call := range calls {
			s.called = true
			for _, kind := range []model.EventKind{model.CallStart, model.Call} {
				if err := s.yield(model.Event{Kind: kind, Call: call.ToolCall}); err != nil {
					return err
				}
			}
		}
	case p.Inline != nil:
		media := model.PictureOf(p.Inline.Data)
		if media == nil {
			s.lost.Add(fmt.Sprintf("a file of the type “%.60s”, which cannot be shown", p.Inline.MIME))
			return nil
		}
		if p.Thought {
			return nil // a sketch on the way to the picture
		}
		if err := s.yield(model.Event{Kind: model.Drawn, Media: media}); err != nil {
			return err
		}
	case p.Code != nil:
		text := "\n\n```" + strings.ToLower(p.Code.Language) + "\n" + p.Code.Code + "\n```\n\n"
		if err := s.yield(model.Event{Kind: model.Text, Text: text}); err != nil {
			return err
		}
	case p.Ran != nil:
		if err := s.yield(model.Event{Kind: model.Text, Text: "\n\n```\n" + p.Ran.Output + "\n```\n\n"}); err != nil {
			return err
		}
	case p.Text != nil && *p.Text != "":
		kind := model.Text
		if p.Thought {
			kind = model.Reasoning
		}
		if err := s.yield(model.Event{Kind: kind, Text: *p.Text}); err != nil {
			return err
		}
	}
	if p.Signature == "" || s.events == 0 {
		return nil
	}
	data, err := json.Marshal(vendor{p.Signature})
	if err != nil {
		return err
	}
	return s.yield(model.Event{Kind: model.Vendor, Part: map[string]json.RawMessage{Kind: data}})
}

func (s *reader) finish(word string) {
	s.why = word
	switch word {
	case "STOP", "FUNCTION_CALL", "TOOL_CALL", "TOOL_CALLS": // the last three of look-alikes
		s.stop = model.StopEnd
	case "MAX_TOKENS":
		s.stop = model.StopLength
	case "MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "TOO_MANY_TOOL_CALLS", "MISSING_THOUGHT_SIGNATURE":
		s.stop, s.broken = model.StopEnd, true
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE", "IMAGE_SAFETY",
		"IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		s.stop = model.StopFilter
	}
}

// broke yields what was left out of an answer that was cut.
func (s *reader) broke() {
	if s.events > 0 && !s.gone {
		_ = s.lost.Tell(s.yield) // nobody is left to tell
	}
}
