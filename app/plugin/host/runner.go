package host

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// grace limits how long a process may answer past a call's deadline, or after a
// cancellation, before it is killed (docs/WIRE.md, section 8).
const grace = 500 * time.Millisecond

// maxDeaths within deathWindow rest a plugin: three in a minute (docs/PLUGINS.md).
const (
	maxDeaths   = 3
	deathWindow = time.Minute
)

// runner runs one version of a plugin: it starts the process at the first call,
// starts it again after it died, and lets it finish what it is doing once a newer
// version took over. It is the tool.Invoker of that version's tools.
//
// A call holds its session by a use; retire ends the session when the last use
// is given back.
type runner struct {
	h *Host
	e *entry

	spec atomic.Pointer[sandbox.Spec] // what its process was started with last; nil for one that has none

	mu      sync.Mutex // guards the fields below
	v       version
	live    *session
	opening chan struct{} // closed when the start under way is over
	retired bool
	deaths  []time.Time
	rested  *plugin.Problem // why it is not started again
	calls   uint64
	errors  uint64
	used    time.Time
	stops   map[*context.CancelCauseFunc]struct{} // of the calls under way
	relist  bool                                  // the process said that its tools changed
	listing bool                                  // they are being listed
	listed  []time.Time                           // when that was done, within listWindow
}

func newRunner(h *Host, e *entry, v version) *runner {
	return &runner{h: h, e: e, v: v, stops: map[*context.CancelCauseFunc]struct{}{}}
}

// version returns what r runs.
func (r *runner) version() version {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.v
}

// setVersion replaces what is known of the version: the same source, with its listing.
func (r *runner) setVersion(v version) {
	r.mu.Lock()
	r.v = v
	r.mu.Unlock()
}

// release gives back a use of s.
func (r *runner) release(s *session) {
	r.letGo(func() *session { s.uses--; s.freed = time.Now(); return s })
}

// endIdle ends a session that nobody has used for so long; 0 is never. The next call starts another.
func (r *runner) endIdle(s *session, after time.Duration) {
	if r.e.now().state.KeepRunning {
		return
	}
	r.letGo(func() *session {
		if after > 0 && s.uses == 0 && !s.spent && time.Since(s.freed) >= after {
			s.spent = true
		}
		return s
	})
}

// retire lets the process finish its calls and end. Calls that come later (a
// turn that froze the older set) still start it again.
func (r *runner) retire() {
	r.letGo(func() *session { r.retired = true; return r.live })
}

// renew lets the process finish its calls and end; the next call starts another.
func (r *runner) renew() {
	r.letGo(func() *session {
		if r.live != nil {
			r.live.spent = true
		}
		return r.live
	})
}

// renewUnlessListed is renew of a process that did not list the tools that its version has by now: another process of
// the same files did.
func (r *runner) renewUnlessListed() {
	r.mu.Lock()
	other := r.live != nil && !sameTools(r.live.listed, r.v.tools)
	r.mu.Unlock()
	if other {
		r.renew()
	}
}

// letGo changes a session, or its runner, under the lock, and ends the session that change returns
// where nobody uses it any more nor will.
func (r *runner) letGo(change func() *session) {
	r.mu.Lock()
	s := change()
	end := s != nil && s.uses == 0 && (s.spent || r.retired)
	if s != nil && s == r.live && (s.spent || end) {
		r.live = nil
	}
	r.mu.Unlock()
	if end {
		s.close()
	}
}

// retireSession has s not used again: it missed a deadline or has ended.
func (r *runner) retireSession(s *session) {
	r.mu.Lock()
	s.spent = true
	if r.live == s {
		r.live = nil
	}
	r.mu.Unlock()
}

// notify sends the process an event, if it runs and is one of ours.
func (r *runner) notify(name string, payload any) {
	s := r.current()
	if s == nil || !s.speaks() {
		return
	}
	if err := s.worker.transport.Notify(name, payload); err != nil {
		r.h.o.Log.Warn("an event did not reach a plugin", "plugin", r.e.id, "err", err)
	}
}

