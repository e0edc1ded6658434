// Package turn runs one chat turn: it saves what the person said, streams a
// model, has the gate release what the model calls, runs the calls, gives the
// results back, and asks again until the model is done, a limit is met, or the
// person stops it. It writes as it goes, so that a kill loses a quarter of a
// second.
//
// It knows no vendor, process or disk: a [Log] stores messages, and package call makes the calls. Read
// Request and Runner.Run first; rounds.go asks the model until it is done, stream.go is one request,
// batch.go the calls of one answer, history.go the messages that the model gets. The rules are
// contracts/llm-functions, section 8.
package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/chat/document"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"

	"github.com/google/uuid"
)

// Options configure a Runner. Log and Calls are required.
type Options struct {
	Log   Log
	Calls *call.Runner // makes what the model calls
	Slog  *slog.Logger
	Now   func() time.Time
	// Retry bounds how often a request is tried again; the zero value is llm's
	// default.
	Retry model.Policy
	// Points are where hooks look at requests and answers; nil is none.
	Points *hook.Points
	// OnEvent gets every event of a turn in a saved chat, in order; may be nil. It must not block.
	OnEvent func(chat.Event)
	// Price returns u with its cost, where that is known; nil knows nothing. A cost that the provider
	// reported stays.
	Price func(model model.Info, u chat.Usage) chat.Usage
	// Files reads attached files and those of tools. It is asked for the same file in every
	// turn.
	Files document.Reader
	// ToolShare returns the part of a model's context that the definitions of tools may take, in percent;
	// nil is DefaultToolShare.
	ToolShare func(ctx context.Context) int
}

// Runner runs turns. Use New. It is safe for concurrent use. Package conversation
// decides which turn may write in a chat.
type Runner struct {
	o    Options
	most sync.Map // the most tools that requests to a model may define, as int, by the model's name
	// windows holds how many tokens a model reads, as int64, by its name, where it refused a request as too long.
	windows sync.Map
}

// New returns a runner.
func New(o Options) *Runner {
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Price == nil {
		o.Price = func(_ model.Info, u chat.Usage) chat.Usage { return u }
	}
	return &Runner{o: o}
}

// Request is one turn to run.
type Request struct {
	ID           string // of the turn; empty makes one
	Conversation chat.ConversationID

	// Begins is the chat that the message begins, which is written together with it; nil where the chat
	// is in the log. Once the message is written, it is as the log has it.
	Begins *chat.Conversation

	// Text and Attachments hold what the person says. When both are empty the
	// message Parent is answered (again); where it is an answer whose calls have no
	// results (one paused, the program ended), those calls are made first, and only
	// those, in the turn that asked for them.
	Text        string
	Attachments []chat.Part
	// Parent is the message to continue from; nil is the conversation's head.
	Parent *chat.MessageSeq
	// GoOn is an answer that was cut off and that the model goes on with, in a new version of it; 0 is none. It takes
	// no Text, Attachments or Parent, and ID must be that of the answer's turn.
	GoOn chat.MessageSeq

	// Caller is who makes the calls; empty is the main model.
	Caller gate.Caller
	Model  model.Model
	// Tools can be called in the first round, and in all without Newest. nil is none.
	Tools *tool.Set
	// Newest returns the tools of another generation for the rounds that follow, nil for those before. It is
	// not asked in a turn without Tools. Optional.
	Newest func(generation uint64) *tool.Set
	// Explicit says that the person named the tools: a model that cannot call
	// any is then refused before anything is sent.
	Explicit bool
	// ChainLimit is how many requests with tools a turn may make; 0 is no limit.
	ChainLimit int
	Reasoning  string
	// Reserve counts the tokens of the model's context that the caller adds to requests.
	Reserve int64
	// Log replaces the runner's, for a temporary chat; nil is the runner's.
	Log Log
	// Asker answers where the window would ask; nil leaves it to the window.
	Asker gate.Asker

	CallerName string          // as a person reads it, "Ada"; where it is empty, Caller is shown
	Given      string          // what of the chat it gives tools that are handed it, see gate.Call
	Member     json.RawMessage // the council member whose turn it is, as its tools get it
	// Taint returns the origins of untrusted text that is in the requests and not in the chat; nil is
	// none.
	Taint func() []chat.Origin
	// Inline names the owner of a tool by tool.Tool.Member, where several members offer theirs to one
	// model.
	Inline map[string]Inline
}

