package picoclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// connection is a hook's process as the host knows processes: what the host speaks
// (docs/WIRE.md) is answered here, in memory, and asked of the hook in its own words.
type connection struct {
	sandbox.Process
	src     plugin.Source
	process Process
	client  *client
	turns   *turns
	host    net.Conn // what the host reads and writes
	own     net.Conn
	began   time.Time
	greeted chan struct{} // closed once hello was answered well

	mu   sync.Mutex       // guards held
	held []plugin.LogLine // until the host listens
	mcp  *mcp.ServerSession
	once map[string]bool // sentences that were logged once
}

// connect puts the host's protocol on top of a hook's process.
func connect(process sandbox.Process, src plugin.Source, p Process, turns *turns) *connection {
	c := &connection{
		Process: process, src: src, process: p, began: time.Now(), turns: turns, once: map[string]bool{},
		greeted: make(chan struct{}),
	}
	c.host, c.own = net.Pipe()
	c.client = newClient(process.Wire(), c.log)
	us := &mcp.Implementation{Name: "conclave-picoclaw", Title: src.ID, Version: "1"}
	server := mcp.NewServer(us, &mcp.ServerOptions{
		Capabilities: wire.Announce(&mcp.ServerCapabilities{
			Logging: &mcp.LoggingCapabilities{}, Tools: &mcp.ToolCapabilities{},
		}),
	})
	server.AddReceivingMiddleware(c.receive)
	// It ends with the pipe. One in memory can always be served.
	served, err := wire.ServeLines(context.Background(), c.own, server, c.LineBytes())
	if err != nil {
		_ = c.own.Close()
		return c
	}
	go func() { // ends with the process
		<-c.client.done
		select {
		case <-c.greeted:
		case <-served.Done(): // the host was told why hello failed
		}
		served.Close()
		_ = c.own.Close()
	}()
	go func() { // ends with the host's side
		<-served.Done()
		c.client.end(io.EOF)
	}()
	return c
}

// Wire implements sandbox.Process: the host's side.
func (c *connection) Wire() io.ReadWriteCloser { return c.host }

// Over reports whether the process says nothing any more: what is asked next needs another.
func (c *connection) Over() bool {
	select {
	case <-c.client.done:
		return true
	default:
		return false
	}
}

// LineBytes is how long a line on Wire may be: results hold pictures.
func (c *connection) LineBytes() int { return 2 * limit.HookMedia.Int() }

// End implements sandbox.Process: what it is sent ends, and it has a moment to end by
// itself.
func (c *connection) End() {
	c.Process.End()
	c.client.end(io.EOF)
	_ = c.own.Close()
}

// Lines calls back with each line of the process's standard error.
func (c *connection) Lines(line func(string)) {
	if p, ok := c.Process.(interface{ Lines(func(string)) }); ok {
		p.Lines(line)
	}
}

// receive answers what is ours and leaves the rest to the SDK.
func (c *connection) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "initialize":
			if p := c.hello(ctx); p != nil {
				return nil, wire.LoadFailure(p.Message, p)
			}
			result, err := next(ctx, method, req)
			if err == nil {
				c.listen(ctx, next, req)
			}
			return result, err
		case "tools/list":
			return &mcp.ListToolsResult{Tools: []*mcp.Tool{}}, nil // they are offered once they are injected
		case "tools/call":
			return c.call(ctx, req.(*mcp.CallToolRequest)), nil
		}
		return next(ctx, method, req)
	}
}

// listen asks the SDK to send every log line, and sends those that were held.
func (c *connection) listen(ctx context.Context, next mcp.MethodHandler, req mcp.Request) {
	session := req.(*mcp.ServerRequest[*mcp.InitializeParams]).Session
	_, err := next(ctx, "logging/setLevel", &mcp.ServerRequest[*mcp.SetLoggingLevelParams]{
		Session: session, Params: &mcp.SetLoggingLevelParams{Level: "debug"},
	})
	if err != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.mcp = session
	for _, line := range c.held {
		c.sendLocked(line.Level, line.Text)
	}
	c.held = nil
}

// maxHeld bounds the lines that are kept until the host listens.
const maxHeld = 50

// log writes a line into the hook's log; a sentence that would be there again and again
// is there once.
func (c *connection) log(level, text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.once[text] {
		return
	}
	if len(c.once) < maxHeld {
		c.once[text] = true
	}
	if c.mcp == nil {
		if len(c.held) < maxHeld {
			c.held = append(c.held, plugin.LogLine{Level: level, Text: text})
		}
		return
	}
	c.sendLocked(level, text)
}

func (c *connection) sendLocked(level, text string) {
	if level == "warn" {
		level = "warning"
	}
	session := c.mcp
	go func() { // ends with the pipe, at the latest
		_ = session.Log(context.Background(), &mcp.LoggingMessageParams{
			Level: mcp.LoggingLevel(level), Logger: c.src.ID, Data: text,
		})
	}()
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
	close(c.greeted)
	return nil
}

// lastWords is how long the end of a process is awaited that did not answer hello, so
// that what it wrote last is known.
const lastWords = time.Second

// traced is the last place that a traceback of Python names, and its sentence.
var traced = regexp.MustCompile(`(?m)^\s*File "([^"]+)", line (\d+)`)

// unforked finds how shells say that they may not start programs: dash, bash, busybox, zsh.
var unforked = regexp.MustCompile(`(?i)cannot fork|can't fork|fork: |fork failed`)

