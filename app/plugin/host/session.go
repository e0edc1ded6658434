package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/wire"
	"conclave/app/tool"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	build "conclave/app/base/version"
)

// session is one running process and the MCP session with it. It is made by
// startSession and ended by close, end or kill; watch waits for the end.
type session struct {
	access    access // that it was started with
	opened    *openedFiles
	r         *runner
	process   plugin.Connection
	load      *loadClock // of the load that started it
	transport *wire.Transport
	mcp       *mcp.ClientSession
	speaks    bool // it is one of our own shims and knows conclave/… keys

	surface  registrations // what it registered
	clocks   wire.Clocks   // of its open calls
	programs programs      // that run for it
	jobs     jobs          // of its background

	// uses and spent are guarded by the runner's mutex.
	uses  int  // calls and listings under way
	spent bool // never to be used again

	code    atomic.Pointer[string] // digest of what it runs, once the files were compared; nil for a throw-away look
	asked   atomic.Bool            // its end was asked for
	filled  atomic.Bool            // it was ended since it filled its storage
	over    chan struct{}          // closed when it has ended and that was taken note of
	watched sync.WaitGroup
	mu      sync.Mutex    // guards the fields below
	killed  string        // why we ended it, for the calls that were open
	heard   []chat.Origin // of the chats whose calls it was given
	stored  string        // storedState before it was given the first of these, and when it was looked at last
}

// startSession shakes hands with what was started or reached, which it ends if that
// fails. The error is a *Problem, or the cause of ctx's end.
func startSession(ctx context.Context, r *runner, process plugin.Connection, with access,
	files *openedFiles,
) (_ *session, err error) {
	s := &session{
		access: with, opened: files, r: r, process: process, over: make(chan struct{}), load: loadClockOf(ctx),
	}
	r.e.follow(process)
	lines := wire.MaxLine
	if long, ok := process.(interface{ LineBytes() int }); ok { // it answers in memory
		lines = long.LineBytes()
	}
	s.mcp, s.transport, err = wire.Dial(ctx, process.Wire(), &mcp.Implementation{Name: "conclave", Version: build.Version},
		wire.HandlerFunc(s.host), wire.Options{MaxLine: lines, Log: r.h.o.Log}, &mcp.ClientOptions{
			Logger:                 r.h.o.Log,
			ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { r.toolsChanged() },
			LoggingMessageHandler: func(_ context.Context, m *mcp.LoggingMessageRequest) {
				r.e.logs(logLevel(string(m.Params.Level)), logText(m.Params.Data))
				s.heardJob(m.Params.Meta)
			},
		})
	if err != nil {
		if _, gone := errors.AsType[*wire.Broken](err); gone || ctx.Err() != nil {
			process.Kill() // else it ends by itself, and says how
		}
		process.End()
		return nil, s.startProblem(ctx, err)
	}
	s.speaks = wire.Speaks(s.mcp)
	s.surface.transport.Store(s.transport)
	s.watched.Go(s.watch) // ends when the process does
	if !r.h.adopt(s) {
		s.end(closingReason)
		return nil, &plugin.Problem{Kind: "unavailable", Message: "Conclave is closing."}
	}
	if s.exceeds() { // taken back while it started
		s.kill(takenBackReason)
	}
	return s, nil
}

const closingReason = "Conclave is closing."

// stderr returns what the process wrote last, without the secrets it was told.
func (s *session) stderr() string { return s.r.e.redactor.text(s.process.Stderr()) }

