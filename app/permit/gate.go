package permit

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/bus"
	"conclave/app/fault"
	"conclave/app/tool"
)

// Options say what a Gate works with. Every field may be left out.
type Options struct {
	Store Store // nil: nothing outlives the program
	Bus   *bus.Bus
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
	Mode  func() Mode      // the person's mode, read at each decision; nil: Standard
	// Protected are folders that no tool may touch: Conclave's own data.
	Protected []string
	// Plugins is the plugins folder, of which no plugin is given anything.
	Plugins string
}

// Gate decides. Use Open, and Close when done. Its methods are safe for
// concurrent use; none of them does I/O or calls back under its lock.
type Gate struct {
	o         Options
	base      context.Context // Open's without its end: for writes that follow from no one's call
	home      string
	protected []string

	mu          sync.Mutex // guards the fields below
	grants      []*Grant   // of every scope
	touched     map[string]bool
	approvals   map[string]Approval
	known       map[string]Candidate // the newest that asked, by plugin
	released    map[string]bool      // "plugin:tool digest" of definitions approved in this run
	pending     []*openRequest       // oldest first
	beforeRun   map[string]*Approval // of plugins approved for a run only: what was said before, or nil
	allowedOnce map[string]bool      // calls that were allowed after their program had died
	uses        map[string]Use       // by tool id
	unwritten   map[string]bool      // tool ids whose use the store does not have yet
	writing     *time.Timer          // writes them; nil while nothing is due
	writes      sync.WaitGroup       // the timer that runs, or is to run
	paused      bool
	windows     int
	closed      bool
	listeners   map[*func(string)]struct{}
}

// usesWritten is how long uses gather before they are written: they only say when
// a tool was used last, so a crash may lose a minute of them, and calls that follow
// closely cost no write each.
const usesWritten = time.Minute

// Open reads what was remembered. A store that cannot be read is an error: a
// refusal that nobody can read must not become a yes.
func Open(ctx context.Context, o Options) (*Gate, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Mode == nil {
		o.Mode = func() Mode { return Standard }
	}
	if o.Bus == nil {
		o.Bus = bus.New()
	}
	home := homeFolder()
	g := &Gate{
		o: o, base: context.WithoutCancel(ctx), home: home, protected: protectedPaths(home, o.Protected),
		touched: map[string]bool{}, approvals: map[string]Approval{}, known: map[string]Candidate{},
		released:  map[string]bool{},
		beforeRun: map[string]*Approval{}, allowedOnce: map[string]bool{}, uses: map[string]Use{},
		unwritten: map[string]bool{},
		listeners: map[*func(string)]struct{}{},
	}
	if o.Store != nil {
		grants, err := o.Store.Grants(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the permissions: %w", err)
		}
		approvals, err := o.Store.Approvals(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the approvals: %w", err)
		}
		for i := range grants {
			g.grants = append(g.grants, &grants[i])
			id := grants[i].Plugin + ":" + grants[i].Tool
			g.uses[id] = Use{g.uses[id].Times + grants[i].Uses, latest(g.uses[id].Last, grants[i].LastUsed)}
		}
		uses, err := o.Store.Uses(ctx)
		if err != nil { // they decide nothing
			o.Log.Warn("when tools were last used cannot be read", "err", err)
		}
		for id, u := range uses { // the uses of grants are among them
			g.uses[id] = Use{max(u.Times, g.uses[id].Times), latest(u.Last, g.uses[id].Last)}
		}
		for _, a := range approvals {
			g.approvals[a.Plugin] = a
			g.releaseLocked(a)
		}
		if err := g.restore(ctx); err != nil {
			return nil, fmt.Errorf("read the requests that wait: %w", err)
		}
	}
	return g, nil
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// Close answers every call that still waits with no, and writes when grants and
// tools were last used. It may be called more than once.
func (g *Gate) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	if g.writing != nil && g.writing.Stop() {
		g.writes.Done()
	}
	g.writing = nil
	resolved := g.takeLocked(func(e *openRequest) bool { return e.Kind == KindCall && e.waiters > 0 })
	g.mu.Unlock()
	for _, e := range resolved {
		e.resolve(Decision{
			Effect: Deny, Why: "Conclave was closed before you answered", Reason: "Conclave was closed before anybody answered",
			By: "nobody to ask",
		})
		g.deleteWaiting(ctx, e.ID)
	}
	g.writes.Wait()
	return errors.Join(g.writeGrants(ctx), g.writeUses(ctx))
}

