package gate

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
func (a *Approvals) RevokePlugin(ctx context.Context, plugin string) (Revoked, error) {
	var w Revoked
	var err error
	if w.Rules, err = a.rules.revokeWhere(ctx, plugin, func(rule *Rule) bool { return rule.Effect == Allow }); err != nil {
		return w, err
	}
	w.Developing, err = a.develop(ctx, plugin, false)
	return w, errors.Join(err, a.markRemoved(ctx, plugin, a.now().Add(-SaveTime)))
}

// SaveTime is the time that a plugin's files may be missing from the plugins folder before
// the gate takes other code under its name for another plugin: programs save by
// deleting and writing, and people move files.
const SaveTime = time.Minute

// MarkRemoved records that a plugin's files are gone from the plugins folder, whoever
// removed them.
func (a *Approvals) MarkRemoved(ctx context.Context, plugin string) error {
	return a.markRemoved(ctx, plugin, a.now())
}

func (a *Approvals) markRemoved(ctx context.Context, plugin string, since time.Time) error {
	return a.amend(ctx, plugin, func(of *Approval) bool {
		if of.Code == "" || !of.RemovedAt.IsZero() && !since.Before(of.RemovedAt) {
			return false
		}
		of.RemovedAt = since
		return true
	})
}

// MarkReturned records that files lie again under the name of a removed plugin.
// Versions approved before are that plugin, and so is whatever comes within SaveTime.
// Anything else is a stranger, and RevokePlugin runs. It reports whether this is a
// stranger, and does nothing for a plugin that was not removed.
func (a *Approvals) MarkReturned(ctx context.Context, c PluginVersion) (stranger bool, err error) {
	old := a.of(c.Plugin)
	if old.RemovedAt.IsZero() {
		return false, nil
	}
	approved := old.Code == c.Code || slices.ContainsFunc(old.Past, func(p PastApproval) bool { return p.Code == c.Code })
	if !approved && a.now().Sub(old.RemovedAt) >= SaveTime {
		_, err := a.RevokePlugin(ctx, c.Plugin)
		return true, err
	}
	return false, a.unmarkRemoved(ctx, c.Plugin)
}

// RestorePlugin undoes RevokePlugin.
func (a *Approvals) RestorePlugin(ctx context.Context, plugin string, w Revoked) error {
	failed := a.unmarkRemoved(ctx, plugin)
	for _, rule := range w.Rules {
		if _, err := a.rules.Add(ctx, rule); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if w.Developing {
		_, err := a.develop(ctx, plugin, true)
		failed = errors.Join(failed, err)
	}
	return failed
}

// unmarkRemoved records that a plugin's files are where they were.
func (a *Approvals) unmarkRemoved(ctx context.Context, plugin string) error {
	return a.amend(ctx, plugin, func(of *Approval) bool {
		removed := !of.RemovedAt.IsZero()
		of.RemovedAt = time.Time{}
		return removed
	})
}

// develop sets whether the person edits an approved plugin themselves, and returns
// what was set before.
func (a *Approvals) develop(ctx context.Context, plugin string, on bool) (before bool, err error) {
	err = a.amend(ctx, plugin, func(of *Approval) bool {
		before, of.Developing = of.Developing, on
		return before != on
	})
	return before, err
}

// amend changes the approval of a plugin, which holds as long as before. It writes
// nothing when the plugin has no approval, or change returns false.
func (a *Approvals) amend(ctx context.Context, plugin string, change func(*Approval) bool) error {
	a.mu.Lock()
	of, known := a.approvals[plugin]
	_, thisRun := a.beforeRun[plugin]
	a.mu.Unlock()
	if !known || !change(&of) {
		return nil
	}
	return a.put(ctx, of, thisRun)
}

// StopDeveloping is called before an update replaces a plugin's files: they are no
// edit of the person's, even if they develop the plugin. It returns what RestorePlugin
// needs to undo it.
func (a *Approvals) StopDeveloping(ctx context.Context, plugin string) (Revoked, error) {
	developing, err := a.develop(ctx, plugin, false)
	return Revoked{Developing: developing}, err
}
