package picoclaw

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool/hook"
)

// kinds are the events of hooks by their dotted names, with the name and the number of older releases
// (contracts/picoclaw-hooks, section 8). Conclave sends eleven of them.
var kinds = map[string]struct {
	legacy string
	number int
}{
	"agent.turn.start":               {"turn_start", 0},
	"agent.turn.end":                 {"turn_end", 1},
	"agent.llm.request":              {"llm_request", 2},
	"agent.llm.delta":                {"llm_delta", 3},
	"agent.llm.response":             {"llm_response", 4},
	"agent.llm.retry":                {"llm_retry", 5},
	"agent.context.compress":         {"context_compress", 6},
	"agent.session.summarize":        {"session_summarize", 7},
	"agent.tool.exec_start":          {"tool_exec_start", 8},
	"agent.tool.exec_end":            {"tool_exec_end", 9},
	"agent.tool.exec_skipped":        {"tool_exec_skipped", 10},
	"agent.steering.injected":        {"steering_injected", 11},
	"agent.follow_up.queued":         {"follow_up_queued", 12},
	"agent.interrupt.received":       {"interrupt_received", 13},
	"agent.subturn.spawn":            {"subturn_spawn", 14},
	"agent.subturn.end":              {"subturn_end", 15},
	"agent.subturn.result_delivered": {"subturn_result_delivered", 16},
	"agent.subturn.orphan":           {"subturn_orphan", 17},
	"agent.error":                    {"error", 18},
}

// The kinds that are treated otherwise than the rest.
const (
	turnStart   = "agent.turn.start"
	llmDelta    = "agent.llm.delta"
	failedEvent = "agent.error"
)

// everything are the names that stand for all kinds but deltas.
var everything = []string{"", "*", "all"}

// foreign are the families of kinds that are taken and never come.
var foreign = []string{"channel.", "bus.", "gateway.", "mcp."}

// observable reports whether observe may name kind.
func observable(kind string) bool {
	if slices.Contains(everything, kind) {
		return true
	}
	for _, family := range foreign {
		if kind != family && strings.HasPrefix(kind, family) {
			return true
		}
	}
	for dotted, k := range kinds {
		if kind == dotted || kind == k.legacy {
			return true
		}
	}
	return false
}

// maxEvents bounds the events that wait for observers; newer ones are dropped
// (contracts/picoclaw-hooks, section 8.2).
const maxEvents = 64

// Observer sends hooks the events of turns. Use [Dialect.Observer], and Close. Take
// does not wait for anybody; one goroutine sends, and ends with Close.
type Observer struct {
	lender Lender
	now    func() time.Time

	ctx    context.Context //nolint:containedctx // of starting hooks that get events; ends with Close
	cancel context.CancelFunc
	queue  chan queued
	over   chan struct{}

	mu     sync.Mutex // guards the fields below
	number uint64
	turns  map[string]*watched
	spoken map[string]*client // that got something since the last Flush, by the ids of their hooks
}

// queued is one event on its way.
type queued struct {
	kind    string
	at      time.Time
	turn    chat.Event
	info    hook.TurnInfo
	payload map[string]any
	flushed chan struct{} // closed instead of being sent
}

// watched holds what is known of a turn under way.
type watched struct {
	began  time.Time
	info   hook.TurnInfo
	said   string // what the person says
	rounds int
	text   int            // of this round
	reason bool           // the model thought in this round
	shown  map[uint64]int // what the person is shown of a call, by its id
	used   []map[string]any
}

// Observer returns an Observer for the hook processes that lender has.
func (d *Dialect) Observer(lender Lender) *Observer {
	o := &Observer{
		lender: lender, now: time.Now, queue: make(chan queued, maxEvents), over: make(chan struct{}),
		turns: map[string]*watched{}, spoken: map[string]*client{},
	}
	o.ctx, o.cancel = context.WithCancel(context.Background()) // its own: Close ends it
	go o.run()
	return o
}

// Close ends the telling. What waits is dropped.
func (o *Observer) Close() {
	o.cancel()
	<-o.over
}

// Flush waits until what happened before was written to the hooks that hear of it, or for ctx's end; for
// hooks that do not read, flushTime in all.
func (o *Observer) Flush(ctx context.Context) {
	done := make(chan struct{})
	select {
	case o.queue <- queued{flushed: done}:
	case <-ctx.Done():
		return
	case <-o.over:
		return
	}
	select {
	case <-done:
	case <-ctx.Done():
		return
	case <-o.over:
		return
	}
	o.mu.Lock()
	spoken := o.spoken
	o.spoken = map[string]*client{}
	o.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, flushTime)
	defer cancel()
	for _, c := range spoken {
		c.written(ctx)
	}
}

