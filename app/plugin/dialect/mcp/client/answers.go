package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"sync"

	"conclave/app/base/jsonobject"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of what one server may ask.
const (
	maxQuestions = 32      // at once
	maxRounds    = 10      // of one request
	maxName      = 1 << 10 // bytes of an id or an address that is kept
)

// questions are those that the server asks.
type questions struct {
	turn chan struct{} // has room for one: one question at a time reaches the person

	mu     sync.Mutex // guards all below
	asking map[jsonrpc.ID]context.CancelCauseFunc
	visits map[string]chan struct{} // to pages, by the server's id; closed when they are over
}

// begin notes a question of the server; false means that it has too many, or asks under the id of one that waits.
func (q *questions) begin(id jsonrpc.ID, cancel context.CancelCauseFunc) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if _, waits := q.asking[id]; waits || len(q.asking) >= maxQuestions {
		return false
	}
	if q.asking == nil {
		q.asking = map[jsonrpc.ID]context.CancelCauseFunc{}
	}
	q.asking[id] = cancel
	return true
}

func (q *questions) end(id jsonrpc.ID) {
	q.mu.Lock()
	delete(q.asking, id)
	q.mu.Unlock()
}

var errTakenBack = errors.New("the server took the question back")

// takenBack ends a question that the server cancelled.
func (q *questions) takenBack(id jsonrpc.ID) {
	q.mu.Lock()
	cancel := q.asking[id]
	q.mu.Unlock()
	if cancel != nil {
		cancel(errTakenBack)
	}
}

// visit returns what is closed when the visit of a page is over; nil where the server gave it no id that is used.
func (q *questions) visit(id string) <-chan struct{} {
	if id == "" || len(id) > maxName {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	over := q.visits[id]
	if over == nil {
		if q.visits == nil || len(q.visits) > maxUpdated {
			q.visits = map[string]chan struct{}{}
		}
		over = make(chan struct{})
		q.visits[id] = over
	}
	return over
}

// finished notes that the visit of a page is over.
func (q *questions) finished(id string) {
	if q.visit(id) == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case <-q.visits[id]:
	default:
		close(q.visits[id])
	}
}

// asked answers a request of a legacy server, in the background.
func (s inbox) asked(m *jsonrpc.Request, from *exchange) {
	if s.speaks().Era == Modern {
		s.logf("warn", "a request of the server was dropped, because servers of %s send none: %s",
			s.speaks().Version, excerpt([]byte(m.Method)))
		return
	}
	ctx, cancel := context.WithCancelCause(s.ctx)
	if !s.questions.begin(m.ID, cancel) {
		cancel(nil)
		s.logf("warn", "a request of the server was dropped, because %d wait for an answer, or one with its id does: %s",
			maxQuestions, excerpt([]byte(m.Method)))
		return
	}
	tool := s.belongs(m, from)
	started := s.work.start(func() { // ends with the answer, the call, or the session
		defer s.questions.end(m.ID)
		defer cancel(nil)
		if tool != nil {
			defer context.AfterFunc(tool.ctx, func() { cancel(context.Cause(tool.ctx)) })()
		}
		answer := &jsonrpc.Response{ID: m.ID}
		result, err := answerer(s).answer(ctx, m.Method, m.Params, place{tool: tool, number: 1, of: 1})
		if err == nil {
			answer.Result, err = encode(result)
		}
		if err != nil {
			answer.Error = wireError(err)
		}
		sending, stop := context.WithTimeout(s.ctx, notifyTime)
		defer stop()
		if err := s.conn.send(sending, answer, nil); err != nil && s.ctx.Err() == nil {
			s.logf("debug", "an answer to %s was not sent: %v", m.Method, err)
		}
	})
	if !started {
		cancel(nil)
	}
}

// belongs returns the call that a request of the server belongs to; nil for none.
func (s inbox) belongs(m *jsonrpc.Request, from *exchange) *toolCall {
	if from != nil {
		return from.tool
	}
	return s.open.onlyCall()
}

// wireError returns what the server gets for err: never the text of an error that is none of the protocol.
func wireError(err error) error {
	if e := rpcError(err); e != nil {
		return e
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "there is no answer"}
}