// startProblem says why a handshake failed.
func (s *session) startProblem(ctx context.Context, err error) error {
	if load, ok := errors.AsType[*wire.LoadError](err); ok {
		var p plugin.Problem
		if json.Unmarshal(load.Problem, &p) == nil && p.Message != "" {
			if p.Kind == "" {
				p.Kind = "script"
			}
			return &p
		}
		return &plugin.Problem{Kind: "script", Message: load.Message}
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	stderr := s.stderr()
	if broken, ok := errors.AsType[*wire.Broken](err); ok {
		return &plugin.Problem{
			Kind: broken.Kind, Message: broken.Message, Stderr: stderr,
			Hint: "Output belongs on standard error; see its log.",
		}
	}
	if exit := s.process.Exit(); streamEnded(err) || exit != "exit 0" && exit != "signal: killed" {
		return &plugin.Problem{
			Kind: "crashed", Message: "Its process ended before it was ready (" + exit + ").",
			Stderr: stderr, Hint: lastLines(stderr, 3),
		}
	}
	return &plugin.Problem{Kind: "crashed", Message: "It does not speak the protocol: " +
		strings.TrimSuffix(err.Error(), ".") + ".", Stderr: stderr, Hint: lastLines(stderr, 3)}
}

// streamEnded reports whether err is that of a pipe whose other end is gone.
func streamEnded(err error) bool {
	for _, gone := range []error{
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, os.ErrClosed, syscall.EPIPE,
		mcp.ErrConnectionClosed,
	} {
		if errors.Is(err, gone) {
			return true
		}
	}
	return false
}

// lastLines returns the last n lines that hold something.
func lastLines(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// ending reports whether the process has ended, or says nothing any more, though watch may
// not have taken note of it yet. A dialect that speaks with its processes itself may know it
// before the transport does.
func (s *session) ending() bool {
	early, ok := s.process.(interface{ Over() bool })
	return s.transport.Err() != nil || ok && early.Over()
}

// watch waits for the end of the process, which is a death unless it was asked
// for. Meanwhile it counts the plugin's storage: threads write between calls too.
func (s *session) watch() {
	count := time.NewTicker(quotaPause)
	defer count.Stop()
	for ended := false; !ended; {
		select {
		case <-count.C:
			s.overfull()
			continue
		case <-s.process.Done():
			s.drain()
		case <-s.transport.Done(): // a flood, garbage, or its output closed
			if !s.asked.Load() {
				s.process.End()
			}
			<-s.process.Done()
		}
		ended = true
	}
	s.programs.end()
	s.r.retireSession(s)
	s.keeps(false)
	if !s.asked.Load() {
		s.r.died(s.deathProblem())
	}
	close(s.over)
	_ = s.mcp.Close()
	s.transport.Close()
	s.r.h.dismiss(s)
}

// drainTime bounds the wait for what a process that ended wrote last.
const drainTime = time.Second

// drain waits until the last output of the process was read: a process may send the
// answer to a call and end.
func (s *session) drain() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-s.transport.Done():
	case <-timer.C:
	}
}

func (s *session) deathProblem() *plugin.Problem {
	if broken, ok := errors.AsType[*wire.Broken](s.transport.Err()); ok {
		return &plugin.Problem{Kind: broken.Kind, Message: broken.Message, Stderr: s.stderr()}
	}
	stderr := s.stderr()
	return &plugin.Problem{
		Kind: "crashed", Message: "Its process ended (" + s.process.Exit() + ").", Stderr: stderr,
		Hint: lastLines(stderr, 3),
	}
}

// close lets the process end by itself, in the background; the host's Close
// waits for it.
func (s *session) close() {
	if s.asked.Swap(true) {
		return
	}
	s.r.h.spawn(func() { // ends with the process
		s.process.End()
		s.watched.Wait()
	})
}

// end ends the process and waits for it; calls that are open are told why.
func (s *session) end(why string) {
	s.noteKilled(why)
	s.process.End()
	s.watched.Wait()
}

// kill ends the process at once, which is used no more; the error of open calls says why.
func (s *session) kill(why string) {
	s.r.retireSession(s)
	s.noteKilled(why)
	s.process.Kill()
}

// noteKilled records why Conclave ends the process; the first reason counts.
func (s *session) noteKilled(why string) {
	s.mu.Lock()
	if s.killed == "" {
		s.killed = why
	}
	s.mu.Unlock()
	s.asked.Store(true)
}

func (s *session) killedWhy() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.killed
}

