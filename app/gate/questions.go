package gate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/tool"
)

// Questions holds the requests that wait for a person, and the windows that show them. Its methods
// are safe for concurrent use.
type Questions struct {
	*shared
	decisions *Decisions
	approvals *Approvals
	rules     *Rules
	reach     *Reach

	mu       sync.Mutex     // guards the fields below; may be taken within a transaction of decisions
	requests []*openRequest // oldest first
	pace     pace           // at which the person allows
	windows  int
	closed   bool
	onAsking func(plugin string) (answered func())
}

// openRequest is a request that waits. It is taken from the list exactly once,
// by whoever settles it: an answer, the clock, the last waiter that leaves, the
// last window. Everything but waiters, previewing, making, Count, Nonce and the previews is fixed
// once it is in the list.
type openRequest struct {
	Request
	call    Call // a call's, the first of those merged
	step    int
	key     string // what makes calls identical
	version PluginVersion
	waiters int
	// previewing counts the waiting calls whose preview is not ready: until it is
	// shown, a person does not know what they would allow
	previewing int
	// making is set until what the calls would do can be shown for the first time: before that
	// there is nothing to be answered
	making bool
	// previews are those of the calls that wait, each once; Preview shows them together
	previews []*Preview

	done     chan struct{} // closed by resolve
	decision Decision
}

// resolve lets the waiters go. Only who took the request calls it.
func (e *openRequest) resolve(d Decision) {
	e.decision = d
	close(e.done)
}

// takeLocked removes the entries that match and returns them.
func (q *Questions) takeLocked(match func(*openRequest) bool) []*openRequest {
	var taken []*openRequest
	q.requests = slices.DeleteFunc(q.requests, func(e *openRequest) bool {
		if match(e) {
			taken = append(taken, e)
			return true
		}
		return false
	})
	return taken
}

// callKey is equal for identical calls, which were asked for alike.
func callKey(call Call) string {
	key := string(call.Caller) + "\x00" + call.Tool.ID() + "\x00" + call.Tool.Digest + "\x00" +
		string(call.Conversation) + "\x00" + exact(call.Arguments)
	if was := call.Original; was != nil {
		key += "\x00" + was.Tool + "\x00" + exact(was.Arguments)
	}
	key += "\x00" + strings.Join(call.Because, "\x00")
	origins := make([]string, len(call.Taint)) // the question named no others
	for i, o := range call.Taint {
		origins[i] = o.String()
	}
	slices.Sort(origins)
	for _, o := range origins {
		key += "\x00" + o
	}
	return key
}

// exact returns the same for arguments that are the same to every program. Where a name stands
// twice, programs differ in which of the two they take.
func exact(arguments json.RawMessage) string {
	if text, err := tool.Written(arguments); err == nil && !Repeats(arguments) {
		return string(text)
	}
	return string(arguments)
}

// join puts a call into the list of requests, or adds it to an identical one; first reports which.
// It is nil where no window shows requests. More calls are no longer what a person was shown, so
// that an answer to fewer is none. It is called within the transaction that asks.
func (q *Questions) join(call Call, r ruling, p Request) (joined *openRequest, first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.windows == 0 || q.closed {
		return nil, false
	}
	key := callKey(call)
	for _, e := range q.requests {
		if e.Kind == KindCall && e.key == key {
			e.waiters++
			e.Count, e.Nonce = e.waiters, newID("n")
			if call.Preview != nil {
				e.previewing++
			}
			return e, false
		}
	}
	p.Rapid = q.pace.rapid(p)
	e := &openRequest{Request: p, call: call, step: r.last().Number, key: key, waiters: 1, done: make(chan struct{})}
	e.previewing, e.making = 1, true
	q.requests = append(q.requests, e)
	return e, true
}

