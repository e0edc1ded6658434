package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/wire"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
)

// session is one run of a plugin: its backend, and the process behind that where there is one. It is
// made by runner.startSession and ended by close, end or kill; watch waits for the end.
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

	// uses and what follows are guarded by the runner's mutex.
	uses   int         // calls and listings under way
	spent  bool        // never to be used again
	freed  time.Time   // when the last of them was given back
	listed []tool.Tool // its tools when it listed them last; nil before

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

// speaks reports whether the process knows conclave/… keys and gets events.
func (s *session) speaks() bool { return s.worker != nil && s.worker.speaks }

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

// lastLines returns the last n lines that hold something.
func lastLines(text string, n int) string {
	lines := slices.DeleteFunc(strings.Split(text, "\n"), func(l string) bool { return strings.TrimSpace(l) == "" })
	return strings.Join(lines[max(0, len(lines)-n):], "\n")
}

// lastError returns the last line of what a program wrote as it ended that names an error, as those of Python and Node
// do; else its last three lines. What Node writes behind its error says nothing.
func lastError(text string) string {
	found := ""
	for line := range strings.Lines(text) {
		name, words, _ := strings.Cut(strings.TrimSpace(line), ": ")
		if words != "" && !strings.ContainsAny(name, " \"'{") &&
			(strings.HasSuffix(name, "Error") || strings.HasSuffix(name, "Exception")) {
			found = name + ": " + shorten.To(words, maxNote)
		}
	}
	return cmp.Or(found, lastLines(text, 3))
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
	idle := s.r.version().facts().Idle
	pause := quotaPause
	if idle > 0 {
		pause = min(pause, idle)
	}
	count := time.NewTicker(pause)
	defer count.Stop()
	var ended <-chan struct{} // never, where there is no process
	if s.process != nil {
		ended = s.process.Done()
	}
	for running := true; running; {
		select {
		case <-count.C:
			s.overfull()
			s.r.endIdle(s, idle)
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
