package demo

import (
	"context"
	"encoding/json"
	"time"
	"unicode"

	"conclave/app/chat"
	"conclave/app/model"
)

// speaker yields events at its pace. After the listener left or ctx ended, all it
// does is nothing.
type speaker struct {
	ctx   context.Context //nolint:containedctx // the life of this one stream
	pace  time.Duration
	yield func(model.Event, error) bool
	gone  bool
	usage chat.Usage
	said  int // characters
}

// act is a step of a script.
type act struct {
	kind model.EventKind // Text, Reasoning or Call
	text string
	pace time.Duration // 0 = the speaker's, negative = none
	call chat.ToolCall
	fail *model.Error // instead of the rest
}

// performance lists what Demo guide does with one request.
type performance []act

func (p performance) perform(s *speaker) {
	stop := model.StopEnd
	for _, a := range p {
		switch {
		case a.fail != nil:
			s.fail(a.fail)
		case a.kind == model.Call:
			stop = model.StopCalls
			s.send(model.Event{Kind: model.CallStart, Call: chat.ToolCall{ID: a.call.ID, Tool: a.call.Tool}})
			s.send(model.Event{Kind: model.Call, Call: a.call})
			s.said += len(a.call.Arguments)
		default:
			s.speak(a)
		}
	}
	s.usage.Output = int64(s.said+3) / 4
	s.send(model.Event{Kind: model.End, Usage: s.usage, Stop: stop})
}

func (s *speaker) send(e model.Event) {
	if s.gone {
		return
	}
	if s.ctx.Err() != nil {
		s.fail(context.Cause(s.ctx))
		return
	}
	s.gone = !s.yield(e, nil)
}

func (s *speaker) fail(err error) {
	if !s.gone {
		s.gone = true
		s.yield(model.Event{}, err)
	}
}

// speak yields a text in pieces of one word, or of a few without a pace, where
// nobody watches them come.
func (s *speaker) speak(a act) {
	pace := s.pace
	if a.pace != 0 {
		pace = max(0, a.pace)
	}
	words := 1
	if pace == 0 {
		words = 8
	}
	rest := a.text
	for rest != "" && !s.gone {
		n := pieceEnd(rest, words)
		s.said += n
		s.send(model.Event{Kind: a.kind, Text: rest[:n]})
		rest = rest[n:]
		if pace > 0 && rest != "" {
			s.wait(pace)
		}
	}
}

// pieceEnd is the length of the next words of text with the space after them.
func pieceEnd(text string, words int) int {
	inWord := false
	for i, r := range text {
		space := unicode.IsSpace(r)
		if inWord && space {
			words--
		}
		if words == 0 && !space {
			return i
		}
		inWord = !space
	}
	return len(text)
}

func (s *speaker) wait(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.ctx.Done():
	}
}

// estimate counts a request's tokens at four characters each, the usual rule of
// thumb for English.
func estimate(r model.Request) int64 {
	n := len(r.System)
	for _, t := range r.Tools {
		n += len(t.Name) + len(t.Description) + len(t.Parameters)
	}
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			n += len(p.Text)
			if p.Call != nil {
				n += len(p.Call.Tool) + len(p.Call.Arguments)
			}
			if p.Result != nil {
				n += len(p.Result.Text())
			}
		}
	}
	return int64(n+3) / 4
}

// say is a step that says text.
func say(text string) act { return act{kind: model.Text, text: text} }

// ask is a step that calls a tool.
func ask(name string, arguments json.RawMessage, raw string) act {
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	return act{kind: model.Call, call: chat.ToolCall{Tool: name, Arguments: arguments, Raw: raw}}
}

// numbered gives the calls of a performance ids, the same for the same chat.
func numbered(p performance, r model.Request) performance {
	n := 0
	for _, m := range r.Messages {
		for _, part := range m.Parts {
			if part.Call != nil {
				n++
			}
		}
	}
	for i := range p {
		if p[i].kind == model.Call {
			n++
			p[i].call.ID = "demo_" + itoa(n)
		}
	}
	return p
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return itoa(n) + " " + many
}