// writeUses writes the uses that the store does not have yet.
func (g *Gate) writeUses(ctx context.Context) error {
	g.mu.Lock()
	uses := map[string]Use{}
	for id := range g.unwritten {
		uses[id] = g.uses[id]
	}
	clear(g.unwritten)
	g.mu.Unlock()
	if len(uses) == 0 || g.o.Store == nil {
		return nil
	}
	err := g.o.Store.PutUses(ctx, uses)
	if err != nil {
		g.mu.Lock()
		for id := range uses {
			g.unwritten[id] = true // with the next ones
		}
		g.mu.Unlock()
	}
	return err
}

// writeGrants writes the grants whose last use changed.
func (g *Gate) writeGrants(ctx context.Context) error {
	if g.o.Store == nil {
		return nil
	}
	g.mu.Lock()
	var changed []Grant
	for _, grant := range g.grants {
		if g.touched[grant.ID] && grant.Scope == Always {
			changed = append(changed, *grant)
		}
	}
	clear(g.touched)
	g.mu.Unlock()
	var errs []error
	for _, grant := range changed {
		errs = append(errs, g.o.Store.PutGrant(ctx, grant))
	}
	return errors.Join(errs...)
}

// Ask decides about one call, and blocks while a person is asked: until they
// answer, ten minutes are over, or ctx ends. The answer is never Ask; anything
// that goes wrong is Deny with the reason in words.
func (g *Gate) Ask(ctx context.Context, request Request) Decision {
	if request.Tool.Digest == "" {
		request.Tool = tool.Normal(request.Tool)
	}
	if len(request.Arguments) == 0 {
		request.Arguments = json.RawMessage(`{}`)
	}
	if ctx.Err() != nil {
		return stopped()
	}
	g.mu.Lock()
	c, sentence := g.checkLocked(&request)
	step, r := c.walk(nil)
	if r.effect == Ask && g.allowedOnce[request.Call] {
		delete(g.allowedOnce, request.Call)
		r = ruling{effect: Allow, why: "you allowed it once", by: "person"}
	}
	if r.effect != Ask {
		d := g.rulingLocked(&request, step, r)
		g.mu.Unlock()
		return d
	}
	p := g.describeLocked(c, sentence, step, r)
	if request.Asker != nil {
		g.mu.Unlock()
		return g.askTerminal(ctx, request, step, p)
	}
	if g.windows == 0 || g.closed {
		g.mu.Unlock()
		return nobody(step)
	}
	e, first := g.joinLocked(request, step, p)
	g.mu.Unlock()
	return g.wait(ctx, e, request, first)
}

