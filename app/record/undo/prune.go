package undo

import (
	"fmt"
	"os"
	"time"
)

// pruning is the interval in which old versions that are too old or too many are removed.
const pruning = time.Hour

func (a *archive) pruneSometimes() {
	if a.now().Sub(a.pruned) >= pruning {
		a.prune()
	}
}

// prune removes what is older than 30 days, the oldest of what is too much, and copies that
// nothing speaks of.
func (a *archive) prune() {
	a.pruned = a.now()
	for _, f := range a.everyFolder() {
		if len(f.watches) == 0 && len(f.Calls) == 0 && a.now().Sub(f.Used) > Kept {
			_ = a.dropFolder(f) // tried again in an hour
		}
	}
	sets := a.sets()
	for n := len(sets); n > 0 && a.now().Sub(sets[n-1].Time) > Kept; n-- {
		_ = a.removeSet(sets[n-1].ID)
		sets = sets[:n-1]
	}
	for a.sweep(sets) > a.most && len(sets) > 0 {
		dropped := (len(sets) + 9) / 10
		for _, s := range sets[len(sets)-dropped:] {
			_ = a.removeSet(s.ID)
		}
		sets = sets[:len(sets)-dropped]
	}
}

// sweep removes the copies that neither the sets nor a folder's last look speak of, and returns
// the bytes of those that are left.
func (a *archive) sweep(sets []Set) (left int64) {
	used := map[string]bool{}
	for _, s := range sets {
		for _, c := range s.Changes {
			for _, state := range []*State{c.Before, c.After} {
				if state != nil {
					used[state.Text] = true
				}
			}
		}
	}
	for _, f := range a.everyFolder() {
		for _, s := range f.entries {
			used[s.Text] = true
		}
	}
	a.objects.each(func(hash string, size int64) {
		if used[hash] {
			left += size
			return
		}
		if err := os.Remove(a.objects.path(hash)); err != nil {
			a.log.Warn("an old version cannot be removed", "err", fmt.Sprint(err))
		}
	})
	return left
}
