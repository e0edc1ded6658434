// Package call makes calls of tools, for every caller: the main model, a member of the
// council, a person, a plugin, a program over HTTP.
//
// Every call takes the same steps. It goes on record as asked. Its arguments are
// checked against the tool's schema. Hooks see it and the gate decides, which may ask
// a person. It waits in its plugin's queue, goes on record as running, and is invoked
// under its deadline, which is computed here and nowhere else. Its result is shaped
// for the model, counted if it failed like the calls before it, and recorded.
//
// Read [Runner.Do] first, which takes all steps; a turn takes them one by one, since
// it has several calls under way. The rules are contracts/llm-functions, section 8.
package call

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/hook"
	"conclave/app/permit"
	"conclave/app/tool"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"
)

// perPlugin is how many calls of one plugin run at once
// (contracts/llm-functions, section 8.3).
const perPlugin = 4

// grace is how long after a call's deadline its invoker may take to say so
// itself, which it can say better, before its context ends.
const grace = time.Second

// saveTime bounds how long writing what was said and done may take once its own
// context has ended.
const saveTime = 5 * time.Second

// SaveContext returns a context for writes that must not be lost although ctx has
// ended. It ends saveTime from now.
func SaveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.WithoutCancel(ctx), saveTime, errors.New("saving took too long"))
}

// errTimeout is the cause of a call's context that ended at its deadline.
var errTimeout = errors.New("the call took too long")

// stopped tells the model why a call has no result whose context ended.
const stopped = "the person stopped the answer"

// Gate decides whether a call may be made; permit.Gate is the real one.
type Gate interface {
	// Decide returns what was decided about one call: allow or deny, never ask. It
	// blocks while a person is asked.
	Decide(ctx context.Context, r permit.Call) permit.Decision
	// Begin returns what was decided about a call, as it stands once the call could wait no
	// longer: d, or why it may not be made any more. It asks nobody. Until ended is called, stop
	// is, from any goroutine, once the call may not go on.
	Begin(ctx context.Context, r permit.Call, d permit.Decision, stop func(permit.Decision)) (
		now permit.Decision, ended func(),
	)
	// TurnEnded ends what was allowed for this answer only.
	TurnEnded(turn string)
}

// Log records calls; store is the real one. Its methods are safe for concurrent use.
// Errors are *fault.Error.
type Log interface {
	// PutCall writes a call record. A record without ID gets one, at once; the
	// write itself is batched and reaches the disk by the log's next Sync or within
	// 250 ms.
	PutCall(ctx context.Context, r *chat.CallRecord) error
	// PutMedia stores the bytes in m.Data by their content and fills m.ID and
	// m.Size.
	PutMedia(ctx context.Context, m *chat.Media) error
}

// Options configure a Runner. Gate and Log are required.
type Options struct {
	Gate Gate
	Log  Log // of calls whose Turn names none
	// Points are where hooks look at calls; nil is none.
	Points *hook.Points
	Slog   *slog.Logger // nil discards
	Now    func() time.Time
	// Sent returns what was sent for a call that has ended, by its name; nil is nothing.
	Sent func(call string) []chat.Sending
	// Keep keeps the files that a call may change, before it is made, and names them in its
	// record. What it returns is called once the call has ended, with the record, and puts
	// there what changed. nil keeps nothing; so does a nil that it returns.
	Keep func(ctx context.Context, r *chat.CallRecord) (ended func(*chat.CallRecord))
}

// Runner makes calls. Use New. It is safe for concurrent use.
type Runner struct {
	o Options

	mu    sync.Mutex                     // guards lines
	lines map[string]*semaphore.Weighted // by plugin: how many of its calls run at once
}

