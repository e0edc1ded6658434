package permit

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"conclave/app/fault"
	"conclave/app/tool"
)

// openRequest is a request that waits. It is taken from the gate's list exactly once,
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
	// previewing is how many of the calls that wait have their preview still made: until it is
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
func (g *Gate) takeLocked(match func(*openRequest) bool) []*openRequest {
	var taken []*openRequest
	g.requests = slices.DeleteFunc(g.requests, func(e *openRequest) bool {
		if match(e) {
			taken = append(taken, e)
			return true
		}
		return false
	})
	return taken
}

// describeLocked is a call as a person is shown it.
func (g *Gate) describeLocked(c *check, step int, r ruling) Request {
	call := c.call
	shown := showArguments(call.Arguments)
	p := Request{
		ID: newID("ask"), Nonce: newID("n"), Kind: KindCall, Caller: call.Caller, CallerName: shownName(call.CallerName),
		Plugin: call.Tool.Plugin, PluginName: g.pluginName(call.Tool.Plugin), Tool: call.Tool.ID(),
		Capabilities: append([]Capability{}, c.capabilities...), Inferred: c.inferred, Arguments: shown.raw,
		Reach: g.reachLocked(call.Tool.Plugin, call.Given), Reason: "Asked because: " + r.why + ".",
		Conversation: call.Conversation, Project: call.project, Turn: call.Turn, Call: call.ID, Count: 1,
		Scopes: []Scope{Once}, Asked: c.now, Expires: expiry(c.now), Hidden: shown.hidden + call.Tool.Hidden,
		Warnings: shown.warnings(),
	}
	p.Title = asks(CallerName(call.Caller, p.CallerName), p.PluginName, call.Tool, c.capabilities)
	if was := call.Original; was != nil {
		asked := showArguments(was.Arguments)
		p.Original = &Original{Tool: shownName(was.Tool), Arguments: asked.raw}
		p.Hidden += asked.hidden
		for _, m := range asked.marks {
			shown.marks = append(shown.marks, Mark{"as it was asked, " + m.Where, m.Text})
		}
	}
	p.Marks = bounded(append(shown.marks, marksOf("what the tool says of itself", call.Tool.Marked)...))
	if step == taintStep {
		p.Origins, p.Here = c.origins, c.here()
	}
	if call.Permission != "" {
		p.Fixed = true
		g.describePermission(&p, call, r)
		p.Hurried = g.pace.hurries(p)
		return p
	}
	p.Name, p.Doing = call.Tool.DisplayName(), call.Tool.Doing()
	p.Care = care(c.capabilities, g.foldersLocked(call.Tool.Plugin))
	if !r.once {
		p.Scopes = scopesOf(call)
		p.Matches, p.Free = g.places.suggest(call.Tool, call.Arguments)
	}
	var at string
	if p.Folder, at = g.places.folderNamed(call.Arguments); g.asksForLocked(p.Plugin, at) {
		p.Reach += " You are asked about " + p.Folder + " before it opens that."
	}
	u := g.uses[p.Tool]
	p.History = history(u.Yes, u.Allowed, c.now)
	p.Hurried = g.pace.hurries(p)
	return p
}

// expiry returns until when a request that is asked now can be answered. Round takes the monotonic
// reading away: a computer that sleeps does not stop the clock on the wall.
func expiry(now time.Time) time.Time { return now.Round(0).Add(AnswerTimeout) }

// overdue reports whether the time for an answer is over; a request about a plugin has all the time.
func (p *Request) overdue(now time.Time) bool { return !p.Expires.IsZero() && !now.Before(p.Expires) }

// scopesOf returns how long a call may be allowed that need not be asked about each time,
// narrowest first.
func scopesOf(call *Call) []Scope {
	scopes := []Scope{Once}
	if call.Turn != "" {
		scopes = append(scopes, ThisAnswer)
	}
	if call.Conversation != "" {
		scopes = append(scopes, ThisChat)
	}
	if call.project != "" {
		scopes = append(scopes, ThisProject)
	}
	return append(scopes, UntilQuit, Always)
}