// wait blocks until the request is resolved, its time is over, or ctx ends.
func (q *Questions) wait(ctx context.Context, e *openRequest, call Call, first bool) Decision {
	if first || call.Preview != nil {
		q.addPreview(ctx, e, &call)
	}
	if call.OnWait != nil { // before the notice: whoever hears that finds the call marked
		call.OnWait(e.ID)
	}
	defer q.asking(&call)()
	q.notify()
	// It stands still while the computer sleeps: who looks at the requests then, expires them.
	timer := time.NewTimer(e.Expires.Sub(q.now()))
	defer timer.Stop()
	select {
	case <-e.done:
		return e.decision
	case <-timer.C:
		if q.take(e) {
			q.expire(e)
		}
		<-e.done
		return e.decision
	case <-ctx.Done():
	}
	q.mu.Lock()
	e.waiters--
	e.Count = max(e.waiters, 1)
	var left []*openRequest
	if e.waiters == 0 {
		left = q.takeLocked(func(o *openRequest) bool { return o == e })
	}
	q.mu.Unlock()
	for range left {
		e.resolve(stopped())
	}
	q.notify()
	return stopped()
}

// take takes one entry and reports whether it was still there.
func (q *Questions) take(e *openRequest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.takeLocked(func(o *openRequest) bool { return o == e })) == 1
}

// expire settles requests of calls that nobody answered in time, which were taken.
func (q *Questions) expire(over ...*openRequest) {
	for _, e := range over {
		e.resolve(expired(e.step))
	}
	if len(over) > 0 {
		q.notify()
	}
}

// takeOverdueLocked takes the requests that nobody answered in time: those left by a program that
// died have no waiter to watch the clock, and the clock of others stood still while the computer
// slept.
func (q *Questions) takeOverdueLocked() []*openRequest {
	now := q.now()
	return q.takeLocked(func(e *openRequest) bool { return e.overdue(now) })
}

// List returns the requests that wait for a person, oldest first: each once what it would do
// can be shown with it.
func (q *Questions) List() []Request {
	q.mu.Lock()
	over := q.takeOverdueLocked()
	list := make([]Request, 0, len(q.requests))
	for _, e := range q.requests {
		if !e.making {
			list = append(list, e.Request)
		}
	}
	q.mu.Unlock()
	q.expire(over...)
	return list
}

// Answer answers a request. The first answer counts; for later ones, for a request
// that expired, for one to which another was added since the nonce, and for a yes to what is not
// all shown yet, the kind is conflict.
// An answer that the request did not offer has kind invalid, and the request goes on waiting.
// If the rule that an answer makes could not be written, it holds until Conclave quits, and the
// error says so.
func (q *Questions) Answer(ctx context.Context, id, nonce string, a Answer) error {
	e, shown, err := q.answer(id, nonce, a)
	if err != nil {
		return err
	}
	defer q.notify()
	if e.Kind != KindCall {
		return q.approvals.record(ctx, e.version, a, ApproveOptions{})
	}
	d, err := q.apply(context.WithoutCancel(ctx), e.call, e.step, shown, a, "person")
	e.resolve(d)
	return err
}

// answer takes the request that an answer is for. shown is what the person saw of it: a call that joined
// may yet add to the other.
func (q *Questions) answer(id, nonce string, a Answer) (e *openRequest, shown Request, err error) {
	conflict := func(message, hint string) (*openRequest, Request, error) {
		return nil, Request{}, fault.New(fault.Conflict, "gate.answer", message, hint)
	}
	q.mu.Lock()
	over := q.takeOverdueLocked()
	defer q.expire(over...)
	defer q.mu.Unlock()
	i := slices.IndexFunc(q.requests, func(e *openRequest) bool { return e.ID == id })
	if i < 0 {
		return conflict("This request was settled already.", "Look at the list again.")
	}
	e = q.requests[i]
	if e.Nonce != nonce {
		return conflict("This request is not what it was: another was added to it, or more of it is shown.",
			"Look at it again.")
	}
	if e.previewing > 0 && a.Effect == Allow {
		return conflict("What this request would do is not all shown yet.", "Look at it again.")
	}
	if err := e.accepts(a); err != nil {
		return nil, Request{}, err
	}
	q.requests = slices.Delete(q.requests, i, i+1)
	return e, e.Request, nil
}