// New returns a runner.
func New(o Options) *Runner {
	if o.Slog == nil {
		o.Slog = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Runner{o: o, lines: map[string]*semaphore.Weighted{}}
}

// TurnEnded tells the gate that a turn ended, and with it the rules for one answer.
func (r *Runner) TurnEnded(turn string) { r.o.Gate.TurnEnded(turn) }

// Turn holds what all calls of one turn share. Its Caller, Turn and Tools are
// required. Turn, its id, groups the calls; a rule for one answer holds for the calls
// with the same id. A single call outside of chats is a turn of its own.
type Turn struct {
	hook.TurnInfo
	Tools    *tool.Set    // what can be called; frozen
	Log      Log          // nil is the runner's
	Asker    permit.Asker // answers where the window would ask; nil leaves it to the window
	Failures *Failures    // counts what fails again and again; nil counts nothing
	OnEvent  func(Event)  // gets the events, from any goroutine; may be nil
	// CallerName is the caller as a person reads it; empty is what Caller says.
	CallerName string
	// Taint returns where text came from that the caller was told of and that others wrote;
	// nil is none.
	Taint func() []chat.Origin
	// Wrote returns the addresses among a call's arguments that the person wrote; nil is
	// none.
	Wrote func(arguments json.RawMessage) []string
	// Ready returns once what must be on the disk before a tool runs is there, or why
	// it is not. nil is always ready.
	Ready func() error
}

// Event reports one step of a call. It does not change after it was sent.
type Event struct {
	Kind     EventKind
	Record   chat.CallRecord
	Request  string           // Held: the gate's
	Decision *permit.Decision // Decided
	Note     string           // Noted, Progress
	Result   *chat.ToolResult // Answered
}

// EventKind says which step an Event reports.
type EventKind string

// The kinds of events, in the order in which they come. Noted, Held and Progress may
// be missing, and Noted comes after Running too.
const (
	Noted            EventKind = "noted"    // a hook did something: Note
	AwaitingApproval EventKind = "held"     // a person is asked: Request
	Decided          EventKind = "decided"  // by the gate: Decision
	Running          EventKind = "running"  // it is on record as running
	Progress         EventKind = "progress" // the tool says how far it is: Note
	Answered         EventKind = "answered" // it ended, well or not: Result
)

// Call is one call on its way through the steps Check, Decide, Invoke and Finish. It
// is not safe for concurrent use.
type Call struct {
	Tool    tool.Tool       // zero when there is no such tool
	Record  chat.CallRecord // as it stands
	Result  chat.ToolResult // once it ended
	EndTurn bool            // its tool wants no further request to the model
	Handled bool            // nor is one needed, if that is so of all calls of the message

	runner    *Runner
	turn      *Turn
	log       Log
	arguments json.RawMessage // as they were asked for, or as hooks left them; a person may have changed the record's
	original  permit.Original // as the caller asked for it, with the WireName of its tool
	hooks     []hook.Trace    // what hooks did so far
	answer    *tool.Result    // what a hook answered in place of the tool
	ask       []string        // why hooks have a person asked, whatever they allowed before
	stopped   error           // a hook called the turn off

	asked   permit.Call     // as the gate was asked
	allowed permit.Decision // what it said, if that was yes
}

// Stopped returns the fault of a hook that called the turn off at this call, or nil.
func (c *Call) Stopped() error { return c.stopped }

// Record puts a call on record as asked. found is the tool it names, zero when there
// is none; at says where in the turn it was asked for. The error is the log's; then
// there is no call.
func (r *Runner) Record(ctx context.Context, o *Turn, asked *chat.ToolCall, found tool.Tool,
	at Position,
) (*Call, error) {
	c := &Call{
		Tool: found, runner: r, turn: o, log: cmp.Or(o.Log, r.o.Log), arguments: asked.Arguments,
		Record: chat.CallRecord{
			ID: asked.Sequence, ResponseID: at.Response, Turn: o.Turn, Conversation: o.Conversation, Round: at.Round,
			Index:     at.Index,
			RequestID: asked.ID, Caller: string(o.Caller), CallerName: o.CallerName, ToolName: asked.Tool,
			Arguments: asked.Arguments, RawArguments: asked.Raw, Status: chat.CallAsked, Timestamp: r.o.Now().UTC(),
		},
	}
	if asked.Raw != "" && found.Convention.Raw {
		c.arguments = wrapped(asked.Raw)
		c.Record.Arguments = c.arguments
	}
	c.original = permit.Original{Tool: cmp.Or(found.WireName, asked.Tool), Arguments: c.arguments}
	if h := asked.Hook; h != nil {
		c.ask = append(c.ask, hookedReason(h))
		if h.Tool != "" {
			c.original = permit.Original{Tool: h.Tool, Arguments: h.Arguments}
		}
	}
	if found.Name != "" {
		c.names(found)
	}
	return c, c.log.PutCall(ctx, &c.Record)
}

// names puts the tool that is called on record.
func (c *Call) names(found tool.Tool) {
	c.Record.ToolID, c.Record.Plugin, c.Record.Digest = found.ID(), found.Plugin, found.Digest
	c.Record.Instance, c.Record.Code = found.Instance, found.Code
}

// decided puts on record what the gate decided, and by which steps.
func (c *Call) decided(d permit.Decision) {
	c.Record.Decision, c.Record.DecidedBy, c.Record.Decider, c.Record.Expired = string(d.Effect), d.Why, d.By, d.Expired
	c.Record.Rule, c.Record.Waited = d.Rule, float64(d.Waited.Microseconds())/1000
	c.Record.Origins, c.Record.Brought, c.Record.Because = d.Origins, d.Brought, c.ask
	c.Record.Path = permit.OnRecord(d.Path)
}

// wrapped makes an object of arguments that are none, for tools whose Convention wants
// them so.
func wrapped(text string) json.RawMessage {
	key, value := "_raw", json.RawMessage(nil)
	if json.Valid([]byte(text)) {
		key, value = "value", json.RawMessage(text)
	} else {
		value, _ = json.Marshal(text) // a text can be written
	}
	object, err := json.Marshal(map[string]json.RawMessage{key: value})
	if err != nil {
		return json.RawMessage("{}")
	}
	return object
}

// rawArguments is the text of the arguments as the model wrote it, unless somebody changed
// them since.
func (c *Call) rawArguments() string {
	if c.Record.RawArguments != "" && bytes.Equal(c.Record.Arguments, wrapped(c.Record.RawArguments)) {
		return c.Record.RawArguments
	}
	return string(c.Record.Arguments)
}

// Position says where in a turn a call was asked for.
type Position struct {
	Response chat.MessageSeq // the message that asks
	Round    int             // of requests to the model, from 1
	Index    int             // among the calls of the message
}

// Name returns the call's id for the gate and the tool. A paused call that is resumed
// keeps it. Turns beside the one of the main model run at the same time, and their models
// number their calls alike.
func (c *Call) Name() string {
	if c.turn.Caller == permit.Main || c.turn.Caller == "" {
		return string(c.turn.Conversation) + "/" + c.Record.RequestID
	}
	return string(c.turn.Conversation) + "/" + c.turn.Turn + "/" + c.Record.RequestID
}

func (c *Call) emit(e Event) {
	if c.turn.OnEvent != nil {
		e.Record = c.Record
		c.turn.OnEvent(e)
	}
}

// TurnOf returns the turn that a call's name says it is of, and "" for one of the main
// model, whose name does not say.
func TurnOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 || uuid.Validate(parts[1]) != nil { // a vendor's id may hold slashes
		return ""
	}
	return parts[1]
}