// history is “Allowed 4 times, last on Tuesday.”, of the calls that a person allowed.
func history(times int, last, now time.Time) string {
	if times == 0 {
		return "Not allowed before."
	}
	count := "once"
	if times > 1 {
		count = fmt.Sprintf("%d times", times)
	}
	if last.IsZero() {
		return "Allowed " + count + "."
	}
	last = last.In(now.Location())
	when := "on " + last.Format("January 2, 2006")
	switch age := now.Sub(last); {
	case now.Format(time.DateOnly) == last.Format(time.DateOnly):
		when = "at " + last.Format("15:04")
	case age < 6*24*time.Hour:
		when = "on " + last.Weekday().String()
	}
	return "Allowed " + count + ", last " + when + "."
}

// callKey is equal for identical calls, which were asked for alike.
func callKey(call Call) string {
	key := string(call.Caller) + "\x00" + call.Tool.ID() + "\x00" + call.Tool.Digest + "\x00" +
		string(call.Conversation) + "\x00" + exact(call.Arguments)
	if was := call.Original; was != nil {
		key += "\x00" + was.Tool + "\x00" + exact(was.Arguments)
	}
	key += "\x00" + strings.Join(call.Because, "\x00")
	origins := make([]string, len(call.Taint)) // a person was not told of others
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

// joinLocked puts a call into the list of requests, or adds it to an identical one;
// first tells which. More calls are no longer what a person was shown, so that an answer to
// fewer is none.
func (g *Gate) joinLocked(call Call, step int, p Request) (joined *openRequest, first bool) {
	key := callKey(call)
	for _, e := range g.requests {
		if e.Kind == KindCall && e.key == key {
			e.waiters++
			e.Count, e.Nonce = e.waiters, newID("n")
			if call.Preview != nil {
				e.previewing++
			}
			return e, false
		}
	}
	e := &openRequest{Request: p, call: call, step: step, key: key, waiters: 1, done: make(chan struct{})}
	e.previewing, e.making = 1, true
	g.requests = append(g.requests, e)
	return e, true
}

// wait blocks until the request is resolved, its time is over, or ctx ends.
func (g *Gate) wait(ctx context.Context, e *openRequest, call Call, first bool) Decision {
	if first || call.Preview != nil {
		g.addPreview(ctx, e, &call)
	}
	if call.OnWait != nil { // before the notice: whoever hears that finds the call marked
		call.OnWait(e.ID)
	}
	defer g.asking(&call)()
	g.notify()
	// It stands still while the computer sleeps: who looks at the requests then, expires them.
	timer := time.NewTimer(e.Expires.Sub(g.o.Now()))
	defer timer.Stop()
	select {
	case <-e.done:
		return e.decision
	case <-timer.C:
		if g.take(e) {
			g.expire(e)
		}
		<-e.done
		return e.decision
	case <-ctx.Done():
	}
	g.mu.Lock()
	e.waiters--
	e.Count = max(e.waiters, 1)
	var left []*openRequest
	if e.waiters == 0 {
		left = g.takeLocked(func(o *openRequest) bool { return o == e })
	}
	g.mu.Unlock()
	for range left {
		e.resolve(stopped())
	}
	g.notify()
	return stopped()
}

// take takes one entry and reports whether it was still there.
func (g *Gate) take(e *openRequest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.takeLocked(func(o *openRequest) bool { return o == e })) == 1
}

// expire settles requests of calls that nobody answered in time, which were taken.
func (g *Gate) expire(over ...*openRequest) {
	for _, e := range over {
		e.resolve(expired(e.step))
	}
	if len(over) > 0 {
		g.notify()
	}
}

// takeOverdueLocked takes the requests that nobody answered in time: those left by a program that
// died have no waiter to watch the clock, and the clock of others stood still while the computer
// slept.
func (g *Gate) takeOverdueLocked() []*openRequest {
	now := g.o.Now()
	return g.takeLocked(func(e *openRequest) bool { return e.overdue(now) })
}

