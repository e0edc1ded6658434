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

	"conclave/app/activity"
	"conclave/app/bus"
	"conclave/app/chat"
	"conclave/app/tool"
)

// Options configure a Gate. Every field may be left out.
type Options struct {
	Store Store // nil: nothing outlives the program
	Bus   *bus.Bus
	Log   *slog.Logger
	Now   func() time.Time // nil: time.Now
	Mode  func() Mode      // the person's mode, read at each decision; nil: Standard
	// Project returns the project of a chat, "" for none; nil knows none. It is called at
	// each decision, and must not call the gate.
	Project func(ctx context.Context, id chat.ConversationID) (string, error)
	// Used, when not nil, takes note of each decision about a permission in use, on the goroutine
	// of who wanted to use it.
	Used func(activity.Use)
	// Protected are folders that no tool may touch: Conclave's own data.
	Protected []string
	// Plugins is the plugins folder, of which no plugin is given anything.
	Plugins string
}

// Gate decides about calls and plugins. Use Open, and Close when done. Its methods are
// safe for concurrent use; none of them calls back under its lock, or does I/O but for
// looking at the paths that arguments name, and Options.Project.
type Gate struct {
	o      Options
	base   context.Context // Open's without its end: for writes that follow from no one's call
	places *places

	mu         sync.Mutex           // guards the fields below
	rules      []*Rule              // of every scope
	byTool     map[ruleKey]*ruleSet // the rules about calls; nil while these four have to be made anew
	byID       map[string]*Rule     // all by their ids
	ofPlugin   map[string][]*Rule   // the rules about a plugin's permissions, oldest first
	vouched    map[vouch]string     // the ids of the rules about origins
	touched    map[string]bool
	approvals  map[string]Approval
	known      map[string]PluginVersion // the newest that asked, by plugin
	served     map[string]PluginVersion // the newest of those that models may be told of, by plugin
	released   map[string]bool          // "plugin:tool digest" of definitions approved in this run
	requests   []*openRequest           // oldest first
	beforeRun  map[string]*Approval     // of plugins approved for a run only: what was said before, or nil
	running    map[*running]struct{}    // the calls under way
	uses       map[string]Use           // by tool id
	unwritten  map[string]bool          // tool ids whose use the store does not have yet
	writing    *time.Timer              // writes them; nil while nothing is due
	writes     sync.WaitGroup           // the timer that runs, or is to run
	pace       pace                     // at which the person says yes
	paused     bool
	unattended *Unattended // nil while it is off; unattendedEnd ends it
	windows    int
	closed     bool
	alike      shadowing // what is said of names and words that are alike

	unattendedEnd *time.Timer
	listeners     map[*func(string)]struct{}
	onAsking      func(plugin string) (answered func())
}

// usesWritten is how long uses gather before they are written: they only say when
// a tool was used last, so a crash may lose a minute of them, and calls that follow
// closely cost no write each.
const usesWritten = time.Minute