// recheck resolves the calls that wait and that a rule now decides, and publishes
// the change. Each of the calls that wait as one is a use of the rule, or a call of the
// unattended mode; where not as many are left, all go on waiting.
func (q *Questions) recheck() {
	type resolved struct {
		e       *openRequest
		d       Decision
		counted *Rule
	}
	var over []resolved
	f := q.decisions.lock()
	q.mu.Lock()
	for _, e := range slices.Clone(q.requests) {
		if e.Kind != KindCall {
			continue
		}
		c := f.check(&e.call)
		r := c.walk()
		if r.effect == Ask || f.usesLeft(r) < e.waiters {
			continue
		}
		q.takeLocked(func(o *openRequest) bool { return o == e })
		var d Decision
		var counted *Rule
		for range e.waiters {
			d, counted = q.decisions.settleLocked(&e.call, r)
		}
		d.Alone = c.alone
		over = append(over, resolved{e, d, counted})
	}
	q.mu.Unlock()
	q.decisions.unlock()
	for _, s := range over {
		s.e.resolve(q.rules.counted(q.base, s.d, s.counted))
	}
	q.notify()
}

func (q *Questions) notify() { q.bus.Changed(bus.Permissions, "") }

// OnAsking has f called before a person is asked about a permission that a plugin is using,
// and what f returns once they need not answer any more. The last f counts.
func (q *Questions) OnAsking(f func(plugin string) (answered func())) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.onAsking = f
}

// asking calls the function of OnAsking, and returns the one to be called afterwards.
func (q *Questions) asking(call *Call) (answered func()) {
	q.mu.Lock()
	f := q.onAsking
	q.mu.Unlock()
	if f == nil || call.Permission == "" {
		return func() {}
	}
	return f(call.Tool.Plugin)
}

// Attach records that a window shows requests, until the caller calls detach. While none
// is attached, a call that has no Asker is denied at once; when the last one
// detaches, the calls that wait are denied.
func (q *Questions) Attach() (detach func()) {
	q.mu.Lock()
	q.windows++
	q.mu.Unlock()
	return sync.OnceFunc(func() {
		q.mu.Lock()
		q.windows--
		var left []*openRequest
		if q.windows == 0 {
			left = q.takeLocked(isCall)
		}
		q.mu.Unlock()
		closed("the window", left)
	})
}

// close denies every call that still waits.
func (q *Questions) close() {
	q.mu.Lock()
	q.closed = true
	left := q.takeLocked(isCall)
	q.mu.Unlock()
	closed("Conclave", left)
}

// closed denies calls that were taken, since who would have shown them was closed.
func closed(what string, left []*openRequest) {
	for _, e := range left {
		e.resolve(Decision{
			Effect: Deny, Step: e.step, By: "nobody to ask", Why: what + " was closed before you answered",
			Reason: what + " was closed before anybody answered",
		})
	}
}

func isCall(e *openRequest) bool { return e.Kind == KindCall }

// isAbout returns a function that reports the requests to approve a plugin.
func isAbout(plugin string) func(*openRequest) bool {
	return func(e *openRequest) bool { return e.Kind != KindCall && e.Plugin == plugin }
}

// Drop removes the requests to approve a plugin that is gone or switched off. Its
// approval stays, for a plugin that comes back unchanged.
func (q *Questions) Drop(plugin string) {
	q.mu.Lock()
	dropped := q.takeLocked(isAbout(plugin))
	q.mu.Unlock()
	if len(dropped) > 0 {
		q.notify()
	}
}

// Propose adds a request to approve the version, unless one waits already, Status
// approves the version, or the person rejected it before. It does not wait; OnDecided
// hears the answer.
func (q *Questions) Propose(c PluginVersion) {
	c = normalVersion(c)
	f := q.decisions.lock()
	q.approvals.knowLocked(c)
	_, news := q.news(f, c)
	compared := q.approvals.comparedLocked(c)
	q.decisions.unlock()
	if !news {
		return
	}
	warnings := compared.found()
	f = q.decisions.lock()
	changes, news := q.news(f, c) // it may be answered by now
	if news {
		q.mu.Lock()
		q.takeLocked(isAbout(c.Plugin))
		q.requests = append(q.requests, &openRequest{
			Request: f.describeVersion(c, changes, warnings), version: c, done: make(chan struct{}),
		})
		q.mu.Unlock()
	}
	q.decisions.unlock()
	if news {
		q.notify()
	}
}

