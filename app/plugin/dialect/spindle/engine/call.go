package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"conclave/app/plugin/wire"

	"github.com/google/uuid"
)

// call is one open call of a tool.
type call struct {
	request string // conclave/call-id
	done    chan callAnswer
	printed []byte // its tail; the worker's mutex guards it
}

// callAnswer holds what the prelude says of a finished call (tools.js, invoke).
type callAnswer struct {
	ID    string  `json:"id"`
	Text  string  `json:"text"`
	Value bool    `json:"value"` // Text is JSON
	Error *thrown `json:"error"`
}

// invocation is one call as it came over the wire (docs/WIRE.md, section 3).
type invocation struct {
	tool     string
	args     json.RawMessage // an object, or nothing
	request  string
	user     string
	deadline time.Time       // zero: Config.CallMS from now
	member   json.RawMessage // nil outside a council
	messages []message       // nil when there are none
}

// message is one of conclave/context-messages.
type message struct {
	Role    string `json:"role"` // system, user or assistant
	Content string `json:"content"`
	Name    string `json:"name,omitempty"`
}

// result describes how a call ended (docs/WIRE.md, section 4).
type result struct {
	status    string // ok, raised, bad_arguments, cancelled, unknown or timeout
	text      string // the answer, or the sentence about what went wrong
	value     json.RawMessage
	errorType string
	traceback string
	printed   string
}

// Bounds of calls.
const (
	maxCalls = 64 // open at once; Conclave makes a few
	// maxAnswer leaves room on a line of 4 MiB for what JSON escapes.
	maxAnswer    = 3 << 20
	maxValue     = 256 << 10 // a larger value is not sent twice
	maxTraceback = 8 << 10   // docs/WIRE.md, section 4
	// cancelGrace bounds the time that a cancelled call may go on computing. Promises
	// that nobody reads cost nothing, but an endless loop does.
	cancelGrace = 250 * time.Millisecond
)

// call runs one tool and blocks until it answered, its deadline passed, ctx
// ended or the worker did. A missed deadline ends the worker: what is left in
// the engine cannot be trusted to stop.
func (w *worker) call(ctx context.Context, in invocation) result {
	if !w.tools.has(in.tool) {
		return result{status: "unknown", text: fmt.Sprintf("The plugin has no tool %q.", in.tool)}
	}
	if in.deadline.IsZero() {
		in.deadline = time.Now().Add(time.Duration(w.cfg.CallMS) * time.Millisecond)
	}
	allowed := time.Until(in.deadline)
	if allowed <= 0 {
		return result{status: "timeout", text: fmt.Sprintf("The deadline of %q had passed before it was called.", in.tool)}
	}
	id, c := w.begin(&in)
	if c == nil {
		return result{
			status: "raised", errorType: "Busy",
			text: fmt.Sprintf("%q was not called: %d calls of this plugin are open.", in.tool, maxCalls),
		}
	}
	defer w.forget(id)
	text := w.payload(id, in)
	clock := w.clocks.Start(in.deadline, nil) // it may ask at once
	defer clock.Stop()
	w.loop.do(func() { _, _ = w.vm.Call("invoke", text) })

	select {
	case answer := <-c.done:
		return w.finish(c, in.tool, answer)
	case <-clock.Over():
		sentence := fmt.Sprintf("%q did not answer within %s.", in.tool, seconds(allowed))
		w.loop.end(&Ended{Reason: "deadline", Message: sentence + " The plugin was stopped."})
		return w.printedTo(c, result{status: "timeout", text: sentence})
	case <-ctx.Done():
		w.stopComputing(in.tool)
		return w.printedTo(c, result{status: "cancelled", text: fmt.Sprintf("%q was cancelled.", in.tool)})
	case <-w.loop.stop:
		return w.swept(c, in.tool)
	}
}

// swept is the result of a call that was open when the worker ended for another
// reason.
func (w *worker) swept(c *call, tool string) result {
	return w.printedTo(c, result{
		status: "cancelled", errorType: "Restarted",
		text: fmt.Sprintf("%q was stopped because its plugin was: %s Try again.", tool, w.loop.why),
	})
}

func seconds(d time.Duration) string {
	if d := d.Round(100 * time.Millisecond); d >= time.Second {
		return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + " s"
	}
	return strconv.FormatInt(max(d.Milliseconds(), 1), 10) + " ms"
}

