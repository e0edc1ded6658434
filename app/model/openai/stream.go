package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/model"
)

// Stream implements model.Model. A model that refuses an optional part of a request is
// asked again without it, and this is remembered while the program runs.
func (m *client) Stream(ctx context.Context, r model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for {
			shuns := m.shuns()
			events, err := m.once(ctx, r, shuns, yield)
			if err == nil {
				return
			}
			if events == 0 && m.concede(err, r, shuns) {
				continue
			}
			yield(model.Event{}, err)
			return
		}
	}
}

// errLeft ends the reading of a stream whose caller left the loop.
var errLeft = errors.New("the caller left")

// once makes one request. It returns how many events were yielded and the error
// that has not been, or nil when there is nothing more to say.
func (m *client) once(ctx context.Context, r model.Request, shuns map[string]bool,
	yield func(model.Event, error) bool,
) (int, error) {
	key, err := m.p.link.Key(ctx)
	if err != nil {
		return 0, m.p.link.Fail(ctx, m.id, err)
	}
	data, err := m.body(r, shuns)
	if err != nil {
		return 0, m.p.link.Fail(ctx, m.id, &model.Error{
			Kind: model.BadRequest, Detail: "the request cannot be written: " + err.Error(), Err: err,
		})
	}
	var answer model.Answer
	response, err := m.p.link.Ask(model.Watching(ctx, &answer), "chat/completions", "", data, bearer(key))
	if err != nil {
		return 0, m.p.link.Fail(ctx, m.id, err)
	}
	defer response.Body.Close()
	s := &reader{m: m, calls: model.NewCallAssembler(r), message: map[string]json.RawMessage{}, think: m.splitter()}
	s.yield = func(e model.Event) error {
		s.events++
		if e.Kind != model.Vendor {
			s.at = e.Kind
		}
		if !yield(e, nil) {
			s.gone = true
			return errLeft
		}
		return nil
	}
	defer s.broke()
	done, err := m.p.link.Read(ctx, m.id, response.Body, s.chunk)
	if err == nil {
		err = s.finished(done, &answer)
	}
	switch {
	case err == nil:
		err = s.end(m.note(ctx, r, s.usage))
	case ctx.Err() != nil:
		return s.events, context.Cause(ctx)
	}
	if errors.Is(err, errLeft) || s.cut(err) != nil {
		return s.events, nil
	}
	return s.events, m.p.link.Fail(ctx, m.id, err)
}

// cut yields the text that was held back, where an answer broke off with err behind other text.
func (s *reader) cut(err error) error {
	if err == nil || s.events == 0 || s.at == model.End {
		return nil
	}
	s.think.guessed = false
	return s.held()
}

// held yields what is still held back of text and thinking.
func (s *reader) held() error {
	if err := s.say(s.thoughts.Rest(), ""); err != nil {
		return err
	}
	if err := s.think.take(s.texts.Rest(), s.spoken); err != nil {
		return err
	}
	return s.think.rest(s.spoken)
}

// finished returns what is wrong with an answer that has no further events, or nil. done reports
// that the end mark came.
func (s *reader) finished(done bool, answer *model.Answer) error {
	switch {
	case s.stop == "" && s.word != "":
		return s.m.p.link.Ended(s.m.id, s.word)
	case s.stop == "" && !((done || s.last) && s.events > 0):
		return s.m.p.link.Unfinished(s.m.id, answer, s.events)
	case s.stop == model.StopFilter && s.events == 0:
		return &model.Error{Kind: model.Filtered}
	}
	return nil
}

// reader turns chunks into events.
type reader struct {
	m      *client
	yield  func(model.Event) error // counts events; errLeft when the loop was left
	events int
	gone   bool            // nobody takes more of them
	at     model.EventKind // of the last event that is no vendor's data
	calls  *model.CallAssembler
	think  splitter
	usage  chat.Usage
	stop   model.StopReason
	word   string // the reason to stop as the server wrote it
	last   bool   // a chunk came with the usage and nothing else, as the last one does
	deltas bool   // a piece of the answer came: a whole message behind the pieces repeats them

	texts, thoughts model.Joint

	field   string                     // that reasoning came in
	details []json.RawMessage          // OpenRouter's, gathered
	yielded bool                       // the Vendor event of this thinking was yielded
	message map[string]json.RawMessage // what else came with the message
	kept    int                        // bytes of that and of details
	sources model.Sources
	lost    model.Lost
}

// maxKept bounds what of an answer is kept for its server alone: encrypted thinking has some hundred KiB.
const maxKept = 1 << 20

