package permit

import (
	"context"
	"errors"
	"slices"
	"time"
)

// Withdrawn holds what a plugin had beyond the approval of its versions.
type Withdrawn struct {
	Grants     []Grant // what it was allowed
	Developing bool
}

// Withdraw takes back what the person allowed a plugin that is removed, and that its
// edits are their own: what is put under its name later is somebody else's until
// they say otherwise. What they refused stays, and so do the versions they approved.
func (g *Gate) Withdraw(ctx context.Context, plugin string) (Withdrawn, error) {
	var w Withdrawn
	var err error
	if w.Grants, err = g.revokeAll(ctx, plugin, func(grant *Grant) bool { return grant.Effect == Allow }); err != nil {
		return w, err
	}
	w.Developing, err = g.develop(ctx, plugin, false)
	return w, errors.Join(err, g.left(ctx, plugin, g.o.Now().Add(-SaveTime)))
}

// SaveTime is how long a plugin may be gone from its folder and still be the same
// with other code: programs save by deleting and writing, and people move files.
const SaveTime = time.Minute

// Left says that a plugin's files are gone from the plugins folder, whoever took
// them away.
func (g *Gate) Left(ctx context.Context, plugin string) error {
	return g.left(ctx, plugin, g.o.Now())
}

func (g *Gate) left(ctx context.Context, plugin string, since time.Time) error {
	return g.amend(ctx, plugin, func(a *Approval) bool {
		if a.Code == "" || !a.Left.IsZero() && !since.Before(a.Left) {
			return false
		}
		a.Left = since
		return true
	})
}

// Returned says that files lie under the name of a plugin that had left. What was
// approved before is that plugin again, and so is what comes within SaveTime;
// anything else is a stranger, from whom is withdrawn what the plugin was allowed.
// It costs nothing for a plugin that had not left, and reports whether this is a stranger.
func (g *Gate) Returned(ctx context.Context, c Candidate) (stranger bool, err error) {
	g.mu.Lock()
	a := g.approvals[c.Plugin]
	g.mu.Unlock()
	if a.Left.IsZero() {
		return false, nil
	}
	approved := a.Code == c.Code || slices.ContainsFunc(a.Past, func(p PastApproval) bool { return p.Code == c.Code })
	if !approved && g.o.Now().Sub(a.Left) >= SaveTime {
		_, err := g.Withdraw(ctx, c.Plugin)
		return true, err
	}
	return false, g.back(ctx, c.Plugin)
}

// GiveBack undoes a Withdraw.
func (g *Gate) GiveBack(ctx context.Context, plugin string, w Withdrawn) error {
	failed := g.back(ctx, plugin)
	for _, grant := range w.Grants {
		if _, err := g.Add(ctx, grant); err != nil {
			failed = errors.Join(failed, err)
		}
	}
	if w.Developing {
		_, err := g.develop(ctx, plugin, true)
		failed = errors.Join(failed, err)
	}
	return failed
}

// back says that a plugin's files are where they were.
func (g *Gate) back(ctx context.Context, plugin string) error {
	return g.amend(ctx, plugin, func(a *Approval) bool {
		left := !a.Left.IsZero()
		a.Left = time.Time{}
		return left
	})
}

// develop says whether the edits of a plugin that was approved are the person's own,
// and returns what was said before.
func (g *Gate) develop(ctx context.Context, plugin string, on bool) (before bool, err error) {
	err = g.amend(ctx, plugin, func(a *Approval) bool {
		before, a.Developing = a.Developing, on
		return before != on
	})
	return before, err
}

// amend changes what is in force about a plugin, and keeps it as long as it was kept
// before. Nothing is written of a plugin about which nothing is in force, or when
// change returns false.
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

// StopDeveloping says that a plugin's files are about to be replaced by what was made
// elsewhere: they are no edit of the person's, whoever develops it. It returns
// whether the edits were their own.
func (g *Gate) StopDeveloping(ctx context.Context, plugin string) (Withdrawn, error) {
	developing, err := g.develop(ctx, plugin, false)
	return Withdrawn{Developing: developing}, err
}
