package deliberation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/conversation"
	"conclave/app/chat/turn"
	"conclave/app/council"
	"conclave/app/gate"
	"conclave/app/model"
	"conclave/app/tool"
	"conclave/app/tool/call"

	"github.com/google/uuid"
)

// worker does the tasks of one run, many at once.
type worker struct {
	s      *session
	tools  *toolWork
	ledger *ledger
}

// newWorker returns the worker of a run.
func newWorker(s *session, l *ledger) *worker {
	w := &worker{s: s, ledger: l}
	w.tools = &toolWork{
		calls: s.r.o.Calls, now: s.r.o.Now, tools: s.tools, turn: call.Turn{Log: s.callLog(), Asker: s.req.Asker},
		given: w.give,
		gives: s.r.registerGiven,
		taint: s.taintOf,
		answer: func(ctx context.Context, job council.Job, given council.Given, live func(council.Live)) council.Work {
			return w.answer(ctx, job, given, nil, live)
		},
		model: func(ctx context.Context, job council.Job, given council.Given) (*recorded, error) {
			if job.Run.Models[job.Task.Member] == "" {
				return nil, nil // having none is no error
			}
			return w.model(ctx, job, given)
		},
	}
	return w
}

// callLog returns where calls outside of turns are recorded; nil is the runner's log.
func (s *session) callLog() call.Log {
	if s.req.Log == nil {
		return nil
	}
	return s.req.Log
}

// do does a task to its end, and reports every error in the work. When ctx ends, it returns soon with
// Stopped. It calls live from any goroutine to show progress, and never after it returned.
func (w *worker) do(ctx context.Context, job council.Job, live func(council.Live)) council.Work {
	if job.Task.Kind == council.UseTool {
		return w.tools.Do(ctx, job, live)
	}
	if job.Task.Kind == council.Summarize && !council.NeedsSummary(w.s.path) {
		return council.Work{End: council.End{State: council.Done}}
	}
	if job.Run.Alone(job.Task) {
		return skippedWork(council.AloneWhy, "Have the one that failed try again.")
	}
	live(council.Live{Phase: council.Reading})
	given, err := w.give(job)
	if err != nil {
		return errorWork(ctx, job, err)
	}
	if job.Task.Kind == council.Cast {
		return w.vote(ctx, job, given, live)
	}
	return w.answer(ctx, job, given, w.toolsOf(job), live)
}

// who names the member of a task in a sentence.
func who(job council.Job) string {
	return cmp.Or(job.Member().Name, "The helper")
}

// modelOf returns the model of a member. The council's own tasks use the helper, or else the main
// model. It is "" where there is none.
func modelOf(r council.Run, member string) string {
	if member == "" {
		return cmp.Or(r.Council.Helper.Model, r.Models[""])
	}
	return cmp.Or(r.Models[member], r.Council.Helper.Model)
}

// model opens the model of a task with the member's settings.
func (w *worker) model(ctx context.Context, job council.Job, given council.Given) (*recorded, error) {
	m, helper := job.Member(), job.Run.Council.Helper
	name := modelOf(job.Run, m.ID)
	if name == "" {
		return nil, fault.New(fault.Usage, "deliberation.model", who(job)+" has no model.",
			"Choose one for it, or a helper model for the council.")
	}
	opened, err := w.s.r.o.Models.Open(ctx, name)
	if err != nil {
		return nil, err
	}
	r := &recorded{
		Model: opened, job: job, ledger: w.ledger, blocks: given.Blocks, now: w.s.r.o.Now, tools: w.toolsOf(job),
		price:       func(u chat.Usage) chat.Usage { return w.s.r.o.Price(opened.Info(), u) },
		temperature: m.Temperature, topP: m.TopP, maxTokens: m.MaxTokens, most: limit.MemberAnswer,
	}
	if m.Model == "" {
		r.temperature, r.topP = cmp.Or(r.temperature, helper.Temperature), cmp.Or(r.topP, helper.TopP)
		r.maxTokens = cmp.Or(r.maxTokens, helper.MaxTokens)
	}
	return r, nil
}

