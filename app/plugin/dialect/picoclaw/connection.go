package picoclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/base/pattern"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// connection is a hook's process as the backend of its plugin: the host's calls are asked of the hook
// in the words of its protocol.
type connection struct {
	src     plugin.Source
	process Process
	running sandbox.Process
	client  *client
	turns   *turns
	began   time.Time
	to      plugin.Listener

	mu   sync.Mutex      // guards once
	once map[string]bool // sentences that were logged once
}

// Adapt implements plugin.Adapter: it says hello.
func (d *Dialect) Adapt(ctx context.Context, running sandbox.Process, src plugin.Source, m plugin.Manifest,
	to plugin.Listener,
) (plugin.Backend, error) {
	c := &connection{
		src: src, process: ProcessOf(m), running: running, began: time.Now(), turns: &d.turns, to: to,
		once: map[string]bool{},
	}
	c.client = newClient(running.Wire(), c.log)
	if p := c.hello(ctx); p != nil {
		c.Close()
		return nil, p
	}
	return c, nil
}

// List implements plugin.Backend. A hook's tools are offered once it injects them.
func (c *connection) List(context.Context) (plugin.Offer, error) { return plugin.Offer{}, nil }

// Done implements plugin.Backend.
func (c *connection) Done() <-chan struct{} { return c.client.done }

// Close implements plugin.Backend.
func (c *connection) Close() { c.client.end(io.EOF) }

// maxOnce bounds the sentences that are logged once only.
const maxOnce = 50

// log writes a line into the hook's log. A sentence is logged once.
func (c *connection) log(level, text string) {
	c.mu.Lock()
	again := c.once[text]
	if len(c.once) < maxOnce {
		c.once[text] = true
	}
	c.mu.Unlock()
	if !again {
		c.to.Log(level, text)
	}
}

// hello shakes hands (contracts/picoclaw-hooks, section 4), and says why that failed.
func (c *connection) hello(ctx context.Context) *plugin.Problem {
	params := struct {
		Name    string   `json:"name"`
		Version int      `json:"version"`
		Modes   []string `json:"modes,omitempty"`
	}{c.process.Name, 1, c.process.Modes()}
	result, err := c.client.within(ctx, c.process.HelloTime(), "hook.hello", params)
	if err != nil {
		return c.unready(err)
	}
	var said struct {
		OK     *bool  `json:"ok"`
		Reason string `json:"reason"`
	}
	if result != nil && json.Unmarshal(result, &said) != nil {
		if result[0] != '{' {
			return c.unready(fmt.Errorf("it answered hook.hello with something else than an object: %s",
				excerpt(string(result))))
		}
	}
	if said.OK != nil && !*said.OK {
		p := c.unready(fmt.Errorf("it reports that it is not ready"))
		p.Message = "The hook reports that it is not ready."
		if said.Reason != "" {
			p.Message = "The hook reports that it is not ready: " + excerpt(said.Reason) + "."
		}
		return p
	}
	return nil
}

// lastWords is the time that the end of a process is awaited that did not answer hello, so
// that what it wrote last is known.
const lastWords = time.Second

// traced is the last place that a traceback of Python names, and its sentence.
var traced = pattern.Lazy(`(?m)^\s*File "([^"]+)", line (\d+)`)

// unforked finds how shells say that they may not start programs: dash, bash, busybox, zsh.
var unforked = pattern.Lazy(`(?i)cannot fork|can't fork|fork: |fork failed`)

// unready returns why hello failed: how the process ended, and what it wrote (section 4.5).
func (c *connection) unready(err error) *plugin.Problem {
	p := &plugin.Problem{Kind: "crashed", Message: "hook.hello failed: " + err.Error() + "."}
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	ended := false
	if errors.Is(err, errEnded) {
		select {
		case <-c.running.Done():
			ended = true
		case <-timer.C:
		}
	}
	alive := time.Since(c.began).Round(time.Millisecond)
	switch {
	case ended:
		p.Message = fmt.Sprintf("The hook ended before it answered hook.hello (%s, after %s).", c.running.Exit(), alive)
	case errors.Is(err, errSlow):
		p.Kind = "deadline"
		p.Message = fmt.Sprintf("The hook did not answer hook.hello within %s.", c.process.HelloTime())
		p.Hint = "It has to answer each line that has an id, and flush its output after each line."
	}
	p.Stderr = c.running.Stderr()
	if p.Stderr != "" {
		c.blame(p)
	}
	return p
}

