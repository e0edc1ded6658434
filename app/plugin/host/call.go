package host

import (
	"context"
	"errors"
	"mime"
	"path"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/document"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// call runs one call. Past the deadline, or after ctx's end, the plugin has grace to answer before it is
// killed. It reports unsent when the call did not reach the plugin, which has ended.
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
	p := &pendingCall{done: make(chan struct{})}
	if !s.r.h.tasks.spawn(func() { // ends with the answer, or with the backend
		defer close(p.done)
		p.answer, p.err = s.backend.Call(ctx, call)
	}) {
		return tool.Result{Status: chat.CallDied, Error: closingReason}, false
	}
	select {
	case <-p.done:
		if s.overfull() || s.filled.Load() {
			return tool.Result{Status: chat.CallDied, Error: storageFull}, false
		}
		if p.err != nil {
			return s.failed(ctx, p.err), ctx.Err() == nil && errors.Is(p.err, plugin.ErrNotSent)
		}
		return s.taken(p.answer), false
	case <-clock.Over():
		s.kill("The tool's process was restarted because another call ran over its time; call it again.")
		return tool.Result{Status: chat.CallTimeout}, false
	case <-ctx.Done():
		s.r.h.tasks.spawn(func() { s.killUnlessAnswered(p) }) // ends within grace
		return tool.Result{Status: chat.CallCancelled, Error: reason(ctx)}, false
	}
}

// pendingCall is a call that the backend works on. Its answer or error is there once done is closed.
type pendingCall struct {
	done   chan struct{}
	answer plugin.Answer
	err    error
}

// overfull ends the process if it filled its storage, and reports whether it did.
func (s *session) overfull() bool {
	if !s.r.e.quota.full(s.r.h.o.storage(s.r.e.id), s.process) {
		return false
	}
	s.kill(storageOver)
	if !s.filled.Swap(true) {
		s.r.e.logs("error", storageOver)
	}
	return true
}

// killUnlessAnswered waits for the answer to a cancelled call, and kills the process when it
// does not come: it is busy with something nobody waits for.
func (s *session) killUnlessAnswered(p *pendingCall) {
	timer := time.NewTimer(grace)
	defer timer.Stop()
	select {
	case <-p.done:
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

// taken returns an answer as the host passes it on: cut, cleaned, and without the plugin's secrets.
func (s *session) taken(a plugin.Answer) tool.Result {
	r := a.Result
	notes := r.Notes
	r.Notes = nil
	for _, note := range notes {
		if text, _ := tool.Clean(note); text != "" && len(r.Notes) < maxNotes {
			r.Notes = append(r.Notes, forPerson(s.r.e.id+": "+text))
		}
	}
	for i, p := range r.Content {
		switch p.Kind {
		case chat.PartText:
			r.Content[i].Text = strings.ToValidUTF8(p.Text, "\uFFFD")
		case chat.PartMedia:
			r.Content[i] = shownMedia(*p.Media)
		}
	}
	if r.Status == chat.CallCancelled && r.ErrorType == restarted {
		r.Status = chat.CallDied // nobody stopped this call
		s.r.retireSession(s)
	}
	if r.Status == chat.CallTimeout && !a.Alone {
		r.Error = "" // the runner names the limit
		s.r.retireSession(s)
	}
	explainRefusals(s.r.e.id, &r, s.r.e.stands(s.r.e.refused(a.Refused)))
	s.r.e.redactor.result(&r)
	return r
}

// restarted is the error type of a call that a worker gave up because it is
// ending for another one's sake.
const restarted = "Restarted"

// media is a media part as it came.
func media(kind, name string, data []byte) chat.Part {
	return chat.Part{Kind: chat.PartMedia, Media: &chat.Media{MIME: kind, Name: name, Data: data}}
}

// shownMedia returns a media part with the type of its bytes where it claims to be a picture and is
// none, or the other way round: a provider refuses a whole request for one picture that is none. A
// name that is an address becomes its last part.
func shownMedia(m chat.Media) chat.Part {
	name := m.Name
	found := document.Look(name, m.Data)
	kind, _, err := mime.ParseMediaType(m.MIME)
	switch {
	case found.Kind == document.Picture || found.Kind == document.Unseen || strings.TrimSpace(m.MIME) == "":
		kind = found.MIME
	case err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter),
		len(kind) > maxKind || !strings.Contains(kind, "/"),
		strings.HasPrefix(kind, "image/") && kind != "image/svg+xml":
		kind = "application/octet-stream"
	}
	if scheme, rest, ok := strings.Cut(name, "://"); ok {
		name = path.Base(rest)
		if scheme == "conclave" {
			name = ""
		}
	}
	name, _ = tool.Strip(lastBytes(name, maxMediaName))
	return chat.Part{
		Kind: chat.PartMedia, Text: name,
		Media: &chat.Media{MIME: kind, Name: name, Size: int64(len(m.Data)), Data: m.Data},
	}
}

// maxKind is the longest type of a file (RFC 6838), and maxMediaName the longest name, in bytes.
const (
	maxKind      = 255
	maxMediaName = 255
)

// failed is the result of a call that got no answer. Where the plugin ended, it waits until that was
// taken note of, so that the next call starts it again.
func (s *session) failed(ctx context.Context, err error) tool.Result {
	switch {
	case ctx.Err() != nil:
		return tool.Result{Status: chat.CallCancelled, Error: reason(ctx)}
	case !errors.Is(err, plugin.ErrEnded): // an error answer, such as an unknown tool
		return tool.Result{Status: chat.CallRaised, Error: s.r.e.redactor.text(err.Error())}
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
	if b := s.broken(); b != nil {
		return tool.Result{
			Status: chat.CallDied, Error: "the tool process was stopped: " + b.Message, ErrorType: b.Kind,
			Printed: printed,
		}
	}
	return tool.Result{Status: chat.CallDied, Error: "the tool process ended (" + s.exit() + ")", Printed: printed}
}

// forPerson cuts what a plugin says to the person, which begins with its id: a name that
// it chose itself could be Conclave's.
func forPerson(text string) string {
	if len(text) <= limit.PersonNote {
		return text
	}
	return strings.ToValidUTF8(text[:limit.PersonNote], "") + "… " + "(It said more than 8 KiB; the rest was left out.)"
}

func lastBytes(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[len(text)-n:], "")
}
