package host

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/document"
	"conclave/app/plugin"
	"conclave/app/plugin/wire"
	"conclave/app/tool"
)

// callResult is the result of tools/call (MCP 2025-06-18; docs/WIRE.md section 4
// for _meta).
type callResult struct {
	Content []struct {
		Type     string `json:"type"`
		Text     string `json:"text"`
		Data     []byte `json:"data"` // base64 in JSON
		MIMEType string `json:"mimeType"`
		Name     string `json:"name"`
		URI      string `json:"uri"`
		Resource struct {
			URI      string `json:"uri"`
			MIMEType string `json:"mimeType"`
			Text     string `json:"text"`
			Blob     []byte `json:"blob"`
		} `json:"resource"`
	} `json:"content"`
	Structured json.RawMessage `json:"structuredContent"`
	IsError    bool            `json:"isError"`
	Meta       struct {
		Result    json.RawMessage  `json:"conclave/result"`
		Status    chat.CallStatus  `json:"conclave/status"`
		ErrorType string           `json:"conclave/error-type"`
		Traceback string           `json:"conclave/traceback"`
		Printed   string           `json:"conclave/printed"`
		EndTurn   bool             `json:"conclave/end-turn"`
		Handled   bool             `json:"conclave/handled"`
		Notes     []string         `json:"conclave/for-person"`
		CallsOff  tool.CallsOff    `json:"conclave/calls-off"`
		Refused   []plugin.Refusal `json:"conclave/refused"`
	} `json:"_meta"`
}

// call runs one call. Past the deadline, or after ctx's end, the process has
// grace to answer before it is killed. It reports unsent when the call did not
// reach the process, which has ended.
func (s *session) call(ctx context.Context, call tool.Call) (r tool.Result, unsent bool) {
	if call.ID != "" && call.Conversation != "" {
		defer s.surface.opened(call.ID, call.Conversation)()
	}
	clock := s.clocks.Start(call.Deadline.Add(grace), func(at time.Time) { // it may ask before Start returns
		if call.Moved != nil {
			call.Moved(at.Add(-grace))
		}
	})
	defer clock.Stop()
	p, err := s.transport.Start(ctx, "tools/call", s.params(call))
	if err != nil {
		unsent = ctx.Err() == nil && (streamEnded(err) || s.transport.Err() != nil)
		return s.broken(ctx, err), unsent
	}
	return s.await(ctx, p, clock), false
}

// await waits for the answer of a call.
func (s *session) await(ctx context.Context, p *wire.OpenRequest, clock *wire.Clock) tool.Result {
	select {
	case <-p.Done():
		if s.overfull() || s.filled.Load() {
			return tool.Result{Status: chat.CallDied, Error: limit.StorageBytes.Model}
		}
		return s.answer(ctx, p)
	case <-clock.Over():
		s.kill("The tool's process was restarted because another call ran over its time; call it again.")
		return tool.Result{Status: chat.CallTimeout}
	case <-ctx.Done():
		_ = p.Cancel(reason(ctx))
		s.r.h.spawn(func() { s.killUnlessAnswered(p) }) // ends within grace
		return tool.Result{Status: chat.CallCancelled, Error: reason(ctx)}
	}
}

// overfull ends the process if it filled its storage, and reports whether it did.
func (s *session) overfull() bool {
	if !s.r.e.full(s.process) {
		return false
	}
	s.kill(limit.StorageBytes.Person)
	if !s.filled.Swap(true) {
		s.r.e.logs("error", limit.StorageBytes.Person)
	}
	return true
}

// killUnlessAnswered waits for the answer to a cancelled call, and kills the process when it
// does not come: it is busy with something nobody waits for.
func (s *session) killUnlessAnswered(p *wire.OpenRequest) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-timer.C:
		s.kill("The tool's process was restarted because a stopped call did not end; call it again.")
	}
}

func reason(ctx context.Context) string {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause.Error()
	}
	return "stopped"
}

// params are the parameters of tools/call. A server that is not ours gets no
// conclave/… keys.
func (s *session) params(call tool.Call) any {
	arguments := call.Arguments
	if len(arguments) == 0 {
		arguments = json.RawMessage("{}")
	}
	params := map[string]any{"name": call.Tool.Name, "arguments": arguments}
	if !s.speaks {
		return params
	}
	meta := map[string]any{
		wire.MetaCall: call.ID, wire.MetaDeadline: call.Deadline.UnixMilli(),
		wire.MetaConversation: string(call.Conversation), wire.MetaUser: wire.User,
	}
	if call.Tool.Convention.Raw {
		meta[wire.MetaRaw] = call.RawArguments
	}
	if call.CouncilMember != nil {
		meta[wire.MetaMember] = call.CouncilMember
	}
	if call.ContextMessages != nil {
		meta[wire.MetaMessages] = call.ContextMessages
	}
	params["_meta"] = meta
	return params
}