// blame points at the line that a traceback names, if the file is the hook's.
func (c *connection) blame(p *plugin.Problem) {
	places := traced().FindAllStringSubmatch(p.Stderr, -1)
	lines := strings.Split(strings.TrimSpace(p.Stderr), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	p.Hint = last
	if unforked().MatchString(p.Stderr) {
		p.Hint = "It starts other programs, as shell scripts do for most commands. Let it in its menu, " +
			"“What it may reach…”, or with " + plugin.Refusal{Permission: gate.Programs}.Command(c.src.ID) + "."
	}
	for i := len(places) - 1; i >= 0; i-- {
		file, own := strings.CutPrefix(places[i][1], c.src.Path+"/")
		if !own {
			continue
		}
		p.File = file
		p.Line, _ = strconv.Atoi(places[i][2])
		if kind, _, found := strings.Cut(last, ":"); found && strings.HasSuffix(kind, "Error") {
			p.Type = kind
			p.Message = fmt.Sprintf("The script failed in line %d: %s. %s", p.Line, strings.TrimSuffix(last, "."), p.Message)
			if kind == "SyntaxError" || kind == "IndentationError" {
				p.Kind = "script"
				p.Message = fmt.Sprintf("The script has a syntax error in line %d: %s.", p.Line, strings.TrimSuffix(last, "."))
			}
		}
		return
	}
}

// Call implements plugin.Backend for a tool that the hook injected: the hook is asked before the tool,
// and responds.
func (c *connection) Call(ctx context.Context, call tool.Call) (plugin.Answer, error) {
	info := c.turns.take(call.ID)
	if info.Conversation == "" {
		info.Conversation = call.Conversation
	}
	raw, err := c.client.within(ctx, time.Until(call.Deadline), "hook.before_tool", toolRequest{
		about: of(info, "turn.tool.before").call(shortID(call.ID)), Tool: call.Tool.Name,
		Arguments: argumentsOf(call.Arguments),
	})
	switch {
	case errors.Is(err, errSlow):
		return plugin.Answer{Result: tool.Result{Status: chat.CallTimeout}}, nil
	case errors.Is(err, errEnded):
		return plugin.Answer{}, plugin.ErrEnded
	case ctx.Err() != nil:
		return plugin.Answer{Result: tool.Result{Status: chat.CallCancelled, Error: "stopped"}}, nil
	case err != nil:
		return failed(err), nil
	}
	a, err := readAnswer(raw)
	if err != nil {
		return failed(err), nil
	}
	return plugin.Answer{Result: responded(call.Tool.Name, a)}, nil
}

// Ask asks the hook in its own words, for what is recorded to try it with. An
// event is sent, and nothing awaited.
func (c *connection) Ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	if strings.HasSuffix(method, "event") {
		return json.RawMessage("null"), c.client.notify(method, params)
	}
	limit := c.process.InterceptorTime()
	if method == "hook.approve_tool" {
		limit = c.process.ApprovalTime()
	}
	result, err := c.client.within(ctx, limit, method, params)
	if err == nil && result == nil {
		result = json.RawMessage("null")
	}
	return result, err
}

// failed is the answer of a call that the hook did not answer as it should.
func failed(err error) plugin.Answer {
	return plugin.Answer{Result: tool.Result{Status: chat.CallRaised, Error: "the hook failed: " + err.Error()}}
}

// responded returns the result that a hook gave to a call of its tool.
func responded(name string, a answer) tool.Result {
	payload := a.Result
	if payload == nil && a.Call != nil {
		var change changedCall
		if json.Unmarshal(a.Call, &change) == nil && string(change.Result) != "null" {
			payload = change.Result
		}
	}
	switch a.Action {
	case actRespond:
		var said toolResult
		if payload == nil {
			break
		}
		if err := object(payload, &said); err != nil {
			return failed(err).Result
		}
		result, notes := said.taken(nil)
		notes = append(notes, said.note()...)                       // the host says whose words they are
		if said.Handled && len(notes) == 0 && said.ForModel != "" { // else nobody would see anything
			notes = []string{said.ForModel}
		}
		result.Notes = notes
		return result
	case actDeny:
		text := "Tool execution denied by hook"
		if a.Reason != "" {
			text += ": " + a.Reason
		}
		return tool.Result{Status: chat.CallRefused, Error: text}
	case actAbort, actHardAbort:
		ends := map[string]tool.CallsOff{actAbort: tool.Ends, actHardAbort: tool.TakesItBack}[a.Action]
		return tool.Result{Status: chat.CallCancelled, Error: a.Reason, CallsOff: ends}
	}
	missing := fmt.Sprintf("tool %q not found: the hook that offers it did not answer the call", name)
	return tool.Result{Status: chat.CallRaised, Error: missing}
}
