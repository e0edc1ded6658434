package core

import (
	"cmp"
	"strings"
	"sync"
	"time"

	"conclave/app/gate"
	"conclave/app/record/activity"
)

// uses records how plugins use permissions. A plugin that opens a folder file by file, or a host for
// each request, is recorded once.
type uses struct {
	c *Core

	mu       sync.Mutex // guards recorded
	recorded map[string]time.Time
}

// sameUse is the time within which the same use is not recorded again; maxUses bounds those remembered.
const (
	sameUse = time.Hour
	maxUses = 1000
)

// again reports whether a use was recorded already, and remembers it.
func (s *uses) again(use string, now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if at, ok := s.recorded[use]; ok && now.Sub(at) < sameUse {
		return true
	}
	if s.recorded == nil || len(s.recorded) >= maxUses {
		s.recorded = map[string]time.Time{}
	}
	s.recorded[use] = now
	return false
}

// record records a decision about a permission in use. It also writes to the plugin's log what nothing
// else writes there: each command, what a person was asked, and a folder or host once in a call.
func (s *uses) record(u activity.Use) {
	if u.Place != "" {
		use := []string{u.Plugin, u.Permission, u.Place, u.Effect, cmp.Or(u.Rule, u.By)}
		for _, call := range s.c.Host.Calls.Working(u.Plugin) {
			use = append(use, call.ID)
		}
		if s.again(strings.Join(use, "\x00"), u.Time) && u.Waited == 0 {
			return
		}
	}
	s.c.Store.Activity.RecordUse(u)
	level := "info"
	switch {
	case u.Permission == gate.Network || u.Permission == gate.Web: // the proxy logs what was sent, and what was not
		return
	case u.Effect == "allow":
	case u.Permission == gate.Filesystem || u.Permission == gate.Listen: // the host logs each
		return
	default:
		level = "warn"
	}
	s.c.Host.WriteLog(u.Plugin, level, "It "+u.Words()+": "+strings.TrimPrefix(u.Why, "rule: ")+".")
}
