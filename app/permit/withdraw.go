package permit

import (
	"context"
	"errors"
)

// Withdrawn is what a plugin had beyond the approval of its versions.
type Withdrawn struct {
	Grants     []Grant // what it was allowed
	Developing bool
}

// Withdraw takes back what the person allowed a plugin that is removed, and that its
// edits are their own: what is put under its name later is somebody else's until
// they say otherwise. What they refused stays, and so do the versions they approved.
func (g *Gate) Withdraw(ctx context.Context, plugin string) (Withdrawn, error) {
	g.mu.Lock()
	var allowed []string
	for _, grant := range g.grants {
		if grant.Plugin == plugin && grant.Effect == Allow {
			allowed = append(allowed, grant.ID)
		}
	}
	g.mu.Unlock()
	var w Withdrawn
	for _, id := range allowed {
		grant, err := g.Revoke(ctx, id)
		if err != nil {
			return w, err
		}
		w.Grants = append(w.Grants, grant)
	}
	var err error
	w.Developing, err = g.develop(ctx, plugin, false)
	return w, err
}

// GiveBack undoes a Withdraw.
func (g *Gate) GiveBack(ctx context.Context, plugin string, w Withdrawn) error {
	var failed error
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

// develop says whether the edits of a plugin that was approved are the person's own,
// and returns what was said before.
func (g *Gate) develop(ctx context.Context, plugin string, on bool) (before bool, err error) {
	g.mu.Lock()
	a, known := g.approvals[plugin]
	g.mu.Unlock()
	if !known || a.Developing == on {
		return a.Developing, nil
	}
	before, a.Developing = a.Developing, on
	return before, g.keep(ctx, a, g.forThisRun(plugin))
}

// Elsewhere says that a plugin's files are about to be replaced by what was made
// elsewhere: they are no edit of the person's, whoever develops it. It returns
// whether the edits were their own.
func (g *Gate) Elsewhere(ctx context.Context, plugin string) (Withdrawn, error) {
	developing, err := g.develop(ctx, plugin, false)
	return Withdrawn{Developing: developing}, err
}
