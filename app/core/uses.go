package core

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"conclave/app/gate"
	"conclave/app/record/activity"
)

// uses knows what was put on record of permissions in use: a plugin that opens a folder file by
// file, or a host for each request, uses what it was told once. The zero value is ready.
type uses struct {
	mu   sync.Mutex // guards told
	told map[string]time.Time
}

// sameUse is for how long using the same again is no other use, and maxUses bounds how many are
// remembered.
const (
	sameUse = time.Hour
	maxUses = 1000
)

// again reports whether a use was put on record already, and notes that now it is.
func (s *uses) again(use string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.told[use]; ok && now.Sub(at) < sameUse {
		return true
	}
	if s.told == nil || len(s.told) >= maxUses {
		s.told = map[string]time.Time{}
	}
	s.told[use] = now
	return false
}

// used puts on record what was decided about a permission in use, and into the plugin's log what
// nothing else tells there: of each command, of what a person was asked, and of a folder or host
// once in a call.
func (c *Core) used(u activity.Use) {
	if u.Place != "" {
		use := []string{u.Plugin, u.Permission, u.Place, u.Effect, cmp.Or(u.Rule, u.By)}
		for _, call := range c.Host.Working(u.Plugin) {
			use = append(use, call.ID)
		}
		if c.uses.again(strings.Join(use, "\x00"), u.Time) && u.Waited == 0 {
			return
		}
	}
	c.Store.Activity.RecordUse(u)
	level := "info"
	switch {
	case u.Permission == gate.Network || u.Permission == gate.Web: // the proxy tells what was sent, and what was not
		return
	case u.Effect == "allow":
	case u.Permission == gate.Filesystem || u.Permission == gate.Listen: // the host tells of each
		return
	default:
		level = "warn"
	}
	c.Host.WriteLog(u.Plugin, level, "It "+u.Words()+": "+strings.TrimPrefix(u.Why, "rule: ")+".")
}
