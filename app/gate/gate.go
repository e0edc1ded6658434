package gate

import (
	"context"
	"log/slog"
	"time"

	"conclave/app/base/bus"
	"conclave/app/chat"
	"conclave/app/record/activity"
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
	// Plugins is the plugins folder. No plugin can be granted anything in it.
	Plugins string
}

// Gate decides about calls, and asks a person where the rules say so. Use Open, and Close when done.
//
// It is the front of six types, each with a lock: [Approvals] of plugins, the [Rules] that a person
// made, the [Modes] that replace defaults, [Decisions] over these three, [Questions] that wait for a
// person, and the [Reach] of a plugin, which is granted with rules. All are safe for concurrent use.
// None calls back under a lock, or does I/O under one but for looking at the paths that arguments
// name.
type Gate struct {
	Approvals *Approvals
	Rules     *Rules
	Modes     *Modes
	Decisions *Decisions
	Questions *Questions
	Reach     *Reach

	*shared
	active *activeCalls
	used   func(activity.Use)
}

// shared holds the values that the types of a gate have in common. They never change.
type shared struct {
	store  Store // nil: nothing outlives the program
	bus    *bus.Bus
	log    *slog.Logger
	now    func() time.Time
	base   context.Context // of writes that follow from no caller's request
	places *places
}

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
	g := newGate(context.WithoutCancel(ctx), o)
	if o.Store == nil {
		return g, nil
	}
	if err := g.Rules.read(ctx); err != nil {
		return nil, err
	}
	if err := g.Approvals.read(ctx); err != nil {
		return nil, err
	}
	if err := o.Store.ForgetRequests(ctx); err != nil { // no call waits for them any more
		o.Log.Warn("the permission requests of an older version could not be forgotten", "err", err)
	}
	return g, nil
}

// newGate connects the types of a gate.
func newGate(base context.Context, o Options) *Gate {
	all := &shared{
		store: o.Store, bus: o.Bus, log: o.Log, now: o.Now, base: base, places: newPlaces(o.Protected, o.Plugins),
	}
	g := &Gate{shared: all, used: o.Used}
	g.Rules = &Rules{
		shared: all, changed: g.ruleChanged, touched: map[string]bool{},
		uses: map[string]Use{}, unwritten: map[string]bool{},
	}
	g.Approvals = &Approvals{
		shared: all, rules: g.Rules,
		changed: func(plugin string, answered bool) {
			if answered {
				g.Questions.Drop(plugin)
			}
			g.Questions.recheck()
			g.bus.Changed(bus.Permissions, plugin)
		},
		pluginBook: pluginBook{
			approvals: map[string]Approval{}, known: map[string]PluginVersion{}, served: map[string]PluginVersion{},
			released: map[string]bool{},
		},
		beforeRun: map[string]*Approval{}, listeners: map[*func(string)]struct{}{},
	}
	g.Modes = &Modes{shared: all, changed: func(paused bool) {
		g.Questions.recheck()
		if paused {
			g.active.recheck("")
		}
	}}
	g.Decisions = &Decisions{
		shared: all, approvals: g.Approvals, rules: g.Rules, modes: g.Modes, mode: o.Mode, project: o.Project,
	}
	g.Reach = &Reach{shared: all, decisions: g.Decisions, approvals: g.Approvals, rules: g.Rules}
	g.Questions = &Questions{
		shared: all, decisions: g.Decisions, approvals: g.Approvals, rules: g.Rules, reach: g.Reach,
	}
	g.active = &activeCalls{decisions: g.Decisions, calls: map[*activeCall]struct{}{}}
	return g
}

// Close denies every call that still waits, and writes when rules and tools were last
// used. It may be called more than once.
func (g *Gate) Close(ctx context.Context) error {
	g.Modes.close()
	g.Questions.close()
	return g.Rules.close(ctx)
}

// Decide decides about one call. While a person is asked it blocks: until they answer,
// AnswerTimeout is over, or ctx ends. The effect is never Ask; whatever goes wrong is
// Deny with the reason.
func (g *Gate) Decide(ctx context.Context, call Call) (d Decision) {
	asked := g.now()
	if len(call.Arguments) == 0 {
		call.Arguments = noArguments
	}
	if ctx.Err() != nil {
		return stopped()
	}
	g.Decisions.complete(ctx, &call)
	f := g.Decisions.lock()
	c := f.check(&call)
	r := c.walk()
	name := f.pluginName(call.Tool.Plugin)
	defer func() {
		if d.Path == nil {
			d.Path = r.path
		}
		if r.effect == Ask && (d.By != "nobody to ask" || d.Expired) {
			d.Waited = g.now().Sub(asked)
		}
		d.Capabilities = c.capabilities
		if d.Step == taintStep {
			d.Origins = c.origins
		}
		if d.Effect == Allow {
			d.Alone = d.Alone || c.alone // the former once it had waited, see Questions.recheck
			d.Brought = brought(call.Tool.Plugin, name, c.capabilities, d.Arguments)
			if call.Tool.Plugin != BuiltIn {
				d.Returned = chat.NewOrigin(chat.FromTool, name)
			}
		}
		g.recordUse(&call, d)
	}()
	if r.effect != Ask {
		d, counted := g.Decisions.settleLocked(&call, r)
		g.Decisions.unlock()
		return g.Rules.counted(ctx, d, counted)
	}
	p := f.describe(c, r)
	if call.Asker != nil {
		g.Decisions.unlock()
		d, c = g.Questions.askTerminal(ctx, c, r, p)
		return d
	}
	e, first := g.Questions.join(call, r, p)
	g.Decisions.unlock()
	if e == nil {
		return nobody(r.last().Number)
	}
	return g.Questions.wait(ctx, e, call, first)
}

// Begin is called when a call that d allowed could wait no longer. It returns d, or the refusal
// that has taken its place since: tools were paused, a rule refuses it, its plugin changed, or
// the rule that allowed it is gone. It asks nobody: what was allowed once stays so.
//
// Of a call that may still be made, stop is called, once and from any goroutine, should the
// person pause the tools, refuse it, or revoke what alone allowed it before ended is called,
// with the refusal. That its plugin changes does not stop a call under way.
func (g *Gate) Begin(ctx context.Context, call Call, d Decision, stop func(Decision)) (now Decision, ended func()) {
	g.Decisions.complete(ctx, &call)
	return g.active.begin(call, d, stop)
}

// TurnEnded deletes the rules that held for one answer.
func (g *Gate) TurnEnded(turn string) { g.Rules.endTurn(turn) }

// ruleChanged puts in force that a rule was added or removed.
func (g *Gate) ruleChanged(rule Rule, removed bool) {
	g.Questions.recheck()
	if rule.Permission != "" {
		g.bus.Changed(bus.Permissions, rule.Plugin)
	}
	gone := ""
	if removed {
		gone = rule.ID
	}
	g.active.recheck(gone)
}