// interrupt ends the calls under way.
func (r *runner) interrupt(why error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for stop := range r.stops {
		(*stop)(why)
	}
}

// started notes how the start of a plugin went that is started when it is used: its card shows what a person can do,
// and one that fails again and again rests.
func (r *runner) started(ctx context.Context, err error) {
	if !r.h.Dialects.patient(r.version().src) || r.e.runner() != r || ctx.Err() != nil {
		return
	}
	var p *plugin.Problem
	if err != nil {
		p = plugin.ProblemOf(err)
	}
	r.e.step(lateStarted{r, p})
	if p != nil && lacking[p.Kind] == "" {
		r.died(p)
	}
}

// died is called once per process that ended without being asked to.
func (r *runner) died(why *plugin.Problem) {
	rests := r.version().facts().Rests
	r.mu.Lock()
	now := time.Now()
	recent := r.deaths[:0]
	for _, t := range r.deaths {
		if now.Sub(t) < deathWindow {
			recent = append(recent, t)
		}
	}
	r.deaths = append(recent, now)
	rest := len(r.deaths) >= maxDeaths
	if rest {
		r.rested = &plugin.Problem{
			Kind: why.Kind, Stderr: why.Stderr,
			Message: fmt.Sprintf("It ended %d times within a minute and rests now; last: %s", len(r.deaths), why.Message),
			Hint:    "Read its log, then reload it.",
		}
	}
	p := r.rested
	r.mu.Unlock()
	r.e.logs("error", why.Message)
	if rest {
		if again := r.e.rests.next(rests); again > 0 {
			p.Hint = "It is used again from " + now.Add(again).Local().Format("15:04") + ", or once you reload it. Read its log."
			r.h.tasks.spawn(func() { serveAfter(r.e, again) }) // ends after that, or with Close
		}
		r.e.step(processDied{r, p, r.version().forApproval()})
	}
	r.h.o.Bus.Changed(bus.Plugins, "")
}

// describe adds what the runner knows to a status.
func (r *runner) describe(s *plugin.Status) {
	r.mu.Lock()
	s.Calls, s.Errors, s.LastUsed = r.calls, r.errors, r.used
	live := r.live
	r.mu.Unlock()
	if live != nil {
		s.Running = true
		if live.process != nil {
			s.Usage = live.process.Usage()
		}
		s.Notes = append(slices.Clone(s.Notes), live.jobs.notes()...)
	}
}

// Call runs one call of a tool of this version. See tool.Invoker.
func (r *runner) Call(ctx context.Context, call tool.Call) (tool.Result, error) {
	result := r.call(ctx, call)
	if v := r.version(); result.Traceback != "" && v.src.HasFiles() { // a person knows the plugin by its own folder
		result.Traceback = strings.ReplaceAll(result.Traceback, r.e.files.copyOf(v).Path, v.src.Display)
	}
	r.explainDeath(call.Tool.Name, &result)
	outside, authors, heard := r.e.memory.repeats(r.access())
	on, _ := gate.Behalf(ctx)
	result.Outside, result.Shared = outside, chat.OriginsBy(authors)
	result.Kept = without(chat.AddOrigins(heard, result.Kept...), on.Taint)
	r.mu.Lock()
	r.calls++
	r.used = time.Now()
	if result.Status != chat.CallOK {
		r.errors++
	}
	r.mu.Unlock()
	return result, nil
}