// answer runs one member's turn without writing to the chat.
func (w *worker) answer(ctx context.Context, job council.Job, given council.Given, tools *tool.Set,
	live func(council.Live),
) council.Work {
	model, err := w.model(ctx, job, given)
	if err != nil {
		return errorWork(ctx, job, err)
	}
	m, id := job.Member(), uuid.Must(uuid.NewV7()).String()
	defer w.s.r.registerGiven(id, job.Run.Conversation, given)()
	seen := &lane{live: live, silent: job.Task.Kind == council.Cast}
	defer seen.end() // also after a panic
	out, err := w.s.r.o.Conversations.RunMember(ctx, conversation.Member{
		Caller: gate.Member(cmp.Or(m.ID, "helper")),
		Given:  &conversation.Given{System: given.System, Path: given.Path},
	}, turn.Request{
		ID: id, Conversation: job.Run.Conversation, Model: model, Tools: tools, ChainLimit: w.s.req.ChainLimit,
		Reasoning: m.Reasoning, Log: w.s.req.Log, Asker: w.s.req.Asker, CallerName: m.Name, Taint: w.s.taintOf(job, given),
		Member: council.MemberContext(m), Given: m.Context.In(job.Run.Council).Sentence(),
	}, seen.hear)
	seen.end()
	work := turnWork(ctx, model, out, err)
	if model.cut && work.End.State == council.Done {
		work = doneWork(chat.TextOf(out.Message.Parts) + "\n\n" + council.AnswerCut)
	}
	work.End.Turn, work.End.Calls, work.End.Used, work.End.Origins = id, seen.calls, seen.used, out.Origins
	work.End.Refused = seen.refused
	model.fill(&work)
	return work
}

// turnWork returns the outcome of a member's turn.
func turnWork(ctx context.Context, model *recorded, out turn.Outcome, err error) council.Work {
	job := model.job
	switch {
	case err != nil:
		return errorWork(ctx, job, err)
	case out.Err != nil:
		return errorWork(ctx, job, out.Err)
	case ctx.Err() != nil || out.Reason == chat.EndStopped:
		return errorWork(ctx, job, context.Canceled)
	}
	text := ""
	if out.Message != nil {
		text = chat.TextOf(out.Message.Parts)
	}
	if strings.TrimSpace(text) == "" {
		return errorWork(ctx, job, model.silent())
	}
	return doneWork(text)
}

// errorWork returns the outcome of a task without a result: it failed, was stopped, or met a cap.
func errorWork(ctx context.Context, job council.Job, err error) council.Work {
	switch name := who(job); {
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errMemberTime):
		most := time.Duration(job.Member().Limits.Seconds) * time.Second
		err = fault.New(fault.Unavailable, "deliberation.member",
			fmt.Sprintf("%s took longer than its limit of %s.", name, fault.Seconds(most)),
			"Give it more seconds, or choose a faster model.")
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errSilent):
		err = fault.New(fault.Unavailable, "deliberation.member",
			fmt.Sprintf("The model of %s did not answer for %s.", name, fault.Seconds(silenceTime)),
			"Check whether its server hangs. To wait longer, give "+name+" a limit of seconds.")
	case ctx.Err() != nil || errors.Is(err, context.Canceled):
		return council.Work{End: council.End{State: council.Stopped}}
	default:
		e, ok := errors.AsType[*model.Error](err)
		if ok {
			err = e.Fault()
		}
		if ok && e.Kind == model.Unreachable {
			f := fault.Of(err)
			err = fault.New(f.Kind, f.Op, name+" could not reach its model.", f.Message+" "+f.Hint)
		}
	}
	failure := failureOf(err)
	if errors.Is(err, errSpent) {
		return council.Work{End: council.End{State: council.Capped, Cap: errors.Is(err, errCap), Failure: failure}}
	}
	if cause := context.Cause(ctx); errors.Is(cause, errMemberTime) || errors.Is(cause, errSilent) {
		failure.Kind = string(chat.CallTimeout)
	}
	return council.Work{End: council.End{State: council.Failed, Failure: failure}}
}

