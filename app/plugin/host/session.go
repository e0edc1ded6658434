package host

import (
	"cmp"
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
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/tool"
	"conclave/app/tool/elicit"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// session is one run of a plugin: its backend, and the process behind that where there is one. It is
// made by startSession and ended by close, end or kill; watch waits for the end.
type session struct {
	access  access // that it was started with
	opened  *openedFiles
	r       *runner
	backend plugin.Backend
	process sandbox.Process // nil for what Conclave did not start
	worker  *worker         // the backend of a process that speaks the wire; else nil
	load    *loadClock      // of the load that started it

	surface  *registrations // what it registered
	clocks   wire.Clocks    // of its open calls
	programs programs       // that run for it
	jobs     jobs           // of its background

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

// startSession reaches v at src, or starts its process there, and greets it. What was started is ended
// if that fails. The error is a *Problem, or the cause of ctx's end.
func startSession(ctx context.Context, r *runner, v version, src plugin.Source,
	start plugin.StartOptions, with access,
) (_ *session, err error) {
	s := &session{
		access: with, opened: &openedFiles{rules: map[string]bool{}}, r: r, over: make(chan struct{}), load: loadClockOf(ctx),
		surface: newRegistrations(), programs: programs{live: map[string]*running{}},
	}
	if c, ok := v.dialect.(plugin.Connector); ok {
		s.load.follow(nil)
		if s.backend, err = c.Connect(ctx, src, v.manifest, start, s.listener()); err != nil {
			err = plugin.ProblemOf(err)
		}
	} else if s.process, err = r.start(ctx, v, src, start, s.opened); err == nil {
		s.load.follow(s.process)
		s.logOutput()
		err = s.greet(ctx, v, src)
	}
	if err != nil {
		return nil, err // of ctx's end as it is: whoever waits tells a deadline from a newer save by it
	}
	s.watched.Go(s.watch) // ends when the backend does
	if !r.h.processes.adopt(s) {
		s.end(closingReason)
		return nil, &plugin.Problem{Kind: "unavailable", Message: closingReason}
	}
	if s.exceeds() { // taken back while it started
		s.kill(revokedReason)
	}
	return s, nil
}

// speaks reports whether the process knows conclave/… keys and gets events.
func (s *session) speaks() bool { return s.worker != nil && s.worker.speaks }

// logOutput copies what the process prints into the plugin's log.
func (s *session) logOutput() {
	lines, ok := s.process.(interface {
		// Lines calls back with each line of standard error, from one goroutine,
		// until the process is reaped.
		Lines(func(line string))
	})
	if !ok {
		return
	}
	lines.Lines(func(line string) {
		s.r.e.logs("info", line)
	})
}

// greet makes the backend of the process, which it ends if that fails.
func (s *session) greet(ctx context.Context, v version, src plugin.Source) (err error) {
	if a, ok := v.dialect.(plugin.Adapter); ok {
		s.backend, err = a.Adapt(ctx, s.process, src, v.manifest, s.listener())
	} else if s.worker, err = dialWorker(ctx, s, v); err == nil {
		s.backend = s.worker
	}
	if err == nil {
		return nil
	}
	if _, gone := errors.AsType[*wire.Broken](err); gone || ctx.Err() != nil {
		s.process.Kill() // else it ends by itself, and says how
	}
	s.process.End()
	return s.startProblem(ctx, err)
}

// listener passes on what the backend reports.
func (s *session) listener() plugin.Listener {
	return plugin.Listener{Log: s.r.e.logs, ToolsChanged: s.r.toolsChanged, Ask: s.r.elicit}
}

// elicit has the person answer a question of the plugin.
func (r *runner) elicit(ctx context.Context, q elicit.Question) elicit.Answer {
	if r.h.o.Elicit == nil {
		return elicit.Answer{Action: elicit.Cancel, Why: "nobody can be asked here"}
	}
	q.Plugin, q.PluginName = r.e.id, cmp.Or(r.version().manifest.Name, r.e.id)
	return r.h.o.Elicit(ctx, q)
}

const closingReason = "Conclave is closing."

// stderr returns what the process wrote last, without the secrets that it got.
func (s *session) stderr() string {
	if s.process == nil {
		return ""
	}
	return s.r.e.redactor.text(s.process.Stderr())
}

// startProblem returns why a handshake failed.
func (s *session) startProblem(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if p, ok := errors.AsType[*plugin.Problem](err); ok {
		return p
	}
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

// ending reports whether the backend answers nothing more, though watch may not have taken note of
// it yet.
func (s *session) ending() bool {
	select {
	case <-s.backend.Done():
		return true
	default:
		return false
	}
}

// watch waits for the end of the backend, which is a death unless it was asked
// for. Meanwhile it counts the plugin's storage: threads write between calls too.
func (s *session) watch() {
	count := time.NewTicker(quotaPause)
	defer count.Stop()
	var ended <-chan struct{} // never, where there is no process
	if s.process != nil {
		ended = s.process.Done()
	}
	for running := true; running; {
		select {
		case <-count.C:
			s.overfull()
			continue
		case <-ended:
			s.drain()
		case <-s.backend.Done(): // a flood, garbage, or its output closed
			if s.process != nil {
				if !s.asked.Load() {
					s.process.End()
				}
				<-ended
			}
		}
		running = false
	}
	s.programs.end()
	s.r.retireSession(s)
	s.keeps(false)
	if !s.asked.Load() {
		s.r.died(s.deathProblem())
	}
	close(s.over)
	s.backend.Close()
	s.r.h.processes.dismiss(s)
}

// drainTime bounds the wait for what a process that ended wrote last.
const drainTime = time.Second

// drain waits until the last output of the process was read: a process may send the
// answer to a call and end.
func (s *session) drain() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	select {
	case <-s.backend.Done():
	case <-timer.C:
	}
}

// broken returns how the stream of a worker ended that sent something other than messages, or nil.
func (s *session) broken() *wire.Broken {
	if s.worker == nil {
		return nil
	}
	broken, _ := errors.AsType[*wire.Broken](s.worker.transport.Err())
	return broken
}

// exit returns how it ended, for a sentence.
func (s *session) exit() string {
	if s.process == nil {
		return "its connection closed"
	}
	return s.process.Exit()
}

func (s *session) deathProblem() *plugin.Problem {
	stderr := s.stderr()
	if broken := s.broken(); broken != nil {
		return &plugin.Problem{Kind: broken.Kind, Message: broken.Message, Stderr: stderr}
	}
	return &plugin.Problem{
		Kind: "crashed", Message: "Its process ended (" + s.exit() + ").", Stderr: stderr, Hint: lastLines(stderr, 3),
	}
}

// finish has the process end by itself within a moment, or closes what has none.
func (s *session) finish() {
	if s.process != nil {
		s.process.End()
	} else {
		s.backend.Close()
	}
	s.watched.Wait()
}

// close lets it end by itself, in the background; the host's Close waits for it.
func (s *session) close() {
	if !s.asked.Swap(true) {
		s.r.h.tasks.spawn(s.finish) // ends with the process
	}
}

// end ends it and waits; calls that are open get why as their error.
func (s *session) end(why string) {
	s.noteKilled(why)
	s.finish()
}

// kill ends it at once, and it is not used again; the error of open calls is why.
func (s *session) kill(why string) {
	s.r.retireSession(s)
	s.noteKilled(why)
	if s.process != nil {
		s.process.Kill()
	} else {
		s.backend.Close()
	}
}

// noteKilled records why Conclave ends it; the first reason counts.
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

// selfReport holds what a plugin says about itself in addition to its tools.
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

// list asks for the tools, and for what else the plugin says about itself.
func (s *session) list(ctx context.Context, v version) ([]tool.Tool, selfReport, error) {
	offer, err := s.backend.List(ctx)
	if err != nil {
		return nil, selfReport{}, err
	}
	tools, said, left := []tool.Tool{}, selfReport{options: v.options, wakes: s.surface.reasons()}, 0
	if len(offer.Options) > 0 {
		said.options = usable(offer.Options)
	}
	for _, note := range offer.Notes {
		if text, _ := tool.Clean(note); text != "" && len(said.notes) < maxNotes {
			said.notes = append(said.notes, lastBytes(text, maxNote))
		}
	}
	for _, t := range offer.Tools {
		if len(t.Name) == 0 || len(t.Description)+len(t.Parameters) > limit.ToolDefinition ||
			len(tools) >= limit.PluginTools {
			s.r.e.logs("warn",
				fmt.Sprintf("The tool %.80q was left out: a plugin may offer %s tools of at most %s each, with a name.",
					t.Name, limit.Number(limit.PluginTools), limit.Size(limit.ToolDefinition)))
			left++
			continue
		}
		t.Plugin, t.Dialect = v.src.ID, v.manifest.Dialect
		t.Title, t.File = cmp.Or(t.Title, t.Name), cmp.Or(t.File, v.manifest.Entry)
		t.Instance = lastBytes(t.Instance, maxInstance)
		tools = append(tools, tool.Normal(t))
	}
	if left > 0 {
		said.notes = append(said.notes, limit.ToolsLeftOut(left))
	}
	return tools, said, nil
}

// maxInstance bounds what is on record of the object a tool belongs to, in bytes.
const maxInstance = 2 << 10