// The members of a chunk and of a message that are read here; what else a message holds goes back as
// it came.
var (
	thinkingNames = []string{"reasoning_content", "reasoning", "reasoning_text", "thinking"}
	messageNames  = append([]string{
		"role", "name", "content", "refusal", "tool_calls", "function_call", "reasoning_details", "images", "audio",
		"annotations", "citations", "obfuscation",
	}, thinkingNames...)
	callNames = []string{"id", "index", "type", "function"}
)

// chunk reads a chunk of a stream, or a whole answer of a server that does not stream.
func (s *reader) chunk(_ []byte, c map[string]json.RawMessage) error {
	if usage := model.Object(c["usage"]); usage != nil {
		s.use(usage)
	}
	s.sources.Take(c["citations"])
	s.sources.Take(c["search_results"])
	choices := model.List(c["choices"])
	if len(choices) == 0 {
		if model.Object(c["message"]) == nil && model.Object(c["delta"]) == nil {
			s.last = s.last || model.Object(c["usage"]) != nil
			return nil
		}
		choices = []json.RawMessage{nil} // a server that leaves out the list
	}
	choice := c
	if choices[0] != nil {
		choice = model.Object(choices[0])
	}
	delta := model.Object(choice["delta"])
	if whole := model.Object(choice["message"]); len(delta) == 0 && !s.deltas {
		delta = whole
	} else {
		s.deltas = s.deltas || len(delta) > 0 && whole == nil
	}
	for _, part := range []map[string]json.RawMessage{choice, delta} {
		if said := s.m.p.link.SaidIn(s.m.id, part); said != nil {
			return said
		}
	}
	if err := s.delta(delta); err != nil {
		return err
	}
	if len(delta) == 0 && len(choice["text"]) > 0 { // of the older completions
		if err := s.content(choice["text"]); err != nil {
			return err
		}
	}
	if word := model.Member(choice, "finish_reason", "done_reason"); word != "" && s.stop != model.StopFilter {
		s.word, s.stop = word, stopReason(word)
	}
	return nil
}

// delta reads a piece of a message, or a whole one.
func (s *reader) delta(d map[string]json.RawMessage) error {
	if err := s.reasoning(d); err != nil {
		return err
	}
	if err := s.content(d["content"]); err != nil {
		return err
	}
	if refusal := s.texts.Next(d["refusal"]); refusal != "" {
		if err := s.say("", refusal); err != nil {
			return err
		}
		s.stop = model.StopFilter
	}
	for _, image := range model.List(d["images"]) {
		if err := s.picture(model.Object(image)); err != nil {
			return err
		}
	}
	if len(model.Object(d["audio"])) > 0 {
		s.lost.Add("sound, which Conclave cannot play")
	}
	s.sources.Take(d["annotations"])
	s.sources.Take(d["citations"])
	for _, call := range model.List(d["tool_calls"]) {
		if err := s.call(model.Object(call)); err != nil {
			return err
		}
	}
	if function := d["function_call"]; model.Object(function) != nil { // before there were tools
		if err := s.call(map[string]json.RawMessage{"index": json.RawMessage("0"), "function": function}); err != nil {
			return err
		}
	}
	for name, value := range d {
		if slices.Contains(messageNames, name) || empty(value) || bytes.Equal(s.message[name], value) {
			continue
		}
		if s.kept += len(value); s.kept > maxKept {
			s.lost.Add("more data of the server than goes back to it")
			continue
		}
		s.message[name] = joined(s.message[name], value)
	}
	return nil
}

// content reads text, or a list of parts.
func (s *reader) content(raw json.RawMessage) error {
	switch {
	case empty(raw):
		return nil
	case raw[0] == '"':
		return s.think.take(s.texts.Next(raw), s.spoken)
	case raw[0] != '[' && raw[0] != '{':
		return s.say("", string(raw)) // a number, of a server that does not quote
	}
	for _, part := range model.List(raw) {
		if err := s.part(part); err != nil {
			return err
		}
	}
	return nil
}

// part reads one part of a list of content, {"type":"text","text":"…"}.
func (s *reader) part(raw json.RawMessage) error {
	members := model.Object(raw)
	if members == nil {
		return s.content(raw) // a text among the parts
	}
	switch kind := model.Member(members, "type"); kind {
	case "thinking", "reasoning":
		return s.say(s.thought(members), "")
	case "image_url", "image", "output_image":
		return s.picture(members)
	case "refusal":
		s.stop = model.StopFilter
		return s.say("", s.texts.Next(members["refusal"]))
	case "reference":
		s.sources.Take(raw)
		return nil
	case "tool_use", "tool_call", "function":
		return s.call(members)
	default:
		if _, ok := members["text"]; ok {
			return s.content(members["text"])
		}
		s.lost.Add(fmt.Sprintf("a part of the kind “%.40s”, which it does not know", kind))
		return nil
	}
}