// listedTool is one entry of tools/list (MCP 2025-06-18, and docs/WIRE.md
// section 2 for _meta).
type listedTool struct {
	Name        string          `json:"name"`
	Title       string          `json:"title"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Meta        struct {
		Line       int      `json:"conclave/line"`
		File       string   `json:"conclave/file"`
		TimeoutMS  int64    `json:"conclave/timeout-ms"`
		Serial     bool     `json:"conclave/serial"`
		Council    bool     `json:"conclave/council-eligible"`
		Inline     bool     `json:"conclave/inline-available"`
		Visibility string   `json:"conclave/visibility"`
		Warnings   []string `json:"conclave/warnings"`
		Strict     bool     `json:"conclave/strict"`
		Instance   string   `json:"conclave/instance"`
		Members    []string `json:"conclave/council-members"`
	} `json:"_meta"`
}

// selfReport holds what a process says of itself besides its tools.
type selfReport struct {
	options json.RawMessage // the schema of its settings
	notes   []string        // sentences for its card
	wakes   []string        // what it must be running for
}

// maxNotes bounds the sentences on a plugin's card, and each of them in bytes.
const (
	maxNotes = 20
	maxNote  = 500
)

// addPage takes in what one page of the tool list says.
func (t *selfReport) addPage(options json.RawMessage, notes []string) {
	if len(options) > 0 {
		t.options = usable(options)
	}
	for _, note := range notes {
		if text, _ := tool.Clean(note); text != "" && len(t.notes) < maxNotes {
			t.notes = append(t.notes, lastBytes(text, maxNote))
		}
	}
}

// list asks for the tools, all pages of them, and for what else the process says
// of itself.
func (s *session) list(ctx context.Context, v version) (tools []tool.Tool, said selfReport, err error) {
	tools, said = []tool.Tool{}, selfReport{options: v.options}
	cursor, left := "", 0
	for {
		params := map[string]string{}
		if cursor != "" {
			params["cursor"] = cursor
		}
		raw, err := s.ask(ctx, "tools/list", params)
		if err != nil {
			return nil, selfReport{}, err
		}
		var page struct {
			Tools      []listedTool `json:"tools"`
			NextCursor string       `json:"nextCursor"`
			Meta       struct {
				Options json.RawMessage `json:"conclave/options"`
				Notes   []string        `json:"conclave/notes"`
			} `json:"_meta"`
		}
		if err := json.Unmarshal(raw, &page); err != nil {
			return nil, selfReport{}, &plugin.Problem{Kind: "crashed", Message: "Its tool list cannot be read: " +
				err.Error() + "."}
		}
		if s.speaks {
			said.addPage(page.Meta.Options, page.Meta.Notes)
		}
		for _, t := range page.Tools {
			if len(t.Name) == 0 || len(t.Description)+len(t.InputSchema) > limit.ToolDefinition.Int() ||
				len(tools) >= limit.PluginTools.Int() {
				s.r.e.logs("warn",
					fmt.Sprintf("The tool %.80q was left out: a plugin may offer %s tools of at most %s each, with a name.",
						t.Name, limit.PluginTools, limit.ToolDefinition))
				left++
				continue
			}
			tools = append(tools, tool.Normal(t.tool(v)))
		}
		if cursor = page.NextCursor; cursor == "" || len(page.Tools) == 0 {
			if left > 0 {
				said.notes = append(said.notes, limit.ToolsLeftOut(left))
			}
			said.wakes = s.surface.reasons()
			return tools, said, nil
		}
	}
}

// maxInstance bounds what is on record of the object a tool belongs to, in bytes.
const maxInstance = 2 << 10

func (t listedTool) tool(v version) tool.Tool {
	title := t.Title
	if title == "" {
		title = t.Name
	}
	file := t.Meta.File
	if file == "" {
		file = v.manifest.Entry
	}
	role := ""
	if len(t.Meta.Members) > 0 {
		role = t.Meta.Members[0]
	}
	return tool.Tool{
		Role: role, Plugin: v.src.ID, Name: t.Name, Title: title, Description: t.Description, Parameters: t.InputSchema,
		CouncilEligible: t.Meta.Council, InlineAvailable: t.Meta.Inline, Visibility: tool.Visibility(t.Meta.Visibility),
		Dialect: v.manifest.Dialect, File: file, Line: t.Meta.Line, Serial: t.Meta.Serial, Warnings: t.Meta.Warnings,
		Strict: t.Meta.Strict, Instance: lastBytes(t.Meta.Instance, maxInstance),
		Timeout: time.Duration(t.Meta.TimeoutMS) * time.Millisecond,
	}
}

// ask sends one request and waits for its result.
func (s *session) ask(ctx context.Context, method string, params any) (json.RawMessage, error) {
	p, err := s.transport.Start(ctx, method, params)
	if err != nil {
		return nil, err
	}
	select {
	case <-p.Done():
		return p.Result()
	case <-ctx.Done():
		_ = p.Cancel("no longer waited for")
		return nil, context.Cause(ctx)
	}
}

func logLevel(level string) string {
	switch level {
	case "debug":
		return "debug"
	case "info", "notice":
		return "info"
	case "warning":
		return "warn"
	}
	return "error"
}

func logText(data any) string {
	if text, ok := data.(string); ok {
		return text
	}
	raw, err := json.Marshal(data)
	if err != nil {
		return fmt.Sprint(data)
	}
	return string(raw)
}