// Open reads the rules and approvals from the store. A store that cannot be read is an
// error: otherwise a rule that denies would be lost.
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
	g := &Gate{
		o: o, base: context.WithoutCancel(ctx), places: newPlaces(o),
		touched: map[string]bool{}, approvals: map[string]Approval{}, known: map[string]PluginVersion{},
		served:    map[string]PluginVersion{},
		released:  map[string]bool{},
		beforeRun: map[string]*Approval{}, uses: map[string]Use{},
		unwritten: map[string]bool{}, running: map[*running]struct{}{},
		listeners: map[*func(string)]struct{}{},
	}
	if o.Store != nil {
		rules, err := o.Store.Rules(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the permissions: %w", err)
		}
		approvals, err := o.Store.Approvals(ctx)
		if err != nil {
			return nil, fmt.Errorf("read the approvals: %w", err)
		}
		for i := range rules {
			g.rules = append(g.rules, g.compiled(&rules[i]))
			id := rules[i].Plugin + ":" + rules[i].Tool
			u := g.uses[id]
			last := rules[i].LastUsed
			if rules[i].Effect != Allow {
				continue
			}
			g.uses[id] = Use{
				Times: u.Times + rules[i].Uses, Last: latest(u.Last, last),
				Yes: u.Yes + rules[i].Uses, Allowed: latest(u.Allowed, last),
			}
		}
		uses, err := o.Store.Uses(ctx)
		if err != nil { // they decide nothing
			o.Log.Warn("when tools were last used cannot be read", "err", err)
		}
		for id, u := range uses { // the uses of rules are among them
			of := g.uses[id]
			g.uses[id] = Use{
				Times: max(u.Times, of.Times), Last: latest(u.Last, of.Last),
				Yes: max(u.Yes, of.Yes), Allowed: latest(u.Allowed, of.Allowed), Deleted: u.Deleted,
			}
		}
		for _, a := range approvals {
			g.approvals[a.Plugin] = a
			g.releaseLocked(a)
		}
		if err := o.Store.ForgetRequests(ctx); err != nil { // no call waits for them any more
			o.Log.Warn("the permission requests of an older version could not be forgotten", "err", err)
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

// Close denies every call that still waits, and writes when rules and tools were last
// used. It may be called more than once.
func (g *Gate) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	g.endUnattendedLocked()
	if g.writing != nil && g.writing.Stop() {
		g.writes.Done()
	}
	g.writing = nil
	resolved := g.takeLocked(func(e *openRequest) bool { return e.Kind == KindCall })
	g.mu.Unlock()
	for _, e := range resolved {
		e.resolve(Decision{
			Effect: Deny, Why: "Conclave was closed before you answered", Reason: "Conclave was closed before anybody answered",
			By: "nobody to ask",
		})
	}
	g.writes.Wait()
	return errors.Join(g.writeRules(ctx), g.writeUses(ctx))
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

// writeRules writes the rules whose last use changed.
func (g *Gate) writeRules(ctx context.Context) error {
	if g.o.Store == nil {
		return nil
	}
	g.mu.Lock()
	var changed []Rule
	for _, rule := range g.rules {
		if g.touched[rule.ID] && rule.outlives() {
			changed = append(changed, *rule)
		}
	}
	clear(g.touched)
	g.mu.Unlock()
	var errs []error
	for _, rule := range changed {
		errs = append(errs, g.o.Store.PutRule(ctx, rule))
	}
	return errors.Join(errs...)
}

// Decide decides about one call. While a person is asked it blocks: until they answer,
// AnswerTimeout is over, or ctx ends. The effect is never Ask; whatever goes wrong is
// Deny with the reason.
func (g *Gate) Decide(ctx context.Context, call Call) Decision {
	asked := g.o.Now()
	path := make([]Step, 0, len(order))
	d := g.decide(ctx, call, func(s Step) { path = append(path, s) })
	if d.Path == nil {
		d.Path = path
	}
	if n := len(path); n > 0 && path[n-1].Effect == Ask && (d.By != "nobody to ask" || d.Expired) {
		d.Waited = g.o.Now().Sub(asked)
	}
	g.told(&call, d)
	return d
}

// decide is Decide, and reports each step to visit.
func (g *Gate) decide(ctx context.Context, call Call, visit func(Step)) (d Decision) {
	if call.Tool.Digest == "" {
		call.Tool = tool.Normal(call.Tool)
	}
	if len(call.Arguments) == 0 {
		call.Arguments = json.RawMessage(`{}`)
	}
	if ctx.Err() != nil {
		return stopped()
	}
	g.findProject(ctx, &call)
	g.mu.Lock()
	c := g.checkLocked(&call)
	step, r := c.walk(visit)
	name := g.pluginName(call.Tool.Plugin)
	defer func() {
		d.Capabilities = c.capabilities
		if d.Step == taintStep {
			d.Origins = c.origins
		}
		if d.Effect == Allow {
			d.Alone = d.Alone || c.alone // the former once it had waited, see recheckWaiting
			d.Brought = brought(call.Tool.Plugin, name, c.capabilities, d.Arguments)
			if call.Tool.Plugin != BuiltIn {
				d.Returned = chat.NewOrigin(chat.FromTool, name)
			}
		}
	}()
	if r.effect != Ask {
		d, counted := g.rulingLocked(&call, step, r)
		g.mu.Unlock()
		return g.counted(ctx, d, counted)
	}
	p := g.describeLocked(c, step, r)
	if call.Asker != nil {
		g.mu.Unlock()
		d, c = g.askTerminal(ctx, c, step, p)
		return d
	}
	if g.windows == 0 || g.closed {
		g.mu.Unlock()
		return nobody(step)
	}
	e, first := g.joinLocked(call, step, p)
	g.mu.Unlock()
	return g.wait(ctx, e, call, first)
}

// Explain returns the steps of the order for a call, up to the one that decides. It
// decides nothing and asks nobody.
func (g *Gate) Explain(call Call) []Step {
	if call.Tool.Digest == "" {
		call.Tool = tool.Normal(call.Tool)
	}
	g.findProject(g.base, &call)
	g.mu.Lock()
	defer g.mu.Unlock()
	c := g.checkLocked(&call)
	var steps []Step
	c.walk(func(s Step) { steps = append(steps, s) })
	return steps
}

// findProject fills in which project the chat of a call belongs to. The gate's lock is not
// held.
func (g *Gate) findProject(ctx context.Context, call *Call) {
	if g.o.Project == nil || call.Conversation == "" {
		return
	}
	var err error
	if call.project, err = g.o.Project(ctx, call.Conversation); err != nil {
		g.o.Log.Warn("the project of a chat could not be read", "err", err)
		call.noProject = true
	}
}

// checkLocked prepares a request for the walk.
func (g *Gate) checkLocked(call *Call) *check {
	capabilities := call.Capabilities
	var why Inferred
	if capabilities == nil {
		capabilities, why = g.ofToolLocked(call.Tool, g.ableLocked(call.Tool.Plugin))
	}
	c := g.checkOf(call, capabilities)
	c.inferred = why
	return c
}

func (g *Gate) checkOf(call *Call, capabilities []Capability) *check {
	return &check{
		g: g, call: call, capabilities: capabilities, arguments: arguments{places: g.places, raw: call.Arguments}, now: g.o.Now(),
	}
}

// ableLocked returns what calls of a plugin's tools can do, nil where that is not known.
func (g *Gate) ableLocked(plugin string) []Capability {
	if known, ok := g.known[plugin]; ok {
		granted, _ := g.permissionsLocked(plugin)
		return capabilitiesOf(known, granted, g.foldersLocked(plugin))
	}
	if plugin == BuiltIn {
		return []Capability{Compute}
	}
	return nil
}

// reachLocked returns what calls of a plugin's tools can touch, in a sentence; given is
// Call.Given.
func (g *Gate) reachLocked(plugin, given string) string {
	known, ok := g.known[plugin]
	switch {
	case ok:
	case plugin == BuiltIn:
		return "Comes with Conclave."
	default:
		return "What it can touch is not known."
	}
	granted, _ := g.permissionsLocked(plugin)
	folders := g.foldersThatLocked(plugin, func(rule *Rule) bool {
		return !rule.opened() || rule.stays() && !rule.Unused(g.o.Now())
	})
	for i := range folders[:min(len(folders), maxFoldersNamed)] {
		folders[i].Path = g.places.short(folders[i].Path)
	}
	return reachOf(known, granted, folders, given)
}

// rulingLocked turns a ruling that asks nobody into a decision, and notes the
// use. counted is the rule whose use has to be written before the call is released; nil
// where none has.
func (g *Gate) rulingLocked(call *Call, step int, r ruling) (d Decision, counted *Rule) {
	d = Decision{Effect: r.effect, Why: r.why, By: r.by, Rule: r.rule, Step: step, Arguments: call.Arguments}
	if r.effect == Deny {
		d.Reason = r.tell
		return d, nil
	}
	if r.by == byUnattended {
		if g.unattended.Calls--; g.unattended.Calls == 0 {
			g.endUnattendedLocked()
		}
		defer g.notify()
	}
	return d, g.noteLocked(call.Tool.ID(), r.rule, false)
}

// counted writes the use of a rule that has only so many of them, and denies the call
// when that fails: after a crash it would be used once too often.
func (g *Gate) counted(ctx context.Context, d Decision, rule *Rule) Decision {
	if rule == nil || g.o.Store == nil {
		return d
	}
	err := g.o.Store.PutRule(context.WithoutCancel(ctx), *rule)
	if err == nil {
		return d
	}
	g.o.Log.Warn("the use of a rule could not be written", "rule", rule.ID, "err", err)
	why := "it could not be written that the rule was used, and that rule has only so many uses"
	return Decision{Effect: Deny, Why: why, Reason: why, By: d.By, Rule: d.Rule, Step: d.Step, Arguments: d.Arguments}
}

// noteLocked counts a released call; person says that a person allowed it when asked, as one did
// where there is a rule. It returns a copy of the call's rule where the use of that has to be
// written at once.
func (g *Gate) noteLocked(toolID, rule string, person bool) *Rule {
	now, u := g.o.Now(), g.uses[toolID]
	u.Times, u.Last = u.Times+1, now
	if person || rule != "" {
		u.Yes, u.Allowed = u.Yes+1, now
	}
	g.uses[toolID] = u
	g.writeSoonLocked(toolID)
	if rule == "" {
		return nil
	}
	g.rulesLocked()
	known, ok := g.byID[rule]
	if !ok {
		return nil
	}
	known.Uses++
	known.LastUsed = now
	if known.MaxUses > 0 && known.outlives() {
		written := *known
		return &written
	}
	g.touched[rule] = true
	return nil
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

// OnAsking has f called before a person is asked about a permission that a plugin is using,
// and what f returns once they need not answer any more. The last f counts.
func (g *Gate) OnAsking(f func(plugin string) (answered func())) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.onAsking = f
}

// asking tells who OnAsking was given, and returns what is to be called afterwards.
func (g *Gate) asking(call *Call) (answered func()) {
	g.mu.Lock()
	tell := g.onAsking
	g.mu.Unlock()
	if tell == nil || call.Permission == "" {
		return func() {}
	}
	return tell(call.Tool.Plugin)
}

// Attach says that a window shows requests, until the caller calls detach. While none
// is attached, the gate denies at once a call that has no Asker; when the last one
// detaches, it denies the calls that wait.
func (g *Gate) Attach() (detach func()) {
	g.mu.Lock()
	g.windows++
	g.mu.Unlock()
	return sync.OnceFunc(func() {
		g.mu.Lock()
		g.windows--
		var resolved []*openRequest
		if g.windows == 0 {
			resolved = g.takeLocked(func(e *openRequest) bool { return e.Kind == KindCall })
		}
		g.mu.Unlock()
		for _, e := range resolved {
			e.resolve(Decision{
				Effect: Deny, Step: e.step, By: "nobody to ask", Why: "the window was closed before you answered",
				Reason: "the window was closed before anybody answered",
			})
		}
	})
}

// SetPaused pauses all tools or resumes them, until the program ends. Pausing ends the calls
// under way and the unattended mode.
func (g *Gate) SetPaused(on bool) {
	g.mu.Lock()
	if g.paused = on; on {
		g.endUnattendedLocked()
	}
	g.mu.Unlock()
	g.recheckWaiting()
	g.recheckRunning("")
}

// Paused reports whether all tools are paused.
func (g *Gate) Paused() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.paused
}

// TurnEnded deletes the rules that held for one answer.
func (g *Gate) TurnEnded(turn string) {
	g.mu.Lock()
	before := len(g.rules)
	g.rules = slices.DeleteFunc(g.rules, func(rule *Rule) bool {
		return rule.Scope == ThisAnswer && rule.Turn == turn
	})
	changed := len(g.rules) != before
	g.byTool = nil
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
	if id == BuiltIn {
		return "Conclave"
	}
	return cmp.Or(g.known[id].Name, id)
}

func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()) }
