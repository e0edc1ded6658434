package deliberation

import (
	"context"
	"slices"
	"sync"
	"time"

	"conclave/app/council"
)

// workKind is work that takes about the same time.
type workKind struct {
	kind  council.TaskKind
	tool  string // UseTool: as assigned to the member
	model string // that does the work; "" is none
}

// kindOfWork returns the kind of a task that is to be done.
func (s *session) kindOfWork(r council.Run, t council.Task) workKind {
	of := workKind{kind: t.Kind, tool: t.Tool}
	if t.Kind != council.UseTool || NeedsModel(s.tools, t.Tool, r.Member(t.Member)) != "" {
		of.model = modelOf(r, t.Member)
	}
	return of
}

// durations hold the recent durations of work, for estimates. It is safe for concurrent use.
type durations struct {
	mu   sync.Mutex
	took map[workKind][]time.Duration // the newest last
}

// maxDurations bounds the kinds of work; beyond it all are forgotten.
const maxDurations = 1000

// recentDurations bounds the durations that count for a kind: their median soon follows a model that
// became slower, and ignores a single slow answer.
const recentDurations = 7

// record adds the duration of some work.
func (p *durations) record(of workKind, took time.Duration) {
	if took < 0 { // the clock was set back meanwhile
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.took[of]; p.took == nil || !ok && len(p.took) >= maxDurations {
		p.took = map[workKind][]time.Duration{}
	}
	all := append(p.took[of], took)
	p.took[of] = all[max(0, len(all)-recentDurations):]
}

// median returns the median of the recent durations; ok is false where there are none.
func (p *durations) median(of workKind) (took time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Sorted(slices.Values(p.took[of]))
	if len(all) == 0 {
		return 0, false
	}
	return all[(len(all)-1)/2], true
}

// observe records the durations of a run's successful work.
func (p *durations) observe(r council.Run) {
	for _, t := range r.Tasks {
		if _, kept := r.Kept[t.ID]; kept || t.State != council.Done {
			continue
		}
		of := workKind{kind: t.Kind, tool: t.Tool}
		switch {
		case slices.ContainsFunc(t.End.Requests, func(sent council.Request) bool { return !t.Handed(sent) }):
			of.model = modelOf(r, t.Member)
		case t.Kind != council.UseTool: // its model was not asked
			continue
		}
		p.record(of, t.Ended.Sub(t.Started)-t.Asked)
	}
	if r.Answer != nil && r.Answer.TookMS > 0 {
		of := workKind{kind: council.Synthesize, model: r.Models[""]}
		p.record(of, time.Duration(r.Answer.TookMS)*time.Millisecond)
	}
}

// observedRuns bounds how many earlier runs are read.
const observedRuns = 12

// loadDurations observes the newest stored runs of all chats, once. It skips runs that cannot be read.
func (r *Runner) loadDurations(ctx context.Context) {
	r.loadedDurations.Do(func() {
		ctx := context.WithoutCancel(ctx) // later estimates use it too
		headers, err := r.o.Log.Runs(ctx, "")
		if err != nil {
			return // estimates use the defaults
		}
		slices.SortStableFunc(headers, func(a, b council.Header) int { return a.Began.Compare(b.Began) })
		for _, h := range headers[max(0, len(headers)-observedRuns):] {
			if r.loop(h.Run) != nil {
				continue // it is observed once it is over
			}
			if run, _, err := r.stored(ctx, h.Run); err == nil {
				r.durations.observe(run)
			}
		}
	})
}