// thought returns the text of a part that is thinking: a text, or parts again.
func (s *reader) thought(members map[string]json.RawMessage) string {
	for _, name := range []string{"thinking", "reasoning", "text", "content", "summary"} {
		raw := members[name]
		if text := s.thoughts.Next(raw); text != "" {
			return text
		}
		var all strings.Builder
		if !empty(raw) && (raw[0] == '[' || raw[0] == '{') {
			for _, part := range model.List(raw) {
				if inner := model.Object(part); inner != nil {
					all.WriteString(s.thought(inner))
				} else {
					all.WriteString(s.thoughts.Next(part))
				}
			}
		}
		if all.Len() > 0 {
			return all.String()
		}
	}
	return ""
}

// call reads a piece of a tool call, or a whole one.
func (s *reader) call(members map[string]json.RawMessage) error {
	if err := s.vendor(); err != nil {
		return err
	}
	function := model.Object(members["function"])
	if function == nil {
		function = members
	}
	f := model.Fragment{ID: model.Member(members, "id"), Name: model.Member(function, "name")}
	_, numberErr := fmt.Sscan(model.Member(members, "index"), &f.Index)
	f.HasIndex = numberErr == nil
	if raw := function["arguments"]; !empty(raw) {
		if raw[0] == '"' {
			_ = json.Unmarshal(raw, &f.Arguments) // it is a string
		} else {
			f.Arguments = string(raw) // an object in place of its text
		}
	}
	kept := map[string]json.RawMessage{}
	for name, value := range members {
		if !slices.Contains(callNames, name) && !empty(value) && len(function) > 0 && members["function"] != nil {
			kept[name] = value
		}
	}
	if len(kept) > 0 {
		f.Kept = kept
	}
	start, started, err := s.calls.Add(f)
	if err != nil || !started {
		return err
	}
	return s.yield(model.Event{Kind: model.CallStart, Call: start})
}

// picture reads a picture: a data URL, an address, or base64.
func (s *reader) picture(members map[string]json.RawMessage) error {
	source := members
	for _, name := range []string{"image_url", "image", "source"} {
		if inner := model.Object(members[name]); inner != nil {
			source = inner
		}
	}
	text := model.Member(source, "url", "image_url", "b64_json", "data", "image_base64")
	if strings.HasPrefix(text, "https://") || strings.HasPrefix(text, "http://") {
		return s.say("", "\n\n[a picture: "+text+"]\n\n")
	}
	media := model.Picture(text)
	if media == nil {
		s.lost.Add("a picture that cannot be read")
		return nil
	}
	if err := s.vendor(); err != nil {
		return err
	}
	if err := s.yield(model.Event{Kind: model.Drawn, Media: media}); err != nil {
		return err
	}
	return s.keep(vendor{Drawn: true})
}

// spoken yields what the splitter took apart.
func (s *reader) spoken(kind model.EventKind, text string) error {
	switch kind {
	case model.Reasoning:
		return s.say(text, "")
	case model.Text:
		return s.say("", text)
	}
	return s.yield(model.Event{Kind: kind, Text: text})
}

// say yields thinking and then text, each if there is any.
func (s *reader) say(thought, text string) error {
	if thought != "" {
		s.yielded = false
		if err := s.yield(model.Event{Kind: model.Reasoning, Text: thought}); err != nil {
			return err
		}
	}
	if text == "" {
		return nil
	}
	if err := s.vendor(); err != nil {
		return err
	}
	return s.yield(model.Event{Kind: model.Text, Text: text})
}

// reasoning reads the thinking that similar servers send next to the content:
// reasoning_content (DeepSeek, Qwen, GLM, llama.cpp, vLLM), reasoning
// (OpenRouter, Groq, Ollama), reasoning_details (OpenRouter, which wants them
// back), and other names.
func (s *reader) reasoning(d map[string]json.RawMessage) error {
	details := model.List(d["reasoning_details"])
	if s.kept += len(d["reasoning_details"]); s.kept > maxKept && len(details) > 0 {
		s.lost.Add("more data of the server than goes back to it")
	} else {
		s.details = append(s.details, details...)
	}
	for _, name := range thinkingNames {
		text := s.thoughts.Next(d[name])
		if inner := model.Object(d[name]); inner != nil {
			text = s.thought(inner)
		}
		if text == "" {
			continue
		}
		s.field = name
		return s.say(text, "")
	}
	for _, detail := range details {
		if err := s.say(s.thought(model.Object(detail)), ""); err != nil {
			return err
		}
	}
	return nil
}