// Requests returns the requests that wait for a person, oldest first: each once what it would do
// can be shown with it.
func (g *Gate) Requests() []Request {
	g.mu.Lock()
	over := g.takeOverdueLocked()
	list := make([]Request, 0, len(g.requests))
	for _, e := range g.requests {
		if !e.making {
			list = append(list, e.Request)
		}
	}
	g.mu.Unlock()
	g.expire(over...)
	return list
}

// Answer answers a request. The first answer counts; for later ones, for a request
// that expired, for one to which another was added since the nonce, and for a yes to what is not
// all shown yet, the kind is conflict.
// An answer that the request did not offer has kind invalid, and the request goes on waiting.
// If the rule that an answer makes could not be written, it holds until Conclave quits, and the
// error says so.
func (g *Gate) Answer(ctx context.Context, id, nonce string, a Answer) error {
	const op = "permit.answer"
	g.mu.Lock()
	over := g.takeOverdueLocked()
	defer g.expire(over...)
	i := slices.IndexFunc(g.requests, func(e *openRequest) bool { return e.ID == id })
	if i < 0 {
		g.mu.Unlock()
		return fault.New(fault.Conflict, op, "This request was settled already.", "Look at the list again.")
	}
	if g.requests[i].Nonce != nonce {
		g.mu.Unlock()
		return fault.New(fault.Conflict, op, "This request is not what it was: another was added to it,"+
			" or more of it is shown.", "Look at it again.")
	}
	e := g.requests[i]
	if e.previewing > 0 && a.Effect == Allow {
		g.mu.Unlock()
		return fault.New(fault.Conflict, op, "What this request would do is not all shown yet.", "Look at it again.")
	}
	if err := e.accepts(a); err != nil {
		g.mu.Unlock()
		return err
	}
	g.requests = slices.Delete(g.requests, i, i+1)
	shown := e.Request // to which a call that joined may yet add
	g.mu.Unlock()

	defer g.notify()
	if e.Kind != KindCall {
		return g.recordAnswer(ctx, e.version, a, "person")
	}
	d, err := g.apply(context.WithoutCancel(ctx), e.call, e.step, shown, a, "person")
	e.resolve(d)
	return err
}

// recheckWaiting resolves the calls that wait and that a rule now decides, and tells
// whoever listens. Each of the calls that wait as one is a use of the rule, or a call of the
// unattended mode; where not as many are left, all go on waiting.
func (g *Gate) recheckWaiting() {
	type resolved struct {
		e       *openRequest
		d       Decision
		counted *Rule
	}
	var over []resolved
	g.mu.Lock()
	for _, e := range slices.Clone(g.requests) {
		if e.Kind != KindCall {
			continue
		}
		c := g.checkLocked(&e.call)
		var path []Step
		step, r := c.walk(func(s Step) { path = append(path, s) })
		if r.effect == Ask || g.leftLocked(r) < e.waiters {
			continue
		}
		g.takeLocked(func(o *openRequest) bool { return o == e })
		var d Decision
		var counted *Rule
		for range e.waiters {
			d, counted = g.rulingLocked(&e.call, step, r)
		}
		d.Path, d.Alone = path, c.alone
		over = append(over, resolved{e, d, counted})
	}
	g.mu.Unlock()
	for _, s := range over {
		s.e.resolve(g.counted(g.base, s.d, s.counted))
	}
	g.notify()
}

// leftLocked returns how many calls a ruling may still release.
func (g *Gate) leftLocked(r ruling) int {
	if r.effect != Allow {
		return math.MaxInt
	}
	if r.by == byUnattended {
		return g.unattended.Calls
	}
	if rule := g.byID[r.rule]; rule != nil && rule.MaxUses > 0 {
		return rule.MaxUses - rule.Uses
	}
	return math.MaxInt
}