// Inline is the member for whom the main model calls a tool.
type Inline struct {
	Caller gate.Caller
	Name   string // as a person reads the caller
	Member json.RawMessage
}

// Outcome is the end of a turn.
type Outcome struct {
	Turn    string
	Reason  chat.EndReason
	Seq     chat.MessageSeq // of the last message, 0 when there is none
	Message *chat.Message   // the last assistant message
	Usage   chat.Usage      // of all requests
	// Origins are those of the untrusted text in the requests.
	Origins []chat.Origin
	Err     error // why, when Reason is error: a *fault.Error
}

// run is one turn under way.
type run struct {
	*Runner
	req     Request
	log     Log
	turn    string
	model   string
	can     model.Features
	system  string
	asking  chat.Asking    // of the chat; nothing in the turn of a member, who has their own
	path    []chat.Message // what is visible, grown by the turn
	taken   []chat.Part    // of the answer that it goes on with
	begins  beginning      // where the path is sent from
	names   chatNames
	history history
	scribe  scribe

	callTurn call.Turn // of the calls; complete once the question is known
	failures call.Failures

	outbox outbox

	usage    chat.Usage
	round    int
	notes    notes         // of the message that is written next
	drawings int64         // bytes of the pictures that models drew in this turn
	length   int64         // of what the models said in this turn, toward limit.AnswerText
	hooked   *hooked       // nil before the first request
	trace    []hook.Trace  // what hooks did that no message says yet
	plain    []chat.Origin // of the chat's own texts that are no message's
	known    pathOrigins
	added    []chat.Origin // of what hooks added in this turn
	begun    atomic.Bool   // a message of the answer is in the log
	off      error         // a hook called the turn off at a call or before it
}

// newRun prepares a turn, without touching the log.
func (r *Runner) newRun(req Request, on func(chat.Event)) *run {
	t := &run{
		Runner: r, req: req, log: req.Log, turn: req.ID, outbox: outbox{loose: req.Log != nil},
	}
	if t.log == nil {
		t.log = r.o.Log
	}
	t.scribe.log, t.scribe.conversation, t.scribe.outbox = t.log, req.Conversation, &t.outbox
	t.scribe.saved = func(seq chat.MessageSeq) { t.emit(chat.Event{Kind: chat.EventSaved, Seq: seq}) }
	if t.turn == "" {
		t.turn = uuid.Must(uuid.NewV7()).String()
	}
	t.outbox.pass = func(e chat.Event) {
		if on != nil {
			on(e)
		}
		if r.o.OnEvent != nil && req.Log == nil {
			r.o.OnEvent(e)
		}
	}
	heard := func(e chat.Event) {
		t.notes.hear(e)
		t.emit(e)
	}
	t.callTurn = call.Turn{
		Tools: req.Tools, Log: t.log, Asker: req.Asker, Failures: &t.failures, OnEvent: heard, Ready: t.scribe.wait,
		CallerName: req.CallerName, Given: req.Given, Taint: t.origins, Wrote: t.wrote,
	}
	t.model, t.can = req.Model.Info().Name(), req.Model.Info().Can
	t.history = history{t.model, newFiles(r.o.Files, t.log, t.model, t.can, t.note)}
	return t
}