// vote runs one member's vote. Nothing that it says is shown before all have voted. A member whose
// ballot cannot be read is asked once more.
func (w *worker) vote(ctx context.Context, job council.Job, given council.Given, live func(council.Live)) council.Work {
	var before council.Work
	choices := job.Run.Choices(job.Task.Member)
	for try := 1; ; try++ {
		work := w.answer(ctx, job, given, nil, live)
		text := string(work.Texts[work.End.Text])
		delete(work.Texts, work.End.Text)
		work.End.Text, work.End.Bytes = "", 0
		if work.Follow(before); work.End.State != council.Done {
			return work
		}
		_, block := council.Split(text)
		ballot, err := council.ReadBallot(cmp.Or(block, text), choices)
		if err == nil {
			work.End.Ballot = work.Texts.Add(council.EncodeBallot(ballot))
			return work
		}
		if try == 2 {
			work.End.State, work.End.Failure = council.Failed, failureOf(fault.New(fault.Provider, "deliberation.vote",
				fmt.Sprintf("The ballot of %s cannot be read: %v.", who(job), err),
				"Try it again, or choose another model for it."))
			return work
		}
		before = work
		given.Path = append(slices.Clip(given.Path), council.Message(chat.RoleAssistant, text), council.Message(chat.RoleUser,
			fmt.Sprintf("That ballot cannot be counted: %v. Answer with the block of JSON alone.", err)))
	}
}

// lane passes the progress of a member's turn, or of its call, on, and collects the calls. It is safe
// for concurrent use.
type lane struct {
	silent bool // its words are not shown

	mu      sync.Mutex // guards the fields below
	live    func(council.Live)
	phase   council.Phase
	trailer council.Trailer
	calls   []uint64 // ids of the records of finished calls
	refused int      // of those calls
	used    []string // tools that answered
	brought []chat.Origin
}

// do runs a function, unless the progress has ended, while nothing else uses the lane.
func (l *lane) do(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.live != nil {
		what()
	}
}

// hear takes an event of the turn.
func (l *lane) hear(e chat.Event) { l.do(func() { l.take(e) }) }

func (l *lane) take(e chat.Event) {
	switch e.Kind {
	case chat.EventWaiting:
		l.show(council.Live{Phase: council.Reading})
	case chat.EventRetrying: // the time of its silence starts again
		l.live(council.Live{Phase: l.phase, Note: e.Note})
	case chat.EventNoted:
		l.live(council.Live{Note: e.Note})
	case chat.EventReasoning:
		l.show(council.Live{Phase: council.Thinking})
	case chat.EventText:
		if l.silent {
			e.Text = ""
		}
		l.show(council.Live{Phase: council.Writing, Text: l.trailer.Write(e.Text)})
	case chat.EventAsked, chat.EventHeld, chat.EventRunning, chat.EventAnswered:
		if e.Kind == chat.EventAnswered {
			l.calls, l.brought = append(l.calls, e.Call.ID), chat.AddOrigins(l.brought, e.Call.Brought...)
			if e.Call.Status == chat.CallRefused {
				l.refused++
			}
			if e.Call.Status == chat.CallOK && !slices.Contains(l.used, e.Call.ToolID) {
				l.used = append(l.used, e.Call.ToolID)
			}
		}
		l.show(council.Live{Phase: council.Using, Call: e.Call, Request: e.Request})
	case chat.EventProgress:
		l.show(council.Live{Phase: council.Using, Call: e.Call, Note: e.Note})
	}
}

// show passes on what is new.
func (l *lane) show(v council.Live) {
	if v.Phase == l.phase && v.Text == "" && v.Call == nil && v.Note == "" {
		return
	}
	l.phase = v.Phase
	l.live(v)
}

// end ends the progress.
func (l *lane) end() {
	l.do(func() {
		if more, _ := l.trailer.End(); more != "" {
			l.live(council.Live{Phase: council.Writing, Text: more})
		}
		l.live = nil
	})
}