// Explain returns the walk through the order for a request, up to the step that
// decides. It decides nothing and asks nobody.
func (g *Gate) Explain(request Request) []Step {
	if request.Tool.Digest == "" {
		request.Tool = tool.Normal(request.Tool)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	c, _ := g.checkLocked(&request)
	var steps []Step
	c.walk(func(s Step) { steps = append(steps, s) })
	return steps
}

// checkLocked prepares a request for the walk, and says what it can touch.
func (g *Gate) checkLocked(request *Request) (*check, string) {
	capabilities, sentence := request.Capabilities, ""
	if known, ok := g.known[request.Tool.Plugin]; ok {
		granted, _ := g.permissionsLocked(request.Tool.Plugin)
		var found []Capability
		if found, sentence = reach(known, granted); capabilities == nil {
			capabilities = found
		}
	} else if request.Tool.Plugin == Own {
		sentence = "Comes with Conclave."
		if capabilities == nil {
			capabilities = []Capability{Compute}
		}
	} else {
		sentence = "What it can touch is not known."
	}
	return &check{g: g, request: request, capabilities: capabilities, now: g.o.Now()}, sentence
}

// rulingLocked turns a ruling that asks nobody into a decision, and notes the
// use.
func (g *Gate) rulingLocked(request *Request, step int, r ruling) Decision {
	d := Decision{Effect: r.effect, Why: r.why, By: r.by, Grant: r.grant, Step: step, Arguments: request.Arguments}
	if r.effect == Deny {
		d.Reason = r.tell
		return d
	}
	g.noteLocked(request.Tool.ID(), r.grant)
	return d
}

// noteLocked counts a released call.
func (g *Gate) noteLocked(toolID, grant string) {
	now := g.o.Now()
	g.uses[toolID] = Use{g.uses[toolID].Times + 1, now}
	g.writeSoonLocked(toolID)
	if grant == "" {
		return
	}
	for _, known := range g.grants {
		if known.ID == grant {
			known.Uses++
			known.LastUsed = now
			g.touched[grant] = true
		}
	}
}

// writeSoonLocked has the tool's use written with others after a while, or when the
// gate is closed, which ends the timer or waits for it.
func (g *Gate) writeSoonLocked(toolID string) {
	if g.o.Store == nil {
		return
	}
	g.unwritten[toolID] = true
	if g.writing != nil || g.closed {
		return
	}
	g.writes.Add(1)
	g.writing = time.AfterFunc(usesWritten, func() {
		defer g.writes.Done()
		g.mu.Lock()
		g.writing = nil
		g.mu.Unlock()
		if err := g.writeUses(g.base); err != nil {
			g.o.Log.Warn("when tools were last used could not be written", "err", err)
		}
	})
}

// askTerminal puts the request before the asker it came with.
func (g *Gate) askTerminal(ctx context.Context, request Request, step int, p Pending) Decision {
	if request.Waiting != nil {
		request.Waiting(p.ID)
	}
	askCtx, cancel := context.WithTimeoutCause(ctx, Patience, errExpired)
	defer cancel()
	answer, err := request.Asker.Ask(askCtx, p)
	switch {
	case ctx.Err() != nil:
		return stopped()
	case errors.Is(context.Cause(askCtx), errExpired):
		return expired(step)
	case err != nil:
		return nobody(step)
	}
	if err := p.accepts(answer); err != nil {
		g.o.Log.Warn("an answer to a permission request cannot be used", "tool", p.Tool, "err", err)
		return nobody(step)
	}
	by := "person"
	if named, ok := request.Asker.(interface{ By() string }); ok {
		by = named.By()
	}
	d, err := g.apply(ctx, request, step, p, answer, by)
	if err != nil {
		g.o.Log.Warn("a permission could not be kept", "tool", p.Tool, "err", err)
	}
	return d
}

// apply makes the answer's decision and remembers the grant it asks for. The
// error says that the grant could not be written; it holds until Conclave quits.
func (g *Gate) apply(ctx context.Context, request Request, step int, p Pending, a Answer, by string) (Decision, error) {
	d := Decision{Effect: a.Effect, By: by, Step: step, Arguments: request.Arguments}
	grant, keep := grantFrom(request, p, a)
	var err error
	if keep {
		grant, err = g.Add(ctx, grant)
		d.Grant = grant.ID
	}
	who := "you"
	if by != "person" {
		who = by
	}
	if a.Effect == Deny {
		d.Why = who + " did not allow it"
		d.Reason = "the person did not allow it"
		if reason, _ := tool.Strip(strings.TrimSpace(a.Reason)); reason != "" {
			d.Reason += ": " + reason
			d.Why += ": " + reason
		}
		return d, err
	}
	d.Why = who + " allowed it " + scopeWords(a.Scope)
	if len(a.Arguments) > 0 && !sameJSON(a.Arguments, request.Arguments) {
		d.Arguments, d.Edited = a.Arguments, true
		d.Why += ", with edited arguments"
	}
	g.mu.Lock()
	g.noteLocked(request.Tool.ID(), d.Grant)
	g.mu.Unlock()
	return d, err
}

// grantFrom is the grant an answer asks for, if it is to be kept.
func grantFrom(request Request, p Pending, a Answer) (Grant, bool) {
	if a.Scope == Once || a.Scope == "" {
		return Grant{}, false
	}
	grant := Grant{
		Effect: a.Effect, Plugin: request.Tool.Plugin, Tool: request.Tool.Name, Scope: a.Scope, MadeFrom: p.ID,
		Conversation: request.Conversation, Turn: request.Turn,
	}
	if a.Scope == UntilQuit || a.Scope == Always {
		grant.Conversation, grant.Turn = "", ""
	}
	if a.Effect == Deny {
		return grant, true // no callers: nobody's calls
	}
	grant.Callers = []Caller{request.Caller}
	if a.Council && !isMember(request.Caller) {
		grant.Callers = append(grant.Callers, "member:*")
	}
	grant.Digest = request.Tool.Digest
	return grant, true
}

// accepts checks an answer against what was offered.
func (p *Pending) accepts(a Answer) error {
	const op = "permit.answer"
	switch a.Effect {
	case Deny:
		return nil
	case Allow:
	default:
		return fault.New(fault.Invalid, op, "An answer is allow or deny.", "")
	}
	if p.Kind != KindCall {
		return nil
	}
	if a.Scope != "" && !slices.Contains(p.Scopes, a.Scope) {
		return fault.New(fault.Invalid, op, "This call cannot be allowed "+scopeWords(a.Scope)+".", "Allow it once.")
	}
	if len(a.Arguments) > 0 {
		var object map[string]json.RawMessage
		if json.Unmarshal(a.Arguments, &object) != nil {
			return fault.New(fault.Invalid, op, "The edited arguments are not a JSON object.",
				"Correct them, or allow the call as it was asked.")
		}
	}
	return nil
}

func scopeWords(s Scope) string {
	switch s {
	case ThisAnswer:
		return "for this answer"
	case ThisChat:
		return "for this chat"
	case UntilQuit:
		return "until Conclave quits"
	case Always:
		return "always"
	}
	return "once"
}

var errExpired = errors.New("nobody answered in time")

func nobody(step int) Decision {
	return Decision{Effect: Deny, By: "nobody to ask", Step: step,
		Why:    "nobody could be asked: no window is open and this is not a terminal",
		Reason: "it needs a person's permission, and there is nobody to ask"}
}

func expired(step int) Decision {
	return Decision{Effect: Deny, By: "nobody to ask", Step: step, Expired: true,
		Why:    "no answer in 10 minutes, so it was not run",
		Reason: "nobody answered the permission request in 10 minutes, so it was not run"}
}

func stopped() Decision {
	return Decision{
		Effect: Deny, By: "nobody to ask", Why: "it was stopped before anybody answered",
		Reason: "the person stopped the answer",
	}
}

func sameJSON(a, b json.RawMessage) bool {
	x, errX := tool.Canonical(a)
	y, errY := tool.Canonical(b)
	return errX == nil && errY == nil && string(x) == string(y)
}

// Attach says that a window shows pending requests, until detach is called. While
// none is attached, a request without an Asker is refused at once; when the last
// one goes, what waits is not allowed.
func (g *Gate) Attach() (detach func()) {
	g.mu.Lock()
	g.windows++
	g.mu.Unlock()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		g.windows--
		var resolved []*openRequest
		if g.windows == 0 {
			resolved = g.takeLocked(func(e *openRequest) bool { return e.Kind == KindCall && e.waiters > 0 })
		}
		g.mu.Unlock()
		for _, e := range resolved {
			e.resolve(Decision{
				Effect: Deny, Step: e.step, By: "nobody to ask", Why: "the window was closed before you answered",
				Reason: "the window was closed before anybody answered",
			})
			g.deleteWaiting(g.base, e.ID)
		}
	})
}

// SetPaused pauses all tools, or lets them go on. It lasts until the program
// ends.
func (g *Gate) SetPaused(on bool) {
	g.mu.Lock()
	g.paused = on
	g.mu.Unlock()
	g.recheckWaiting()
}

// Paused reports whether all tools are paused.
func (g *Gate) Paused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

// TurnEnded forgets the grants that held for one answer.
func (g *Gate) TurnEnded(turn string) {
	g.mu.Lock()
	before := len(g.grants)
	g.grants = slices.DeleteFunc(g.grants, func(grant *Grant) bool {
		return grant.Scope == ThisAnswer && grant.Turn == turn
	})
	changed := len(g.grants) != before
	g.mu.Unlock()
	if changed {
		g.notify()
	}
}

func (g *Gate) notify() { g.o.Bus.Changed(bus.Permissions, "") }

// notifyPlugin tells that a plugin was granted or denied something.
func (g *Gate) notifyPlugin(plugin string) { g.o.Bus.Changed(bus.Permissions, plugin) }

// pluginName is the display name of a plugin.
func (g *Gate) pluginName(id string) string {
	if id == Own {
		return "Conclave"
	}
	return cmp.Or(g.known[id].Name, id)
}

func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()) }