// cancelled ends what the server takes back: a question, or a subscription that it ends.
func (s inbox) cancelled(m *jsonrpc.Request) {
	var p struct {
		ID any `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.ID)
	if err != nil || !id.IsValid() {
		return
	}
	s.questions.takenBack(id)
	if e, _ := s.open.find(id); e != nil && e.notified != nil {
		e.settle(nil, errEndedByServer)
	}
}

// place is where a question stands.
type place struct {
	tool       *toolCall
	number, of int
	repeats    bool // the request is sent again with the answer
}

// answerer answers the questions of the server of a session.
type answerer struct{ *Session }

// answer answers one question of the server. The value is the result; the error a *jsonrpc.Error, or that
// of Options.Ask.
func (s answerer) answer(ctx context.Context, method string, params json.RawMessage, at place) (any, error) {
	switch method {
	case "ping":
		return map[string]any{}, nil
	case "roots/list":
		if s.o.Roots != nil {
			roots := s.o.Roots()
			if roots == nil {
				roots = []Root{}
			}
			return map[string]any{"roots": roots}, nil
		}
	case "elicitation/create":
		if s.o.Form || s.o.URL {
			return s.elicit(ctx, params, at)
		}
	case "sampling/createMessage":
		if s.o.Sampling {
			return s.sample(ctx, params, at)
		}
	}
	return nil, &jsonrpc.Error{
		Code: jsonrpc.CodeMethodNotFound, Message: fmt.Sprintf("the client announced nothing that answers %s", method),
	}
}

// put puts a question to the person, one at a time. Nothing within the limit is Cancel.
func (s answerer) put(ctx context.Context, q Question, at place) (Reply, error) {
	q.Number, q.Of = at.number, at.of
	q.Again = at.repeats
	if at.tool != nil {
		q.Call = at.tool.ID
		at.tool.clock.hold()
		defer at.tool.clock.release()
	}
	select {
	case s.questions.turn <- struct{}{}:
		defer func() { <-s.questions.turn }()
	case <-ctx.Done():
		return Reply{}, context.Cause(ctx)
	}
	limited, stop := context.WithTimeout(ctx, s.o.Limits.Answer)
	defer stop()
	r, err := s.o.Ask(limited, q)
	if ctx.Err() != nil {
		return Reply{}, context.Cause(ctx)
	}
	if limited.Err() != nil {
		return Reply{Action: Cancel}, nil
	}
	if err == nil && r.Action != Accept && r.Action != Decline {
		r.Action = Cancel
	}
	return r, err
}

// elicitParams are those of elicitation/create.
type elicitParams struct {
	Mode    string          `json:"mode"`
	Message string          `json:"message"`
	Schema  json.RawMessage `json:"requestedSchema"`
	URL     string          `json:"url"`
	ID      string          `json:"elicitationId"`
}

// elicit asks for values or for a visit.
func (s answerer) elicit(ctx context.Context, params json.RawMessage, at place) (any, error) {
	var p elicitParams
	if err := json.Unmarshal(params, &p); err != nil {
		return nil, badParams("its parameters cannot be read")
	}
	speaks := s.speaks()
	switch {
	case p.Mode == "url" && s.o.URL && speaks.has(urlQuestions):
		r, err := s.askURL(ctx, p, at)
		if err != nil {
			return nil, err
		}
		return map[string]any{"action": r.Action}, nil
	case (p.Mode == "" || p.Mode == "form") && s.o.Form && speaks.has(elicitation):
	default:
		return nil, badParams("the client did not announce this mode")
	}
	fields, err := readForm(p.Schema)
	if err != nil {
		s.logf("warn", "a form of the server was declined: %v", err)
		return map[string]any{"action": Decline}, nil
	}
	r, err := s.put(ctx, Question{Kind: Form, Message: p.Message, Fields: fields}, at)
	if err != nil {
		return nil, err
	}
	result := map[string]any{"action": r.Action}
	if r.Action == Accept {
		result["content"] = filled(fields, r.Values)
	}
	return result, nil
}

func badParams(why string) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: why}
}

func (s answerer) askURL(ctx context.Context, p elicitParams, at place) (Reply, error) {
	u, err := url.Parse(p.URL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		s.logf("warn", "a page of the server was declined: %q is no address on the web", p.URL)
		return Reply{Action: Decline}, nil
	}
	return s.put(ctx, Question{
		Kind: URL, Message: p.Message, Address: p.URL, Finished: s.questions.visit(p.ID),
	}, at)
}

// sample asks for a text of a model.
func (s answerer) sample(ctx context.Context, params json.RawMessage, at place) (any, error) {
	request, err := readSampling(params)
	if err != nil {
		return nil, badParams(err.Error())
	}
	if !s.speaks().has(samplingTools) {
		request.Tools, request.ToolChoice = nil, nil
	}
	r, err := s.put(ctx, Question{Kind: Sampling, Sampling: request}, at)
	if err != nil {
		return nil, err
	}
	if r.Action != Accept || r.Generated == nil {
		return nil, &jsonrpc.Error{Code: codeUserRejected, Message: "User rejected sampling request"}
	}
	return r.Generated.wire(), nil
}

// errTooManyRounds means that a server went on asking.
var errTooManyRounds = fmt.Errorf("the server asked more than %d times", maxRounds)

// rounds sends a request, and sends it again with the answers while the server asks for input.
func (s *Session) rounds(ctx context.Context, q sending, again bool) (json.RawMessage, error) {
	base := q.params
	for round := 0; ; round++ {
		raw, err := s.renewed(ctx, q, again)
		if err != nil {
			return nil, err
		}
		var r struct {
			Type  string          `json:"resultType"`
			Asks  json.RawMessage `json:"inputRequests"`
			State json.RawMessage `json:"requestState"`
		}
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, fmt.Errorf("the answer cannot be read: %w", err)
		}
		if r.Type != "input_required" {
			return raw, nil
		}
		if !s.speaks().has(inputRequests) {
			return nil, errors.New("the server asks in a way that its version does not know")
		}
		if round == maxRounds {
			return nil, errTooManyRounds
		}
		q.params = copyOf(base)
		if r.Asks != nil {
			if q.params["inputResponses"], err = (answerer{s}).answerAll(ctx, r.Asks, q.tool); err != nil {
				return nil, err
			}
		}
		if r.State != nil {
			q.params["requestState"] = r.State // as it came, whatever it is
		}
	}
}

// answerAll answers the input requests of one result, one after the other.
func (s answerer) answerAll(ctx context.Context, asks json.RawMessage, tool *toolCall) (map[string]any, error) {
	type ask struct {
		name   string
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	var all []ask
	for name, raw := range jsonobject.Fields(asks) {
		a := ask{name: name}
		if err := json.Unmarshal(raw, &a); err != nil {
			return nil, fmt.Errorf("a question of the server cannot be read: %w", err)
		}
		all = append(all, a)
	}
	if len(all) > maxQuestions {
		return nil, fmt.Errorf("the server asks %d questions at once, and may ask %d", len(all), maxQuestions)
	}
	answers := map[string]any{}
	for i, a := range all {
		answer, err := s.answer(ctx, a.Method, a.Params, place{tool: tool, number: i + 1, of: len(all), repeats: true})
		if err != nil {
			return nil, err
		}
		answers[a.name] = answer
	}
	return answers, nil
}