// Run runs one turn to its end. on gets the events, in order, never after Run
// returned and never twice at once; it must not block for long. The error is for
// a turn that did not begin (nothing was saved, or only the question): a fault of
// kind usage when Explicit tools meet a model without, not_found for an unknown
// conversation, invalid when there is nothing to answer. A turn that began always
// ends with an Outcome, and once it has ended everything about it is on the disk.
func (r *Runner) Run(ctx context.Context, req Request, on func(chat.Event)) (Outcome, error) {
	t := r.newRun(req, on)
	t.outbox.late = func() { t.scribe.flush(ctx) }
	defer t.outbox.close()
	if req.Tools != nil && req.Tools.Len() > 0 && !t.can.Tools {
		if req.Explicit {
			return Outcome{}, fault.New(fault.Usage, "turn.run", "The model "+t.model+" cannot call tools.",
				"Choose another model, or send without tools (--no-tools).")
		}
		t.offerNoTools()
	}
	question, open, err := t.question(ctx)
	if err != nil {
		return Outcome{}, err
	}
	info := hook.TurnInfo{
		Turn: t.turn, Conversation: req.Conversation, Model: t.model, Caller: cmp.Or(req.Caller, gate.Main),
	}
	switch {
	case question.Seq != 0:
		info.Kind = "normal"
	case len(open) > 0:
		info.Kind = "continue"
	default:
		info.Kind = "regenerate"
	}
	t.callTurn.TurnInfo = info
	t.emit(chat.Event{Kind: chat.EventStarted, Answers: info.Kind, Text: req.Text, Attachments: len(req.Attachments)})
	if question.Seq != 0 {
		t.emit(chat.Event{Kind: chat.EventQuestioned, Seq: question.Seq})
		for _, n := range question.Notes {
			t.emit(chat.Event{Kind: chat.EventNoted, Seq: question.Seq, Note: n.Sentence()})
		}
	}
	if req.Tools != nil && t.req.Tools == nil {
		t.note("The model " + cmp.Or(req.Model.Info().Title, t.model) + " cannot call tools, so it is offered none.")
	}
	outcome := t.respond(ctx, open)
	save, cancel := call.SaveContext(ctx)
	defer cancel()
	if err := errors.Join(t.scribe.wait(), t.log.Sync(save)); err != nil {
		r.o.Slog.Error("a turn could not be written to its end", "turn", t.turn, "err", err)
		if outcome.Err == nil {
			outcome.Reason, outcome.Err = chat.EndError, asFault(err)
		}
	}
	outcome.Seq, outcome.Usage, outcome.Origins = t.scribe.answered().Seq, t.usage, t.origins()
	ended := chat.Event{Kind: chat.EventEnded, Reason: outcome.Reason, Seq: outcome.Seq, Message: outcome.Message}
	if outcome.Err != nil {
		ended.Failure = failure(outcome.Err)
	}
	t.outbox.close()
	t.emit(ended)
	return outcome, nil
}

// offerNoTools goes on without tools.
func (t *run) offerNoTools() { t.req.Tools, t.callTurn.Tools = nil, nil }

// respond has the model answer, to the end of the turn. What was allowed for this answer alone ends
// with it, also where it meets a bug.
func (t *run) respond(ctx context.Context, open []*chat.ToolCall) Outcome {
	defer t.o.Calls.TurnEnded(t.turn)
	outcome := t.rounds(ctx, open)
	t.conclude(ctx, outcome.Reason)
	return outcome
}

func (t *run) emit(e chat.Event) {
	e.Turn, e.Conversation, e.Model = t.turn, t.req.Conversation, t.model
	t.outbox.emit(e)
}

// asFault is err in a person's words.
func asFault(err error) error {
	if e, ok := errors.AsType[*model.Error](err); ok {
		return e.Fault()
	}
	return fault.Of(err)
}

func failure(err error) *chat.Failure {
	f := fault.Of(asFault(err))
	return &chat.Failure{Kind: string(f.Kind), Message: f.Message, Hint: f.Hint, Detail: f.Detail}
}

func callsOf(m *chat.Message) []*chat.ToolCall {
	var calls []*chat.ToolCall
	for i := range m.Parts {
		if m.Parts[i].Kind == chat.PartToolCall {
			calls = append(calls, m.Parts[i].Call)
		}
	}
	return calls
}