// flushTime bounds how long Flush waits for all hooks together to read what they were sent.
const flushTime = 500 * time.Millisecond

// Take takes one event of a turn. It does not wait.
func (o *Observer) Take(e chat.Event) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := o.turns[e.Turn]
	switch {
	case w == nil && e.Kind != chat.EventStarted:
		return
	case w == nil:
		w = &watched{
			began: o.now(), said: e.Text, shown: map[uint64]int{},
			info: hook.TurnInfo{Turn: e.Turn, Conversation: e.Conversation, Model: e.Model},
		}
		if len(o.turns) >= maxTurns {
			clear(o.turns)
		}
		o.turns[e.Turn] = w
	}
	say := func(kind string, payload map[string]any) {
		if kind == llmDelta && len(o.queue) >= maxEvents/2 {
			return // so that pieces of an answer, while hooks load, leave room for its end
		}
		select {
		case o.queue <- queued{kind: kind, at: o.now(), turn: e, info: w.info, payload: payload}:
		default: // too much waits
		}
	}
	switch e.Kind {
	case chat.EventStarted:
		say(turnStart, map[string]any{"UserMessage": e.Text, "MediaCount": e.Attachments})
	case chat.EventWaiting:
		w.rounds, w.text, w.reason = w.rounds+1, 0, false
		w.info.Round = w.rounds
		say("agent.llm.request", asked(e))
	case chat.EventRetrying:
		say("agent.llm.retry", retried(e))
	case chat.EventText, chat.EventReasoning:
		length, thought := len(e.Text), 0
		if e.Kind == chat.EventReasoning {
			length, thought, w.reason = 0, len(e.Text), true
		}
		w.text += length
		say(llmDelta, map[string]any{"ContentDeltaLen": length, "ReasoningDeltaLen": thought})
	case chat.EventReplied:
		say("agent.llm.response", map[string]any{"ContentLen": w.text, "ToolCalls": e.Calls, "HasReasoning": w.reason})
	case chat.EventNoted:
		if e.Call != nil {
			w.shown[e.Call.ID] += len(e.Note)
		}
	case chat.EventRunning:
		say("agent.tool.exec_start", map[string]any{"Tool": e.Call.ToolName, "Arguments": arguments(e.Call.Arguments)})
	case chat.EventAnswered:
		o.answered(w, e, say)
	case chat.EventStopping:
		say("agent.interrupt.received",
			map[string]any{"Kind": "stop", "Role": "user", "ContentLen": 0, "QueueDepth": 0, "HintLen": 0})
	case chat.EventEnded:
		o.ended(w, e, say)
		delete(o.turns, e.Turn)
	}
}

func (o *Observer) answered(w *watched, e chat.Event, say func(string, map[string]any)) {
	if e.Call.Started.IsZero() {
		say("agent.tool.exec_skipped", map[string]any{"Tool": e.Call.ToolName, "Reason": e.Result.Text()})
		return
	}
	w.used = append(w.used, map[string]any{"name": e.Call.ToolName, "success": !e.Result.IsError})
	say("agent.tool.exec_end", map[string]any{
		"Tool": e.Call.ToolName, "Duration": e.Call.Ended.Sub(e.Call.Started).Nanoseconds(),
		"ForLLMLen": len(e.Result.Text()), "ForUserLen": w.shown[e.Call.ID], "IsError": e.Result.IsError, "Async": false,
	})
}

func (o *Observer) ended(w *watched, e chat.Event, say func(string, map[string]any)) {
	status, text := "completed", ""
	switch e.Reason {
	case chat.EndError:
		status = "error"
	case chat.EndStopped:
		status = "aborted"
	}
	if e.Failure != nil {
		say(failedEvent, map[string]any{"Stage": "turn", "Message": e.Failure.Message})
	}
	if e.Message != nil {
		text = chat.TextOf(e.Message.Parts)
	}
	used := w.used
	if used == nil {
		used = []map[string]any{}
	}
	say("agent.turn.end", map[string]any{
		"Status": status, "Iterations": w.rounds, "Duration": o.now().Sub(w.began).Nanoseconds(),
		"FinalContentLen": len(text), "FinalContent": text, "UserMessage": w.said, "ToolExecutions": used,
	})
}

