// Package call makes calls of tools, for every caller: the main model, a member of the
// council, a person, a plugin, a program over HTTP.
//
// Every call takes the same steps. It goes on record as asked. Its arguments are
// checked against the tool's schema. Hooks see it and the gate decides, which may ask
// a person. It waits in its plugin's queue, goes on record as running, and is invoked
// under its deadline, which is computed here alone (but for recorded calls, which plugin/library
// makes in a throw-away Conclave). Its result is shaped
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
	"log/slog"
	"strings"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/hook"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"
)

// saveTime bounds how long a save may take once its own context has ended: a busy disk takes some 10 s.
const saveTime = 30 * time.Second

// errSaveTime is the cause of the end of a save's context.
var errSaveTime = errors.New("saving took too long")

// SaveContext returns a context for writes that must not be lost when ctx ends: it ends saveTime later.
// Until ctx ends, a slow disk has all the time it needs. The caller calls the function when the write is
// over.
func SaveContext(ctx context.Context) (context.Context, context.CancelFunc) {
	save, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { // in a goroutine that ends at once
		late := time.AfterFunc(saveTime, func() { cancel(errSaveTime) })
		context.AfterFunc(save, func() { late.Stop() })
	})
	return save, func() {
		stop()
		cancel(nil)
	}
}

// Gate decides whether a call may be made; gate.Gate is the real one.
type Gate interface {
	// Decide decides about one call: allow or deny, never ask. It blocks while a person is asked.
	Decide(ctx context.Context, r gate.Call) gate.Decision
	// Begin returns the decision that holds now that the call is about to run: d, or why the call may not
	// be made any more. It asks nobody. Until ended is called, it calls stop, from any goroutine, once the
	// call may not go on.
	Begin(ctx context.Context, r gate.Call, d gate.Decision, stop func(gate.Decision)) (
		now gate.Decision, ended func(),
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
	// Keep saves the files that a call may change, before it is made, and names them in its record. The
	// function that it returns is called with the record once the call has ended, and writes there what
	// changed. nil saves nothing; so does a nil that it returns. If it fails, the call is not made, since
	// nobody could undo it.
	Keep func(ctx context.Context, r *chat.CallRecord) (ended func(*chat.CallRecord), err error)
	// AtOnce returns how many calls of a plugin may run at once, from 1 to limit.PluginCalls; nil is
	// tool.CallsAtOnce for tools that say nothing. It is asked before each call.
	AtOnce func(plugin string) int
	// Sync returns once all records are on the disk; nil is not waited for.
	Sync func(ctx context.Context) error
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
	if o.AtOnce == nil {
		o.AtOnce = func(string) int { return tool.CallsAtOnce(nil) }
	}
	return &Runner{o: o, lines: map[string]*semaphore.Weighted{}}
}

// TurnEnded ends the rules for one answer at the gate.
func (r *Runner) TurnEnded(turn string) { r.o.Gate.TurnEnded(turn) }

// Turn holds what all calls of one turn share. Its Caller, Turn and Tools are
// required. Turn, its id, groups the calls; a rule for one answer holds for the calls
// with the same id. A single call outside chats is a turn by itself.
type Turn struct {
	hook.TurnInfo
	Tools    *tool.Set        // what can be called; frozen
	Log      Log              // nil is the runner's
	Asker    gate.Asker       // answers where the window would ask; nil leaves it to the window
	Failures *Failures        // counts what fails again and again; nil counts nothing
	OnEvent  func(chat.Event) // gets the events of the calls, from any goroutine; may be nil
	// CallerName is the caller as a person reads it; where it is empty, Caller is shown.
	CallerName string
	// Given describes the part of the chat that the caller gives to tools that get it, see gate.Call.
	Given string
	// Taint returns the origins of untrusted text that the caller got; nil is none.
	Taint func() []chat.Origin
	// Wrote returns the addresses among a call's arguments that the person wrote; nil is
	// none.
	Wrote func(arguments json.RawMessage) []string
	// Ready returns once everything that must be on the disk before a tool runs is there, or why it is
	// not. nil is always ready.
	Ready func() error
}

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
	original  gate.Original   // as the caller asked for it, with the WireName of its tool
	hooks     []hook.Trace    // what hooks did so far
	answer    *tool.Result    // what a hook answered in place of the tool
	ask       []string        // why hooks have a person asked, whatever they allowed before
	stopped   error           // a hook called the turn off

	asked   gate.Call     // as the gate was asked
	allowed gate.Decision // what it said, if that was yes
}

