package engine

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin/wire"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// server is the MCP side of a worker. The SDK keeps the session; what it would
// do with tools is done here, because it sorts them and refuses schemas.
type server struct {
	mcp    *mcp.Server
	worker *worker
	ready  chan struct{} // closed when the worker may be used
	owe    func()        // called for every request that will be answered

	mu      sync.Mutex // guards what follows
	session *mcp.ServerSession
	open    bool      // the session is initialized: log lines may go out
	held    []logLine // before that
}

// logLine is one line of a plugin's log, and what it says of a job of the plugin's background:
// its name, and why it failed, or nil where it works again (docs/WIRE.md, section 7).
type logLine struct {
	level, text string
	job         string
	failure     *string
}

// heldLines bounds the log lines of a loading plugin that wait for the session to be
// initialized.
const heldLines = 200

func newServer(w *worker) *server {
	s := &server{worker: w, ready: make(chan struct{}), owe: func() {}}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: "conclave-spindle", Title: w.cfg.Plugin, Version: "1"},
		&mcp.ServerOptions{
			Capabilities: wire.Announce(&mcp.ServerCapabilities{
				Logging: &mcp.LoggingCapabilities{},
				Tools:   &mcp.ToolCapabilities{ListChanged: true},
			}),
		})
	s.mcp.AddReceivingMiddleware(s.receive)
	w.emit = s.log
	w.changed = s.announce
	return s
}

// receive answers what is ours and leaves the rest to the SDK.
func (s *server) receive(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if !strings.HasPrefix(method, "notifications/") {
			s.owe()
		}
		switch method {
		case "initialize":
			<-s.ready
			if p := s.worker.load(ctx); p != nil {
				s.spill()
				return nil, wire.LoadFailure(p.Message, p)
			}
			result, err := next(ctx, method, req)
			if err != nil {
				return nil, err
			}
			return result, s.setLevel(ctx, next, req)
		case "notifications/initialized":
			result, err := next(ctx, method, req)
			s.openLog()
			return result, err
		case "tools/list":
			return s.list(), nil
		case "tools/call":
			return s.call(ctx, req.(*mcp.CallToolRequest)), nil
		}
		return next(ctx, method, req)
	}
}

// setLevel asks the SDK to send every log line: it sends none until a client
// has named a level, and a plugin's log is always wanted. A client that names
// one afterwards is heeded.
func (s *server) setLevel(ctx context.Context, next mcp.MethodHandler, req mcp.Request) error {
	session := req.(*mcp.ServerRequest[*mcp.InitializeParams]).Session
	s.mu.Lock()
	s.session = session
	s.mu.Unlock()
	_, err := next(ctx, "logging/setLevel", &mcp.ServerRequest[*mcp.SetLoggingLevelParams]{
		Session: session, Params: &mcp.SetLoggingLevelParams{Level: "debug"},
	})
	return err
}

// log sends one line of the plugin's log, or holds it until it may be sent.
func (s *server) log(line logLine) {
	s.mu.Lock()
	if !s.open {
		if len(s.held) < heldLines {
			s.held = append(s.held, line)
		}
		s.mu.Unlock()
		return
	}
	session := s.session
	s.mu.Unlock()
	s.send(session, line)
}

func (s *server) send(session *mcp.ServerSession, line logLine) {
	params := &mcp.LoggingMessageParams{
		Level: mcp.LoggingLevel(line.level), Logger: s.worker.cfg.Plugin, Data: line.text,
	}
	if line.job != "" {
		params.Meta = mcp.Meta{"conclave/job": line.job}
		if line.failure != nil {
			params.Meta["conclave/failure"] = *line.failure
		}
	}
	_ = session.Log(s.worker.ctx, params) // what cannot be sent has nowhere else to go: the stream has ended
}

func (s *server) openLog() {
	s.mu.Lock()
	defer s.mu.Unlock() // so that no later line overtakes the held ones
	if s.session == nil {
		return
	}
	for _, line := range s.held {
		s.send(s.session, line)
	}
	s.open, s.held = true, nil
}

// spill writes what a plugin logged before it failed to standard error, where
// Conclave shows it with the problem.
func (s *server) spill() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, line := range s.held {
		_, _ = s.worker.stderr.Write([]byte(line.level + ": " + line.text + "\n"))
	}
	s.held = nil
}

// changeMarker is never listed: the SDK tells the client of a changed list when
// a tool is added to its own.
var changeMarker = &mcp.Tool{Name: "changed", InputSchema: json.RawMessage(`{"type":"object"}`)}