// news reports whether a person is to be asked about a version, and is not yet; and what it
// changes. It is called within a transaction.
func (q *Questions) news(f *facts, c PluginVersion) (changes []Change, news bool) {
	status, changes := f.status(c)
	if status != Waiting || slices.Contains(f.approvals[c.Plugin].Rejected, c.key()) {
		return changes, false
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return changes, !slices.ContainsFunc(q.requests, func(e *openRequest) bool {
		return isAbout(c.Plugin)(e) && e.version.key() == c.key()
	})
}

// AskApproval returns the status of the version and, while that is Waiting, asks asker
// for approval; without an asker, a person at a window, for as long as ctx lasts. With
// nobody to ask the status stays Waiting. The error is a fault when an answer could
// not be saved.
func (q *Questions) AskApproval(ctx context.Context, c PluginVersion, asker Asker) (ApprovalStatus, error) {
	c = normalVersion(c)
	status, changes := q.approvals.Status(c)
	if status != Waiting {
		return status, nil
	}
	if asker == nil {
		return q.awaitDecision(ctx, c)
	}
	q.decisions.lock()
	compared := q.approvals.comparedLocked(c)
	q.decisions.unlock()
	warnings := compared.found()
	p := q.decisions.lock().describeVersion(c, changes, warnings)
	q.decisions.unlock()
	a, err := asker.Ask(ctx, p)
	switch {
	case ctx.Err() != nil:
		return Waiting, context.Cause(ctx)
	case errors.Is(err, ErrNobody):
		return Waiting, nil
	case err != nil:
		return Waiting, fmt.Errorf("ask about the plugin %s: %w", c.Plugin, err)
	}
	if err := q.approvals.record(ctx, c, a, ApproveOptions{By: by(asker)}); err != nil {
		return Waiting, err
	}
	status, _ = q.approvals.Status(c)
	return status, nil
}

// awaitDecision proposes the version and waits until a person has decided about its
// plugin.
func (q *Questions) awaitDecision(ctx context.Context, c PluginVersion) (ApprovalStatus, error) {
	decided := make(chan struct{}, 1)
	stop := q.approvals.OnDecided(func(plugin string) {
		if plugin == c.Plugin {
			select {
			case decided <- struct{}{}:
			default: // a wake-up is due already
			}
		}
	})
	defer stop()
	q.Propose(c)
	q.mu.Lock()
	nobody := q.windows == 0
	q.mu.Unlock()
	if nobody {
		return Waiting, nil
	}
	select {
	case <-decided:
		status, _ := q.approvals.Status(c)
		return status, nil
	case <-ctx.Done():
		return Waiting, context.Cause(ctx)
	}
}

// addPreview adds to a request what a call that waits with it would do. Reading that needs no
// lock. Several calls are answered as one if they are asked for alike, but two connections to
// one host may be for very different things. An answer to what was shown before is none, nor is
// a yes before this returns.
func (q *Questions) addPreview(ctx context.Context, e *openRequest, call *Call) {
	found := q.reach.preview(ctx, call, &e.Request)
	q.mu.Lock()
	defer q.mu.Unlock()
	e.previewing--
	e.making = e.making && e.previewing > 0
	if found == nil || slices.ContainsFunc(e.previews, found.equal) {
		return
	}
	if e.previews = append(e.previews, found); len(e.previews) > maxPreviews {
		left := *e.previews[0]
		left.Left += e.previews[1].Left + len(e.previews[1].Lines)
		e.previews = append([]*Preview{&left}, e.previews[2:]...)
	}
	e.Preview, e.Nonce = together(e.previews), newID("n")
}

// maxPreviews bounds the previews in one question; of more it shows the first and the newest.
const maxPreviews = previewLines / 4