// asked is the payload about a request to a model.
func asked(e chat.Event) map[string]any {
	payload := map[string]any{"Model": e.Model, "MessagesCount": 0, "ToolsCount": 0, "MaxTokens": 0, "Temperature": 0}
	if a := e.Asks; a != nil {
		payload["MessagesCount"], payload["ToolsCount"], payload["MaxTokens"] = a.Messages, a.Tools, a.MaxTokens
		if a.Temperature != nil {
			payload["Temperature"] = *a.Temperature
		}
	}
	return payload
}

// retried is the payload about a request that is made again.
func retried(e chat.Event) map[string]any {
	payload := map[string]any{"Attempt": 0, "MaxRetries": 0, "Reason": e.Note, "Error": "", "Backoff": 0}
	if r := e.Retry; r != nil {
		payload["Attempt"], payload["MaxRetries"], payload["Error"], payload["Backoff"] = r.Attempt, r.Most-1, r.Error,
			r.Wait.Nanoseconds()
	}
	return payload
}

func arguments(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return json.RawMessage("{}")
	}
	return raw
}

// observers returns the hooks that get events.
func (o *Observer) observers() []hooked {
	return (&Source{lender: o.lender}).hooks(gate.TurnEvents, false, Process.Observes)
}

// run sends one event after another.
func (o *Observer) run() {
	defer close(o.over)
	for {
		select {
		case <-o.ctx.Done():
			return
		case e := <-o.queue:
			if e.flushed != nil {
				close(e.flushed)
				continue
			}
			if e.kind == turnStart && !o.heard() {
				o.mu.Lock()
				delete(o.turns, e.turn.Turn) // nobody hears of this turn
				o.mu.Unlock()
				continue
			}
			o.send(e)
		}
	}
}

// heard waits for hooks that are loading, as they are when a command has just opened Conclave, and reports
// whether any hook gets events.
func (o *Observer) heard() bool {
	o.lender.Ready(o.ctx, Name)
	return len(o.observers()) > 0
}

// wants reports which of the two notifications of a kind the hook is sent. Deltas are
// for those only that name them.
func (p Process) wants(kind string) (now, legacy bool) {
	for _, name := range p.Observe {
		switch {
		case name == kinds[kind].legacy:
			now, legacy = true, true
		case name == kind, slices.Contains(everything, name) && kind != llmDelta:
			now = true
		}
	}
	return now, legacy
}

// startTime bounds the start of a hook for the sake of an event.
const startTime = 10 * time.Second

func (o *Observer) send(e queued) {
	for _, h := range o.observers() {
		now, legacy := h.process.wants(e.kind)
		if !now && !legacy {
			continue
		}
		ctx, cancel := context.WithTimeout(o.ctx, startTime)
		borrowed, release, err := o.lender.Borrow(ctx, h.ID)
		cancel()
		if err != nil {
			continue // its card says why
		}
		if c, ok := borrowed.(*connection); ok {
			o.mu.Lock()
			o.spoken[h.ID] = c.client
			o.mu.Unlock()
			if now {
				o.number++
				err = c.client.notify("hook.runtime_event", e.event(o.number))
			}
			if legacy && err == nil {
				err = c.client.notify("hook.event", e.legacy())
			}
			if err != nil {
				c.log("warn", "It did not get an event: "+err.Error()+".")
			}
		}
		release()
	}
}

// event is the notification of newer releases.
func (e queued) event(number uint64) map[string]any {
	severity := "info"
	if e.kind == failedEvent {
		severity = "error"
	}
	about := of(e.info, "")
	return map[string]any{
		"id": "evt-" + strconv.FormatUint(number, 10), "kind": e.kind, "time": e.at.Format(time.RFC3339Nano),
		"source": map[string]any{"component": "agent"},
		"scope": map[string]any{
			"agent_id": about.Meta.AgentID, "session_key": about.Meta.SessionKey, "turn_id": about.Meta.TurnID,
			"channel": channel, "chat_id": about.ChatID, "chat_type": "direct", "sender_id": "user",
		},
		"correlation": map[string]any{}, "severity": severity, "payload": e.payload,
		"attrs": map[string]any{"agent_source": "runTurn", "iteration": about.Meta.Iteration},
	}
}

// legacy is the notification of older ones, whose turn_start also says where the turn is.
func (e queued) legacy() map[string]any {
	about := of(e.info, "")
	payload := e.payload
	if e.kind == turnStart {
		payload = maps.Clone(payload)
		payload["Channel"], payload["ChatID"] = about.Channel, about.ChatID
	}
	return map[string]any{
		"Kind": kinds[e.kind].number, "Time": e.at.Format(time.RFC3339Nano), "Meta": about.Meta, "Context": about.Context,
		"Payload": payload,
	}
}
