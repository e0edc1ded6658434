package host

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin"

	conclave "conclave/app/base/version"
)

// rests are how long a load that hung is left alone: the first time, the second,
// and so on; the last holds for all that follow: a plugin that always hangs costs a load a day.
// One for which the computer was too busy does not rest (busyKind).
var rests = []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, 24 * time.Hour}

// hungRetryInterval is the interval at which a program that lasts looks for plugins whose rest is
// over.
const hungRetryInterval = time.Minute

// hungLoad is a load that took all the time it may have. The same may take as long
// again, so it is not repeated at every start of Conclave.
type hungLoad struct {
	Load    string         `json:"load"` // what was loaded, as loadOf says
	Problem plugin.Problem `json:"problem"`
	Times   int            `json:"times"` // how often in a row
	At      time.Time      `json:"at"`    // the last time
}

// mayRetry reports whether the plugin has waited long enough for another try. Setting
// the clock back does not make the wait longer.
func (k *hungLoad) mayRetry(now time.Time) bool {
	return now.Before(k.At) || !now.Before(k.until())
}

func (k *hungLoad) until() time.Time { return k.At.Add(rests[min(max(k.Times, 1), len(rests))-1]) }

// loadOf is the digest of all that makes a load of v what it is: its code and its
// settings, what it may reach, and this version of Conclave.
func (m *memory) loadOf(v version) string {
	granted, _ := m.e.h.o.Gate.Reach.Permissions(m.e.id)
	raw, err := json.Marshal(struct {
		Code, Settings, Conclave string
		Granted                  []string
		Folders                  []gate.Folder
	}{v.digest, v.settings, conclave.Version, granted, m.e.h.o.Gate.Reach.Folders(m.e.id)})
	if err != nil {
		return "" // text and lists of it: it always marshals
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// knownToHang returns the problem of a load that took too long before; nil for
// one that is worth its time.
func (m *memory) knownToHang(v version) error {
	load := m.loadOf(v)
	known := m.e.now().record.Hung
	if known == nil || known.Load != load || known.mayRetry(time.Now()) {
		return nil
	}
	p := known.Problem
	p.Message += " It is not started again before " + known.until().Local().Format("15:04 on 2 January") +
		", unless its files, settings or permissions change, or it is reloaded."
	return &p
}

// noteHungLoad remembers durably whether loading v took too long; err is how it ended.
func (m *memory) noteHungLoad(v version, err error) {
	if m.e.temporary {
		return
	}
	var now *hungLoad
	if err != nil {
		if p := plugin.ProblemOf(err); p.Kind == "deadline" {
			now = &hungLoad{Load: m.loadOf(v), Problem: *p, Times: 1, At: time.Now()}
			now.Problem.Stderr = "" // the plugin's own words, which are its log's to keep
		}
	}
	m.e.mu.Lock()
	was := m.e.record.Hung
	if now != nil && was != nil && was.Load == now.Load {
		now.Times += was.Times
	}
	m.e.record.Hung = now
	m.e.mu.Unlock()
	if was != nil || now != nil {
		m.save()
	}
}

// retryHungLoads loads plugins that hung again when they have waited long enough, and those for
// which the computer was too busy, until ctx ends.
func (h *Host) retryHungLoads(ctx context.Context) {
	ticker := time.NewTicker(hungRetryInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		for _, e := range h.all() {
			now := e.now()
			k, problem := now.record.Hung, now.status.Problem
			if now.status.State == plugin.Failed &&
				(k != nil && k.mayRetry(time.Now()) || problem != nil && problem.Kind == busyKind) {
				e.requestLoad(request{decided: true})
			}
		}
	}
}