// Check returns the result of a call that cannot be made, because there is no such
// tool or its arguments do not fit; nil for one that can.
func (c *Call) Check() *tool.Result {
	switch {
	case c.Tool.Name == "":
		return &tool.Result{Status: chat.CallUnknown, Error: unknownTool(c.Record.ToolName, c.turn.Tools)}
	case c.Record.RawArguments != "" && !c.Tool.Convention.Raw:
		return c.badArguments(notObject(c.Record.RawArguments))
	}
	return c.checkArguments(c.arguments)
}

// checkArguments returns the result of a call whose arguments do not fit its schema, or nil.
func (c *Call) checkArguments(arguments json.RawMessage) *tool.Result {
	warning, err := c.Tool.CheckArguments(arguments)
	if warning != "" {
		c.runner.o.Slog.Debug("a tool's arguments could not be checked", "tool", c.Tool.ID(), "err", warning)
	}
	if err != nil {
		return c.badArguments(err)
	}
	return nil
}

func (c *Call) badArguments(err error) *tool.Result {
	return &tool.Result{
		Status: chat.CallBadArguments, Error: "arguments do not fit " + c.Record.ToolName + ":\n" + err.Error(),
	}
}

// Decide runs the hooks before the call and asks the gate. It returns the result of a
// call that one of them denied or answered wrongly, nil for one that may be made.
// held, when not nil, is called before the gate waits for a person.
func (c *Call) Decide(ctx context.Context, held func()) *tool.Result {
	if refused := c.beforeTool(ctx, held); refused != nil || c.answer != nil && c.Record.Decision != "" {
		return refused
	}
	asking := askingOf(ctx)
	asked := permit.Call{
		ID: c.Name(), Caller: c.turn.Caller, CallerName: c.turn.CallerName, Tool: c.Tool, Arguments: c.arguments,
		Conversation: c.turn.Conversation, Turn: c.turn.Turn, Taint: c.taint(), Asker: c.turn.Asker,
		Because: c.ask, Original: c.changed(), OnWait: c.waits(asking, held),
	}
	if c.turn.Wrote != nil {
		asked.Wrote = c.turn.Wrote(c.arguments)
	}
	d := c.runner.o.Gate.Decide(ctx, asked)
	asking.over()
	if d.Effect != permit.Allow && ctx.Err() != nil {
		return &tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	c.decided(d)
	if d.Effect == permit.Allow && d.Edited {
		c.Record.Arguments = d.Arguments // by the person
	}
	c.emit(Event{Kind: Decided, Decision: &d})
	if d.Effect != permit.Allow {
		return &tool.Result{Status: chat.CallRefused, Error: cmp.Or(d.Reason, d.Why, "it was not allowed")}
	}
	c.asked, c.allowed = asked, d
	if d.Edited {
		c.asked.Arguments = d.Arguments
		return c.checkArguments(d.Arguments)
	}
	return nil
}

// told returns what its tool is handed of what the caller was told: nothing where the gate let
// the call pass since its arguments say nothing.
func (c *Call) told(context []tool.ContextMessage) []tool.ContextMessage {
	if c.allowed.Alone && context != nil {
		return []tool.ContextMessage{}
	}
	return context
}

// takenBack is the cause of a call's context that ended because the person paused the tools or
// took back what allowed the call, with the refusal that took its place.
type takenBack permit.Decision

// Error implements error; the model is told so.
func (t takenBack) Error() string {
	return "it was stopped while it ran: " + t.Reason + ". What it did until then stays."
}

// begin begins a call that was allowed, which ends with cancel once it may not go on; ended is to
// be called when it is over. The result is that of one that may not be made any more, since the
// person paused the tools or took a permission back while it waited; nil for one that may.
func (c *Call) begin(ctx context.Context, cancel context.CancelCauseFunc) (refused *tool.Result, ended func()) {
	if c.allowed.Effect != permit.Allow || c.answer != nil {
		return nil, func() {}
	}
	d, ended := c.runner.o.Gate.Begin(ctx, c.asked, c.allowed, func(no permit.Decision) { cancel(takenBack(no)) })
	if d.Effect == permit.Allow {
		return nil, ended
	}
	c.decided(d)
	c.emit(Event{Kind: Decided, Decision: &d})
	return &tool.Result{Status: chat.CallRefused, Error: cmp.Or(d.Reason, d.Why)}, ended
}

// taint returns where the text came from that the call could carry on: what its caller was
// told of, and what hooks made of the call.
func (c *Call) taint() []chat.Origin {
	var all []chat.Origin
	if c.turn.Taint != nil {
		all = c.turn.Taint()
	}
	return chat.AddOrigins(all, hook.Origins(c.hooks)...)
}

// waits reports that a person is asked about the call.
func (c *Call) waits(asking *asking, held func()) func(id string) {
	return func(id string) {
		asking.begin()
		c.emit(Event{Kind: AwaitingApproval, Request: id})
		if held != nil {
			held()
		}
	}
}

// Extra holds what a tool gets with a call in addition to the arguments. The zero
// value adds nothing.
type Extra struct {
	Member  json.RawMessage       // the council member's context object
	Context []tool.ContextMessage // what the caller was told
	// Handed hears, as the tool is called, what of Context it is handed.
	Handed  func([]tool.ContextMessage)
	Timeout time.Duration // 0 is the tool's own
}

// Invoke makes a call that the gate allowed. It waits in the plugin's queue, puts the
// call on record as running, and calls the tool under its deadline. Everything that
// can go wrong is a result.
func (c *Call) Invoke(ctx context.Context, extra Extra) tool.Result {
	invoker, ok := c.turn.Tools.Invoker(c.Tool.ID())
	if !ok {
		return tool.Result{Status: chat.CallDied, Error: "the plugin " + c.Tool.Plugin + " is gone"}
	}
	weight := int64(1)
	if c.Tool.Serial {
		weight = perPlugin
	}
	line := c.runner.line(c.Tool.Plugin)
	if line.Acquire(ctx, weight) != nil {
		return tool.Result{Status: chat.CallCancelled, Error: stopped}
	}
	defer line.Release(weight)
	limited, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	refused, ended := c.begin(ctx, cancel)
	defer ended()
	if refused != nil {
		return *refused
	}
	if c.runner.o.Keep != nil && c.answer == nil {
		if ended := c.runner.o.Keep(ctx, &c.Record); ended != nil {
			defer func() { ended(&c.Record) }()
		}
	}
	if refused := c.markRunning(ctx); refused != nil {
		return *refused
	}
	if c.answer != nil {
		return *c.answer
	}

	timeout := cmp.Or(extra.Timeout, c.Tool.TimeLimit())
	limit := time.AfterFunc(timeout+grace, func() { cancel(errTimeout) })
	defer limit.Stop()
	deadline, asking := c.runner.o.Now().Add(timeout), askingOf(ctx)
	defer asking.over()
	if c.runner.o.Sent != nil {
		defer func() { c.Record.Sent = append(c.Record.Sent, c.runner.o.Sent(c.Name())...) }()
	}
	limited = permit.WithBehalf(limited, permit.Call{
		ID: c.Name(), Caller: c.turn.Caller, CallerName: c.turn.CallerName, Tool: c.Tool,
		Conversation: c.turn.Conversation, Turn: c.turn.Turn, Asker: c.turn.Asker, Taint: c.taint(),
		Rule: c.Record.Rule, Capabilities: c.allowed.Capabilities,
	})
	told := c.told(extra.Context)
	if extra.Handed != nil {
		extra.Handed(told)
	}
	result := c.runner.invoke(limited, invoker, tool.Call{
		ID: c.Name(), Tool: c.Tool, Arguments: c.Record.Arguments, RawArguments: c.rawArguments(),
		Conversation: c.turn.Conversation,
		Deadline:     deadline, CouncilMember: extra.Member, ContextMessages: told,
		Progress: func(note string) {
			note, _ = tool.Strip(note)
			c.emit(Event{Kind: Progress, Note: note})
		},
		Moved: func(to time.Time) { // out when a person is asked, and back when they answered
			limit.Reset(time.Until(to) + grace)
			if to.After(deadline) {
				asking.begin()
			} else {
				asking.over()
			}
			deadline = to
		},
	})
	result = c.ended(ctx, limited, result)
	if result.CallsOff != "" {
		by := hook.Owner{ID: c.Tool.Plugin, Title: c.Tool.Plugin}
		return *c.calledOff(ctx, hook.CallOff(by, result.Error, result.CallsOff == tool.TakesItBack))
	}
	switch {
	case result.Status == chat.CallTimeout && result.Error == "":
		result.Error = TookLonger(c.Record.ToolName, timeout)
	case result.Status == chat.CallCancelled && ctx.Err() != nil:
		result.Error = stopped
	}
	return c.afterTool(ctx, result)
}

// TookLonger says of what was stopped by its deadline that it was.
func TookLonger(what string, than time.Duration) string {
	return fmt.Sprintf("%s took longer than %s and was stopped", what, fault.Seconds(than))
}

// ended returns the result of a call that was stopped, by its deadline or the person, as one of
// these.
func (c *Call) ended(ctx, limited context.Context, r tool.Result) tool.Result {
	var taken takenBack
	switch {
	case r.Status != chat.CallCancelled || ctx.Err() != nil:
	case errors.Is(context.Cause(limited), errTimeout):
		return tool.Result{Status: chat.CallTimeout, Printed: r.Printed}
	case errors.As(context.Cause(limited), &taken):
		r.Error = taken.Error()
		c.Record.Stopped = taken.Why
	}
	return r
}

// markRunning puts the call on record as running: a kill while it runs must not lose that
// it was asked for. The result is that of a call that is not made for want of that.
func (c *Call) markRunning(ctx context.Context) *tool.Result {
	var err error
	if c.turn.Ready != nil {
		err = c.turn.Ready()
	}
	if err == nil {
		c.Record.Status, c.Record.Started = chat.CallRunning, c.runner.o.Now().UTC()
		err = c.log.PutCall(ctx, &c.Record)
		if err != nil && ctx.Err() != nil {
			return &tool.Result{Status: chat.CallCancelled, Error: stopped}
		}
	}
	if err != nil {
		return &tool.Result{
			Status: chat.CallDied,
			Error:  "the call could not be put on record, so it was not made: " + fault.Of(err).Message,
		}
	}
	c.emit(Event{Kind: Running})
	return nil
}

// line is a plugin's line: perPlugin calls at once, or one serial one, wherever they
// come from.
func (r *Runner) line(plugin string) *semaphore.Weighted {
	r.mu.Lock()
	defer r.mu.Unlock()
	line := r.lines[plugin]
	if line == nil {
		line = semaphore.NewWeighted(perPlugin)
		r.lines[plugin] = line
	}
	return line
}

// invoke calls the tool; what goes wrong with Conclave itself is a result too, so
// that a turn goes on.
func (r *Runner) invoke(ctx context.Context, invoker tool.Invoker, call tool.Call) (result tool.Result) {
	defer func() {
		if p := recover(); p != nil { // an invoker's bug must not end the program
			r.o.Slog.Error("a tool's invoker panicked", "tool", call.Tool.ID(), "err", p)
			result = tool.Result{Status: chat.CallDied, Error: "the call failed inside Conclave"}
		}
	}()
	result, err := invoker.Call(ctx, call)
	if err != nil {
		if ctx.Err() != nil {
			return tool.Result{Status: chat.CallCancelled}
		}
		r.o.Slog.Error("a tool could not be called", "tool", call.Tool.ID(), "err", err)
		return tool.Result{Status: chat.CallDied, Error: fault.Of(err).Message}
	}
	if result.Status == "" {
		result.Status = chat.CallOK
	}
	return result
}

// brought returns where what the call returned came from, now that it is known whether its
// plugin was given text of others and to which hosts it sent.
func (c *Call) brought(outside bool) []chat.Origin {
	all, returned := c.Record.Brought, c.allowed.Returned
	switch {
	case returned == (chat.Origin{}):
		return all
	case len(all) > 0 && !slices.Contains(all, returned): // its arguments name hosts
		named, reached := all, false
		for _, to := range c.Record.Sent {
			host := chat.NewOrigin(chat.FromWeb, to.Host)
			reached = reached || slices.Contains(named, host)
			all = chat.AddOrigins(all, host)
		}
		outside = outside || !reached
	}
	if outside {
		all = chat.AddOrigins(all, returned)
	}
	return all
}

// Finish shapes the result for the model and records it, even when ctx has ended.
func (c *Call) Finish(ctx context.Context, r tool.Result) {
	save, cancel := SaveContext(ctx)
	defer cancel()
	r.Content = storeMedia(save, c.log, r.Content)
	c.EndTurn, c.Handled = r.EndTurn && r.Status == chat.CallOK, r.Handled
	for _, note := range r.Notes {
		c.emit(Event{Kind: Noted, Note: note})
	}
	c.Result = c.shape(r)
	if c.turn.Failures != nil {
		c.turn.Failures.count(c)
	}
	if r.Status != chat.CallPaused {
		c.Record.Ended = c.runner.o.Now().UTC()
		if !c.Record.Started.IsZero() {
			c.Record.MS = float64(c.Record.Ended.Sub(c.Record.Started).Microseconds()) / 1000
		}
	}
	c.Record.Brought = chat.AddOrigins(c.brought(r.Outside), r.Shared...)
	if r.Status == chat.CallOK && onlyConfirms(r.Content) {
		c.Record.Brought = nil
	}
	c.Record.Brought = chat.AddOrigins(c.Record.Brought, hook.Origins(c.hooks)...)
	c.Record.Hooks = c.runner.o.Points.Steps(save, c.hooks)
	if err := c.log.PutCall(save, &c.Record); err != nil {
		c.runner.o.Slog.Error("the end of a call could not be recorded", "tool", c.Record.ToolID, "err", err)
	}
	result := c.Result
	c.emit(Event{Kind: Answered, Result: &result})
}