// vendor yields, once after each stretch of thinking, what goes back with it.
func (s *reader) vendor() error {
	if s.yielded || (s.field == "" && len(s.details) == 0) {
		return nil
	}
	s.yielded = true
	return s.keep(vendor{Field: s.field, Details: s.details})
}

// keep yields what goes back with the part that came last.
func (s *reader) keep(v vendor) error {
	v.Host = s.m.p.link.Host()
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return s.yield(model.Event{Kind: model.Vendor, Part: map[string]json.RawMessage{Kind: data}})
}

func (s *reader) use(u map[string]json.RawMessage) {
	number := func(members map[string]json.RawMessage, names ...string) (n int64) {
		_, _ = fmt.Sscan(model.Member(members, names...), &n) // absent: not sent
		return n
	}
	s.usage = chat.Usage{
		Input: number(u, "prompt_tokens", "input_tokens"), Output: number(u, "completion_tokens", "output_tokens"),
		Cached:    number(model.Object(u["prompt_tokens_details"]), "cached_tokens"),
		Reasoning: number(model.Object(u["completion_tokens_details"]), "reasoning_tokens"),
	}
	_ = json.Unmarshal(u["cost"], &s.usage.Cost) // OpenRouter; absent elsewhere
}

// end yields what the end of the stream completes. note is a sentence for the person, or empty.
func (s *reader) end(note string) error {
	if err := s.held(); err != nil {
		return err
	}
	s.m.remember(&s.think)
	if err := s.vendor(); err != nil {
		return err
	}
	if sources := s.sources.Text(); sources != "" {
		if err := s.say("", sources); err != nil {
			return err
		}
	}
	calls, nameless := s.calls.Calls()
	if nameless > 0 {
		s.lost.Add("a tool call without the name of a tool")
	}
	for _, call := range calls {
		if err := s.yield(model.Event{Kind: model.Call, Call: call.ToolCall}); err != nil {
			return err
		}
		if len(call.Kept) > 0 {
			if err := s.keep(vendor{Call: call.Kept}); err != nil {
				return err
			}
		}
	}
	if len(s.message) > 0 {
		v := vendor{Message: s.message}
		switch { // the data of a part is one, and is replaced as a whole
		case len(calls) > 0:
			v.Call = calls[len(calls)-1].Kept
		case s.at == model.Drawn:
			v.Drawn = true
		case s.at == model.Reasoning:
			v.Field, v.Details = s.field, s.details
		}
		if err := s.keep(v); err != nil {
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
	if len(calls) > 0 && s.stop != model.StopLength && s.stop != model.StopFilter {
		s.stop = model.StopCalls // some say "stop" with their calls
	} else if s.stop == "" || s.stop == model.StopCalls {
		s.stop = model.StopEnd
	}
	return s.yield(model.Event{Kind: model.End, Usage: s.usage, Stop: s.stop})
}

// empty reports whether a member is missing or holds nothing.
func empty(raw json.RawMessage) bool {
	switch strings.TrimSpace(string(raw[:min(len(raw), 8)])) {
	case "", "null", `""`, "[]", "{}":
		return true
	}
	return false
}

// joined returns a member of a message with what a later piece adds to it: texts are put together,
// lists are, and of anything else the later counts.
func joined(have, more json.RawMessage) json.RawMessage {
	if len(have) == 0 || bytes.Equal(have, more) {
		return more
	}
	var a, b string
	if json.Unmarshal(have, &a) == nil && json.Unmarshal(more, &b) == nil {
		return quoted(a + b)
	}
	if have[0] == '[' && more[0] == '[' {
		all, err := json.Marshal(append(model.List(have), model.List(more)...))
		if err == nil {
			return all
		}
	}
	return more
}

func quoted(text string) json.RawMessage {
	data, _ := json.Marshal(text) // a text can be written
	return data
}

// stopReason returns the meaning of a word with which an answer ends, or "" for one that is no end
// of an answer, or that nobody here knows.
func stopReason(word string) model.StopReason {
	switch strings.ToLower(word) {
	case "stop", "end", "end_turn", "eos", "eos_token", "stop_sequence", "stop_token", "complete", "completed", "done",
		"finished", "normal":
		return model.StopEnd
	case "tool_calls", "tool_call", "tool_use", "function_call", "function_calls":
		return model.StopCalls
	case "length", "max_tokens", "max_output_tokens", "model_length", "max_length", "token_limit",
		"model_context_window_exceeded":
		return model.StopLength
	case "content_filter", "content-filter", "sensitive", "safety", "refusal", "guardrail_intervened":
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