// answer turns what the process answered into a Result.
func (s *session) answer(ctx context.Context, p *wire.OpenRequest) tool.Result {
	raw, err := p.Result()
	if err != nil {
		return s.broken(ctx, err)
	}
	var c callResult
	if err := json.Unmarshal(raw, &c); err != nil {
		return tool.Result{Status: chat.CallRaised, Error: "the tool's answer cannot be read: " + err.Error()}
	}
	r := tool.Result{
		Status: c.Meta.Status, Value: c.Meta.Result, ErrorType: c.Meta.ErrorType, Traceback: c.Meta.Traceback,
		Printed: c.Meta.Printed, EndTurn: c.Meta.EndTurn && s.speaks, Handled: c.Meta.Handled && s.speaks,
	}
	if s.speaks {
		r.CallsOff = c.Meta.CallsOff
		for _, note := range c.Meta.Notes {
			if text, _ := tool.Clean(note); text != "" && len(r.Notes) < maxNotes {
				r.Notes = append(r.Notes, forPerson(s.r.e.id+": "+text))
			}
		}
	}
	if r.Status == "" || (c.IsError && r.Status == chat.CallOK) {
		r.Status = chat.CallOK
		if c.IsError {
			r.Status = chat.CallRaised
		}
	}
	if r.Value == nil {
		r.Value = c.Structured
	}
	for _, block := range c.Content {
		switch block.Type {
		case "text":
			r.Content = append(r.Content, chat.Part{Kind: chat.PartText, Text: strings.ToValidUTF8(block.Text, "\uFFFD")})
		case "image", "audio":
			r.Content = append(r.Content, media(block.MIMEType, block.Name, block.Data))
		case "resource":
			if block.Resource.Blob != nil {
				r.Content = append(r.Content, media(block.Resource.MIMEType, block.Resource.URI, block.Resource.Blob))
			} else {
				r.Content = append(r.Content, chat.Part{
					Kind: chat.PartText,
					Text: strings.ToValidUTF8(block.Resource.Text, "\uFFFD"),
				})
			}
		case "resource_link":
			r.Content = append(r.Content, chat.Part{Kind: chat.PartText, Text: block.Name + ": " + block.URI})
		}
	}
	if r.Status != chat.CallOK && r.Status != chat.CallPaused {
		r.Error = strings.TrimPrefix(chat.TextOf(r.Content), "Error: ")
		r.Content = nil
	}
	if r.Status == chat.CallCancelled && r.ErrorType == restarted {
		r.Status = chat.CallDied // nobody stopped this call
		s.r.retireSession(s)
	}
	if r.Status == chat.CallTimeout {
		r.Error = "" // the runner names the limit
		s.r.retireSession(s)
	}
	if s.speaks {
		s.r.e.explainRefusals(&r, c.Meta.Refused)
	}
	s.r.e.redactor.result(&r)
	return r
}

// restarted is the error type of a call that a worker gave up because it is
// ending for another one's sake.
const restarted = "Restarted"

// media is a media part. Its type is that of its bytes, where the two are at
// odds over being a picture: a provider refuses a whole request for one picture
// that is none. A name that is an address is its last part.
func media(mime, name string, data []byte) chat.Part {
	found := document.Look(name, data)
	mime, _, _ = strings.Cut(strings.ToLower(strings.TrimSpace(mime)), ";")
	switch {
	case found.Kind == document.Picture || found.Kind == document.Unseen || mime == "":
		mime = found.MIME
	case strings.HasPrefix(mime, "image/") && mime != "image/svg+xml":
		mime = "application/octet-stream"
	}
	if scheme, rest, ok := strings.Cut(name, "://"); ok {
		name = path.Base(rest)
		if scheme == "conclave" {
			name = ""
		}
	}
	name, _ = tool.Strip(name)
	return chat.Part{
		Kind: chat.PartMedia, Text: name,
		Media: &chat.Media{MIME: mime, Name: name, Size: int64(len(data)), Data: data},
	}
}

// broken is the result of a call that got no answer. It waits until the end of
// the process was taken note of, so that the next call starts another.
func (s *session) broken(ctx context.Context, err error) tool.Result {
	if ctx.Err() != nil {
		return tool.Result{Status: chat.CallCancelled, Error: reason(ctx)}
	}
	if s.transport.Err() == nil && !streamEnded(err) { // an error answer, such as an unknown tool
		return tool.Result{Status: chat.CallRaised, Error: err.Error()}
	}
	timer := time.NewTimer(2 * grace)
	defer timer.Stop()
	select {
	case <-s.over:
	case <-timer.C:
	}
	if why := s.killedWhy(); why != "" {
		return tool.Result{Status: chat.CallDied, Error: why}
	}
	printed := lastBytes(s.stderr(), 8<<10)
	if b, ok := errors.AsType[*wire.Broken](s.transport.Err()); ok {
		return tool.Result{
			Status: chat.CallDied, Error: "the tool process was stopped: " + b.Message, ErrorType: b.Kind,
			Printed: printed,
		}
	}
	return tool.Result{Status: chat.CallDied, Error: "the tool process ended (" + s.process.Exit() + ")", Printed: printed}
}

// forPerson cuts what a plugin says to the person, which begins with its id: a name that
// it chose itself could be Conclave's.
func forPerson(text string) string {
	if len(text) <= limit.PersonNote.Int() {
		return text
	}
	return strings.ToValidUTF8(text[:limit.PersonNote.Int()], "") + "… " + limit.PersonNote.Person
}

func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-n:], "")
}