// begin notes a call as open; the call is nil when too many are.
func (w *worker) begin(in *invocation) (string, *call) {
	if in.request == "" {
		in.request = uuid.NewString()
	}
	if in.user == "" {
		in.user = wire.User
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.calls) >= maxCalls {
		return "", nil
	}
	w.last++
	id := strconv.Itoa(w.last)
	c := &call{request: in.request, done: make(chan callAnswer, 1)}
	w.calls[id] = c
	return id, c
}

func (w *worker) forget(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.calls, id)
}

// payload holds the parts of a TOOL_INVOCATION (tools.js, payloadOf).
func (w *worker) payload(id string, in invocation) string {
	p := struct {
		ID       string `json:"id"`
		Tool     string `json:"tool"`
		Args     string `json:"args,omitempty"`
		Request  string `json:"request"`
		User     string `json:"user"`
		Deadline int64  `json:"deadline"`
		Member   string `json:"member,omitempty"`
		Messages string `json:"messages,omitempty"`
	}{
		ID: id, Tool: in.tool, Args: string(in.args), Request: in.request, User: in.user, Deadline: in.deadline.UnixMilli(),
		Member: string(in.member),
	}
	if in.messages != nil {
		p.Messages = toJSON(in.messages)
	}
	return toJSON(p)
}

// callDone hands an answer to whoever waits for it; a late one is dropped. It
// belongs to the engine's goroutine.
func (w *worker) callDone(text string) {
	var answer callAnswer
	if json.Unmarshal([]byte(text), &answer) != nil {
		return
	}
	if t := answer.Error; t != nil {
		t.Frame = w.loader.frame(t.Stack) // the loader is this goroutine's
		t.Stack = w.loader.stack(t.Stack)
	}
	w.mu.Lock()
	c := w.calls[answer.ID]
	w.mu.Unlock()
	if c == nil {
		return
	}
	select {
	case c.done <- answer:
	default: // it answers once
	}
}

// finish makes a result of an answer.
func (w *worker) finish(c *call, tool string, answer callAnswer) result {
	t := answer.Error
	switch {
	case t == nil && len(answer.Text) > maxAnswer:
		return w.printedTo(c, result{
			status: "raised", errorType: "TooLarge",
			text: fmt.Sprintf("%q answered %d MB; at most %d MB can be passed on.", tool, len(answer.Text)>>20, maxAnswer>>20),
		})
	case t == nil:
		r := result{status: "ok", text: answer.Text}
		if answer.Value && len(answer.Text) <= maxValue {
			r.value = json.RawMessage(answer.Text)
		}
		return w.printedTo(c, r)
	case t.interrupted() && w.loop.stopped():
		return w.swept(c, tool)
	case t.outOfMemory():
		return w.printedTo(c, result{status: "raised", errorType: "OutOfMemory", text: memorySentence(w.cfg.HeapBytes)})
	}
	r := result{status: "raised", text: t.Message, errorType: t.Name}
	if r.text == "" {
		r.text = t.sentence()
	}
	if r.errorType == "" {
		r.errorType = "Error"
	}
	r.traceback = t.sentence() + "\n" + t.Stack
	if t.Frame != "" {
		r.traceback += "\n" + t.Frame + "\n"
	}
	if len(r.traceback) > maxTraceback {
		r.traceback = strings.ToValidUTF8(r.traceback[:maxTraceback], "")
	}
	return w.printedTo(c, r)
}

func (w *worker) printedTo(c *call, r result) result {
	w.mu.Lock()
	defer w.mu.Unlock()
	r.printed = strings.ToValidUTF8(string(c.printed), "")
	return r
}

// stopComputing ends the worker if what it computes now goes on for longer than
// a cancelled call may.
func (w *worker) stopComputing(tool string) {
	entry := w.loop.entered.Load()
	if entry == 0 { // it rests
		return
	}
	meter := w.loop.meter()
	w.wg.Go(func() { // ends with the entry or the worker
		grace := time.NewTimer(cancelGrace)
		defer grace.Stop()
		for {
			select {
			case <-grace.C:
			case <-w.loop.stop:
				return
			}
			if w.loop.entered.Load() != entry {
				return
			}
			if left := meter.left(cancelGrace); left > 0 {
				grace.Reset(left)
				continue
			}
			w.loop.end(&Ended{
				Reason:  "cancelled",
				Message: fmt.Sprintf("%q was cancelled and went on computing, so its plugin was stopped.", tool),
			})
			return
		}
	})
}