// explainDeath completes the error of a call that lost its process, or ran out of
// memory: which tool of which plugin, and what to do next. The beginnings of these
// texts are fixed by contract (contracts/llm-functions, section 8.5).
func (r *runner) explainDeath(name string, result *tool.Result) {
	switch {
	case result.Status == chat.CallDied && strings.HasPrefix(result.Error, "the tool process "):
		result.Error = strings.TrimSuffix(result.Error, ".") + fmt.Sprintf(
			" while %s of the plugin %s ran. The next call starts it again; its log shows what it wrote last.", name, r.e.id)
	case result.Status == chat.CallRaised && result.ErrorType == outOfMemory &&
		strings.Trim(result.Error, ": ") == outOfMemory:
		result.Error = fmt.Sprintf("%s: %s of the plugin %s needed more memory than it may have. Ask it for less at once.",
			outOfMemory, name, r.e.id)
	case result.Status == chat.CallRaised && strings.HasSuffix(result.Error, noThread):
		if spec := r.spec.Load(); spec != nil && spec.Memory > 0 {
			result.Error += fmt.Sprintf(": the stacks of the threads that it has fill the %d MiB of memory of its process. "+
				"Use fewer at once, or smaller stacks (threading.stack_size).", spec.Memory>>20)
		}
	}
}

// noThread is all that Python says of a thread that could not be started.
const noThread = "can't start new thread"

// outOfMemory is all that Python says of a failed allocation.
const outOfMemory = "MemoryError"

func (r *runner) call(ctx context.Context, call tool.Call) tool.Result {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r.mu.Lock()
	r.stops[&stop] = struct{}{}
	r.mu.Unlock()
	defer func() {
		r.mu.Lock()
		delete(r.stops, &stop)
		r.mu.Unlock()
	}()
	defer r.h.Calls.begin(ctx, r.e.grantee())()
	result, unsent := r.once(ctx, call)
	if unsent { // the process had ended, unnoticed, while nobody used it
		result, _ = r.once(ctx, call)
	}
	return result
}

// once runs a call on the process there is, or on a new one. It reports unsent
// when no code of the plugin can have seen the call.
func (r *runner) once(ctx context.Context, call tool.Call) (result tool.Result, unsent bool) {
	if r.e.disabled() {
		return r.unusable(ctx, errOff), false
	}
	on, ok := gate.Behalf(ctx)
	if ok && takenFrom(on.Caller, call.Tool) && r.e.switchedOff(call.Tool.Name) {
		return tool.Result{
			Status: chat.CallRefused, Error: "the tool " + call.Tool.Name + " was switched off by the person",
		}, false
	}
	startCtx, cancel := context.WithDeadlineCause(ctx, call.Deadline, errDeadline)
	s, err := r.use(startCtx)
	cancel()
	if err != nil {
		return r.unusable(ctx, err), false
	}
	defer r.release(s)
	s.hears(on.Taint, call.Arguments)
	result, unsent = s.call(ctx, call)
	s.keeps(false)
	result.Kept = s.origins()
	return result, unsent
}

// takenFrom reports whether switching a tool off takes it from a caller: answers and councils that go
// on have the tools that they began with. Those that are for members by themselves stay theirs
// ([council.Eligible]), and a person calls what they like.
func takenFrom(caller gate.Caller, t tool.Tool) bool {
	return caller == gate.Main || caller.IsMember() && !t.CouncilEligible
}

var errDeadline = errors.New("the call's deadline has passed")

// errOff ends the calls of a plugin that is switched off.
var errOff = fault.New(fault.NotAllowed, "plugin.call", "You switched the plugin off.", "")

// unusable is the result of a call whose process could not be had.
func (r *runner) unusable(ctx context.Context, err error) tool.Result {
	switch {
	case errors.Is(err, errDeadline):
		return tool.Result{Status: chat.CallTimeout}
	case ctx.Err() != nil:
		return tool.Result{Status: chat.CallCancelled, Error: reason(ctx)}
	case errors.Is(err, errOff):
		return tool.Result{Status: chat.CallDied, Error: "the plugin " + r.e.id + " was switched off by the person"}
	case errors.Is(err, errNewer):
		return tool.Result{Status: chat.CallDied, Error: "the plugin " + r.e.id +
			" was changed since; its newest version may have this tool still"}
	}
	p := plugin.ProblemOf(err)
	return tool.Result{
		Status: chat.CallDied, Error: "the plugin " + r.e.id + " could not be started: " + p.Error(),
		ErrorType: p.Type, Traceback: p.Frame,
	}
}