// announce sends notifications/tools/list_changed; the SDK makes one of many in
// quick succession.
func (s *server) announce() {
	s.mcp.AddTool(changeMarker, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{IsError: true}, nil // tools/call never gets here
	})
}

func (s *server) list() *mcp.ListToolsResult {
	result := &mcp.ListToolsResult{Tools: []*mcp.Tool{}}
	for _, t := range s.worker.tools.list() {
		meta := mcp.Meta{wire.MetaCouncil: t.council, wire.MetaInline: t.inline, wire.MetaVisibility: s.visibility(t)}
		if s.worker.cfg.Single { // written for Conclave, which checks the arguments for its author
			meta[wire.MetaStrict] = true
		}
		if t.line > 0 {
			meta[wire.MetaFile], meta[wire.MetaLine] = t.file, t.line
		}
		if len(t.warnings) > 0 {
			meta[wire.MetaWarnings] = t.warnings
		}
		result.Tools = append(result.Tools, &mcp.Tool{
			Name: t.name, Title: t.title, Description: t.description, InputSchema: t.schema, Meta: meta,
		})
	}
	if left := s.worker.tools.leftOut(); left > 0 {
		result.Meta = mcp.Meta{wire.MetaNotes: []string{limit.ToolsLeftOut(left)}}
	}
	return result
}

// visibility follows contracts/spindle, section 6.7: only a tool that is inline_available
// reaches the main model by itself. A script that somebody dropped into the
// folder as one file is meant for the main model, unless it says council.
func (s *server) visibility(t tool) string {
	if t.inline || s.worker.cfg.Single && !t.council {
		return "direct"
	}
	return "hidden"
}

func (s *server) call(ctx context.Context, req *mcp.CallToolRequest) *mcp.CallToolResult {
	in := invocation{tool: req.Params.Name, args: req.Params.Arguments}
	meta := req.Params.Meta
	in.request, _ = meta[wire.MetaCall].(string)
	in.user, _ = meta[wire.MetaUser].(string)
	if ms, ok := meta[wire.MetaDeadline].(float64); ok {
		in.deadline = time.UnixMilli(int64(ms))
	}
	if member, ok := meta[wire.MetaMember].(map[string]any); ok {
		in.member = json.RawMessage(toJSON(member))
	}
	if messages, ok := meta[wire.MetaMessages].([]any); ok {
		in.messages = flatten(messages)
	}
	r := result{status: "bad_arguments", errorType: "TypeError", text: "The arguments are not a JSON object."}
	if isObject(in.args) {
		r = s.worker.call(ctx, in)
	}
	return answerOf(r)
}

func isObject(args json.RawMessage) bool {
	if len(args) == 0 {
		return true
	}
	var fields map[string]json.RawMessage
	return json.Unmarshal(args, &fields) == nil && fields != nil
}

// answerOf writes a result as docs/WIRE.md, section 4, says.
func answerOf(r result) *mcp.CallToolResult {
	meta := mcp.Meta{wire.MetaStatus: r.status}
	for key, text := range map[string]string{
		wire.MetaErrorType: r.errorType, wire.MetaTraceback: r.traceback, wire.MetaPrinted: r.printed,
	} {
		if text != "" {
			meta[key] = text
		}
	}
	if r.value != nil {
		meta[wire.MetaResult] = r.value
	}
	return &mcp.CallToolResult{
		Meta: meta, Content: []mcp.Content{&mcp.TextContent{Text: r.text}}, IsError: r.status != "ok",
	}
}

// flatten makes of context messages what contracts/spindle, section 7.6 promises: known
// roles, and content that is one text.
func flatten(messages []any) []message {
	flat := make([]message, 0, len(messages))
	for _, each := range messages {
		fields, ok := each.(map[string]any)
		if !ok {
			continue
		}
		m := message{Role: "user", Content: textOf(fields["content"])}
		if role, _ := fields["role"].(string); role == "system" || role == "assistant" {
			m.Role = role
		}
		m.Name, _ = fields["name"].(string)
		flat = append(flat, m)
	}
	return flat
}

// textOf keeps the text parts of a message's content.
func textOf(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var parts []string
		for _, part := range c {
			fields, _ := part.(map[string]any)
			if text, ok := fields["text"].(string); ok {
				parts = append(parts, text)
			}
		}
		return strings.Join(parts, "\n")
	}
	return ""
}