// Stopped returns the fault of a hook that called the turn off at this call, or nil.
func (c *Call) Stopped() error { return c.stopped }

// Record records a call as asked. found is the tool that it names, zero when there is none; at is its
// place in the turn. The error is the log's; then there is no call.
func (r *Runner) Record(ctx context.Context, o *Turn, asked *chat.ToolCall, found tool.Tool,
	at Position,
) (*Call, error) {
	c := &Call{
		Tool: found, runner: r, turn: o, log: cmp.Or(o.Log, r.o.Log), arguments: asked.Arguments,
		Record: chat.CallRecord{
			ID: asked.Sequence, ResponseID: at.Response, Turn: o.Turn, Conversation: o.Conversation, Round: at.Round,
			Index:     at.Index,
			RequestID: asked.ID, Caller: string(o.Caller), CallerName: o.CallerName, ToolName: asked.Tool,
			Arguments: asked.Arguments, RawArguments: asked.Raw, Mended: asked.Mended,
			Status: chat.CallAsked, Timestamp: r.o.Now().UTC(),
		},
	}
	if asked.Raw != "" && found.Convention.Raw {
		c.arguments = wrapped(asked.Raw)
		c.Record.Arguments = c.arguments
	}
	c.original = gate.Original{Tool: cmp.Or(found.WireName, asked.Tool), Arguments: c.arguments}
	if h := asked.Hook; h != nil {
		c.ask = append(c.ask, hookedReason(h))
		if h.Tool != "" {
			c.original = gate.Original{Tool: h.Tool, Arguments: h.Arguments}
		}
	}
	if found.Name != "" {
		c.names(found)
	}
	return c, c.log.PutCall(ctx, &c.Record)
}

// names writes the tool into the record.
func (c *Call) names(found tool.Tool) {
	c.Record.ToolID, c.Record.Plugin, c.Record.Digest = found.ID(), found.Plugin, found.Digest
	c.Record.Instance, c.Record.Code = found.Instance, found.Code
}

// decided writes the gate's decision and its steps into the record.
func (c *Call) decided(d gate.Decision) {
	c.Record.Decision, c.Record.DecidedBy, c.Record.Decider, c.Record.Expired = string(d.Effect), d.Why, d.By, d.Expired
	c.Record.Rule, c.Record.Waited = d.Rule, float64(d.Waited.Microseconds())/1000
	c.Record.Origins, c.Record.Brought, c.Record.Because = d.Origins, d.Brought, c.ask
	c.Record.Path = gate.OnRecord(d.Path)
}

// wrapped makes an object from arguments that are none, for tools whose Convention wants that.
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

// rawArguments returns the text of the arguments as the model wrote it, unless somebody changed them.
func (c *Call) rawArguments() string {
	if c.Record.RawArguments != "" && bytes.Equal(c.Record.Arguments, wrapped(c.Record.RawArguments)) {
		return c.Record.RawArguments
	}
	return string(c.Record.Arguments)
}

// Position is the place in a turn where a call was asked for.
type Position struct {
	Response chat.MessageSeq // the message that asks
	Round    int             // of requests to the model, from 1
	Index    int             // among the calls of the message
}

// Name returns the call's id for the gate and the tool. A paused call that is resumed has the same one.
// Turns of other callers than the main model run at the same time, and their models number their calls
// in the same way.
func (c *Call) Name() string {
	if c.turn.Caller == gate.Main || c.turn.Caller == "" {
		return string(c.turn.Conversation) + "/" + c.Record.RequestID
	}
	return string(c.turn.Conversation) + "/" + c.turn.Turn + "/" + c.Record.RequestID
}

// emit reports an event of the call, with its record as it is now.
func (c *Call) emit(e chat.Event) {
	if c.turn.OnEvent != nil {
		record := c.Record
		e.Call = &record
		c.turn.OnEvent(e)
	}
}

// TurnOf returns the turn in a call's name, and "" for a call of the main model, whose name has none.
func TurnOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	if len(parts) < 3 || uuid.Validate(parts[1]) != nil { // a vendor's id may hold slashes
		return ""
	}
	return parts[1]
}
