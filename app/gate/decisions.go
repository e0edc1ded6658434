package gate

import (
	"context"

	"conclave/app/chat"
	"conclave/app/tool"
)

// Decisions decides about calls, and explains decisions. It asks nobody.
//
// A decision is one transaction over [Approvals], [Rules] and [Modes]: lock takes the locks of all
// three, and what follows from the decision is done before unlock. Without that, two calls would
// share the last use of a rule, a call would be made by a rule that was revoked while it was
// decided, and a request would go on waiting that a rule added meanwhile answers. Locks are taken
// in this order: Approvals, Rules, Modes, Questions, activeCalls.
type Decisions struct {
	*shared
	approvals *Approvals
	rules     *Rules
	modes     *Modes
	mode      func() Mode
	project   func(context.Context, chat.ConversationID) (string, error)
}

// lock begins a transaction and returns what it decides by, until unlock is called.
func (d *Decisions) lock() *facts {
	d.approvals.mu.Lock()
	d.rules.mu.Lock()
	d.modes.mu.Lock()
	return &facts{
		pluginBook: &d.approvals.pluginBook, modeState: d.modes.modeState, places: d.places, book: &d.rules.book,
		uses: d.rules.uses, mode: d.mode, now: d.now(),
	}
}

func (d *Decisions) unlock() {
	d.modes.mu.Unlock()
	d.rules.mu.Unlock()
	d.approvals.mu.Unlock()
}

// settleLocked makes a decision of a ruling that asks nobody, and counts its use. counted is the
// rule whose use has to be written before the call is released; nil where none has.
func (d *Decisions) settleLocked(call *Call, r ruling) (made Decision, counted *Rule) {
	made = r.decision(call)
	if r.effect == Deny {
		return made, nil
	}
	if r.by == byUnattended {
		d.modes.countLocked()
	}
	return made, d.rules.noteLocked(call.Tool.ID(), r.rule, false)
}

// Explain returns the steps of the order for a call, up to the one that decides. It
// decides nothing and asks nobody.
func (d *Decisions) Explain(call Call) []Step {
	d.complete(d.base, &call)
	f := d.lock()
	defer d.unlock()
	return f.check(&call).walk().path
}

// complete fills in what a call leaves out, and which project its chat belongs to. No lock is held.
func (d *Decisions) complete(ctx context.Context, call *Call) {
	if call.Tool.Digest == "" {
		call.Tool = tool.Normal(call.Tool)
	}
	if d.project == nil || call.Conversation == "" {
		return
	}
	var err error
	if call.project, err = d.project(ctx, call.Conversation); err != nil {
		d.log.Warn("the project of a chat could not be read", "err", err)
		call.noProject = true
	}
}

// stands reports whether what was decided about the use of a permission still holds: nothing
// denies it now, and the rule that allowed it is there.
func (d *Decisions) stands(call Call, made Decision) bool {
	steps := d.Explain(call)
	switch steps[len(steps)-1].Effect {
	case Allow:
		return true
	case Ask:
		_, rule := d.rules.Scope(made.Rule)
		return made.By != byUnattended && made.By != byCall && (made.Rule == "" || rule)
	}
	return false
}
