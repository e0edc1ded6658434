package permit

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Revoked holds what RevokePlugin took from a plugin, for RestorePlugin.
type Revoked struct {
	Rules      []Rule // what it was allowed
	Developing bool
}

// RevokePlugin revokes the rules that allow something to a plugin that is removed, and
// ends its development: a plugin that comes under its name later may be somebody
// else's. Rules that deny stay, and so do the versions the person approved.
func (g *Gate) RevokePlugin(ctx context.Context, plugin string) (Revoked, error) {
	var w Revoked
	var err error
	if w.Rules, err = g.revokeRules(ctx, plugin, func(rule *Rule) bool { return rule.Effect == Allow }); err != nil {
		return w, err
	}
	w.Developing, err = g.develop(ctx, plugin, false)
	return w, errors.Join(err, g.markRemoved(ctx, plugin, g.o.Now().Add(-SaveTime)))
}

// SaveTime is how long a plugin's files may be missing from the plugins folder before
// the gate takes other code under its name for another plugin: programs save by
// deleting and writing, and people move files.
const SaveTime = time.Minute

// MarkRemoved records that a plugin's files are gone from the plugins folder, whoever
// removed them.
func (g *Gate) MarkRemoved(ctx context.Context, plugin string) error {
	return g.markRemoved(ctx, plugin, g.o.Now())
}

func (g *Gate) markRemoved(ctx context.Context, plugin string, since time.Time) error {
	return g.amend(ctx, plugin, func(a *Approval) bool {
		if a.Code == "" || !a.RemovedAt.IsZero() && !since.Before(a.RemovedAt) {
			return false
		}
		a.RemovedAt = since
		return true
	})
}

// MarkReturned records that files lie again under the name of a removed plugin.
// Versions approved before are that plugin, and so is whatever comes within SaveTime.
// Anything else is a stranger, and RevokePlugin runs. It reports whether this is a
// stranger, and does nothing for a plugin that was not removed.
func (g *Gate) MarkReturned(ctx context.Context, c PluginVersion) (stranger bool, err error) {
	g.mu.Lock()
	a := g.approvals[c.Plugin]
	g.mu.Unlock()
	if a.RemovedAt.IsZero() {
		return false, nil
	}
	approved := a.Code == c.Code || slices.ContainsFunc(a.Past, func(p PastApproval) bool { return p.Code == c.Code })
	if !approved && g.o.Now().Sub(a.RemovedAt) >= SaveTime {
		_, err := g.RevokePlugin(ctx, c.Plugin)
		return true, err
	}
	return false, g.unmarkRemoved(ctx, c.Plugin)
}

// RestorePlugin undoes RevokePlugin.
func (g *Gate) RestorePlugin(ctx context.Context, plugin string, w Revoked) error {
	failed := g.unmarkRemoved(ctx, plugin)
	for _, rule := range w.Rules {
		if _, err := g.AddRule(ctx, rule); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if w.Developing {
		_, err := g.develop(ctx, plugin, true)
		failed = errors.Join(failed, err)
	}
	return failed
}

// unmarkRemoved records that a plugin's files are where they were.
func (g *Gate) unmarkRemoved(ctx context.Context, plugin string) error {
	return g.amend(ctx, plugin, func(a *Approval) bool {
		left := !a.RemovedAt.IsZero()
		a.RemovedAt = time.Time{}
		return left
	})
}

// develop sets whether the person edits an approved plugin themselves, and returns
// what was set before.
func (g *Gate) develop(ctx context.Context, plugin string, on bool) (before bool, err error) {
	err = g.amend(ctx, plugin, func(a *Approval) bool {
		before, a.Developing = a.Developing, on
		return before != on
	})
	return before, err
}

// amend changes the approval of a plugin and keeps it as long as before. It writes
// nothing when the plugin has no approval, or change returns false.
func (g *Gate) amend(ctx context.Context, plugin string, change func(*Approval) bool) error {
	g.mu.Lock()
	a, known := g.approvals[plugin]
	_, thisRun := g.beforeRun[plugin]
	g.mu.Unlock()
	if !known || !change(&a) {
		return nil
	}
	return g.keep(ctx, a, thisRun)
}

// StopDeveloping is called before an update replaces a plugin's files: they are no
// edit of the person's, even if they develop the plugin. It returns what RestorePlugin
// needs to undo it.
func (g *Gate) StopDeveloping(ctx context.Context, plugin string) (Revoked, error) {
	developing, err := g.develop(ctx, plugin, false)
	return Revoked{Developing: developing}, err
}