// unready says why hello failed: how the process ended, and what it wrote (section 4.5).
func (c *connection) unready(err error) *plugin.Problem {
	p := &plugin.Problem{Kind: "crashed", Message: "hook.hello failed: " + err.Error() + "."}
	timer := time.NewTimer(lastWords)
	defer timer.Stop()
	ended := false
	if errors.Is(err, errEnded) {
		select {
		case <-c.Done():
			ended = true
		case <-timer.C:
		}
	}
	alive := time.Since(c.began).Round(time.Millisecond)
	switch {
	case ended:
		p.Message = fmt.Sprintf("The hook ended before it answered hook.hello (%s, after %s).", c.Exit(), alive)
	case errors.Is(err, errSlow):
		p.Kind = "deadline"
		p.Message = fmt.Sprintf("The hook did not answer hook.hello within %s.", c.process.HelloTime())
		p.Hint = "It has to answer each line that has an id, and flush its output after each line."
	}
	p.Stderr = c.Stderr()
	if p.Stderr != "" {
		c.blame(p)
	}
	return p
}

// blame points at the line that a traceback names, if the file is the hook's.
func (c *connection) blame(p *plugin.Problem) {
	places := traced.FindAllStringSubmatch(p.Stderr, -1)
	lines := strings.Split(strings.TrimSpace(p.Stderr), "\n")
	last := strings.TrimSpace(lines[len(lines)-1])
	p.Hint = last
	if unforked.MatchString(p.Stderr) {
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

// call answers tools/call of a tool that the hook injected: it is asked before the tool,
// and responds.
func (c *connection) call(ctx context.Context, req *mcp.CallToolRequest) *mcp.CallToolResult {
	id, _ := req.Params.Meta[wire.MetaCall].(string)
	in, _ := req.Params.Meta[wire.MetaConversation].(string)
	info := c.turns.take(id)
	if info.Conversation == "" {
		info.Conversation = chat.ConversationID(in)
	}
	within := tool.DefaultTimeout
	if ms, ok := req.Params.Meta[wire.MetaDeadline].(float64); ok {
		within = time.Until(time.UnixMilli(int64(ms)))
	}
	raw, err := c.client.within(ctx, within, "hook.before_tool", toolRequest{
		about: of(info, "turn.tool.before").call(shortID(id)), Tool: req.Params.Name,
		Arguments: argumentsOf(req.Params.Arguments),
	})
	switch {
	case errors.Is(err, errSlow):
		return answered(tool.Result{Status: chat.CallTimeout}, false, nil)
	case ctx.Err() != nil:
		return answered(tool.Result{Status: chat.CallCancelled, Error: "stopped"}, false, nil)
	case err != nil:
		return answered(tool.Result{Status: chat.CallRaised, Error: "the hook failed: " + err.Error()}, false, nil)
	}
	a, err := readAnswer(raw)
	if err != nil {
		return answered(tool.Result{Status: chat.CallRaised, Error: "the hook failed: " + err.Error()}, false, nil)
	}
	return c.responded(req.Params.Name, a)
}

// responded is the result of what the hook said to a call of its own tool.
func (c *connection) responded(name string, a answer) *mcp.CallToolResult {
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
			return answered(tool.Result{Status: chat.CallRaised, Error: "the hook failed: " + err.Error()}, false, nil)
		}
		result, notes := said.taken(nil)
		notes = append(notes, said.note()...)                       // the host says whose words they are
		if said.Handled && len(notes) == 0 && said.ForModel != "" { // else nobody would see anything
			notes = []string{said.ForModel}
		}
		return answered(result, said.Handled, notes)
	case actDeny:
		text := "Tool execution denied by hook"
		if a.Reason != "" {
			text += ": " + a.Reason
		}
		return answered(tool.Result{Status: chat.CallRefused, Error: text}, false, nil)
	case actAbort, actHardAbort:
		off := answered(tool.Result{Status: chat.CallCancelled, Error: a.Reason}, false, nil)
		off.Meta[wire.MetaCallsOff] = map[string]tool.CallsOff{actAbort: tool.Ends, actHardAbort: tool.TakesItBack}[a.Action]
		return off
	}
	missing := fmt.Sprintf("tool %q not found: the hook that offers it did not answer the call", name)
	return answered(tool.Result{Status: chat.CallRaised, Error: missing}, false, nil)
}

// answered writes a result as docs/WIRE.md, section 4, says.
func answered(r tool.Result, handled bool, notes []string) *mcp.CallToolResult {
	out := &mcp.CallToolResult{
		Meta: mcp.Meta{wire.MetaStatus: string(r.Status)}, Content: []mcp.Content{}, IsError: r.Status != chat.CallOK,
	}
	if handled {
		out.Meta[wire.MetaHandled] = true
	}
	if len(notes) > 0 {
		out.Meta[wire.MetaForPerson] = notes
	}
	if out.IsError {
		out.Content = append(out.Content, &mcp.TextContent{Text: r.Error})
	}
	for _, p := range r.Content {
		switch {
		case p.Kind == chat.PartText:
			out.Content = append(out.Content, &mcp.TextContent{Text: p.Text})
		case strings.HasPrefix(p.Media.MIME, "image/"):
			out.Content = append(out.Content, &mcp.ImageContent{Data: p.Media.Data, MIMEType: p.Media.MIME})
		default:
			out.Content = append(out.Content, &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{
				URI: "conclave://" + p.Media.Name, MIMEType: p.Media.MIME, Blob: p.Media.Data,
			}})
		}
	}
	return out
}
