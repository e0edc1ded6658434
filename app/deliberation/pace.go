package deliberation

import (
	"context"
	"slices"
	"sync"
	"time"

	"conclave/app/council"
)

// pace names work of one kind, by what it took can be told what it will take.
type pace struct {
	kind  council.TaskKind
	tool  string // UseTool: as it is assigned
	model string // that does it; "" is none
}

// paceOf names the work of a task that is to be done.
func (s *session) paceOf(r council.Run, t council.Task) pace {
	of := pace{kind: t.Kind, tool: t.Tool}
	if t.Kind != council.UseTool || NeedsModel(s.tools, t.Tool, memberOf(council.Job{Run: r, Task: t})) != "" {
		of.model = modelOf(r, t.Member)
	}
	return of
}

// paces hold how long work took lately, for estimates. It is safe for concurrent use.
type paces struct {
	mu   sync.Mutex
	took map[pace][]time.Duration // the newest last
}

// maxPaces bounds how many are kept; past it all are forgotten.
const maxPaces = 1000

// recentPaces is how often the same work is remembered: the median of so many follows a model
// that became slower soon, and no single answer that was slow.
const recentPaces = 7

// note takes how long some work took.
func (p *paces) note(of pace, took time.Duration) {
	if took < 0 { // the clock was set back meanwhile
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, ok := p.took[of]; p.took == nil || !ok && len(p.took) >= maxPaces {
		p.took = map[pace][]time.Duration{}
	}
	all := append(p.took[of], took)
	p.took[of] = all[max(0, len(all)-recentPaces):]
}

// lately returns how long such work took, the median of the last times; false where it was not
// done yet.
func (p *paces) lately(of pace) (took time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	all := slices.Sorted(slices.Values(p.took[of]))
	if len(all) == 0 {
		return 0, false
	}
	return all[(len(all)-1)/2], true
}

// learn takes how long the work of a run took, as far as it came to something.
func (p *paces) learn(r council.Run) {
	for _, t := range r.Tasks {
		if _, kept := r.Kept[t.ID]; kept || t.State != council.Done {
			continue
		}
		of := pace{kind: t.Kind, tool: t.Tool}
		switch {
		case slices.ContainsFunc(t.End.Requests, func(sent council.Request) bool { return !t.Handed(sent) }):
			of.model = modelOf(r, t.Member)
		case t.Kind != council.UseTool: // there was nothing to ask its model
			continue
		}
		p.note(of, t.Ended.Sub(t.Started)-t.Asked)
	}
	if r.Answer != nil && r.Answer.TookMS > 0 {
		of := pace{kind: council.Synthesize, model: r.Models[""]}
		p.note(of, time.Duration(r.Answer.TookMS)*time.Millisecond)
	}
}

// recalledRuns bounds how many runs of before are looked at.
const recalledRuns = 12

// recall takes once how long work took in the newest runs that are kept, of all chats. One that
// cannot be read is left out.
func (r *Runner) recall(ctx context.Context) {
	r.recalled.Do(func() {
		ctx := context.WithoutCancel(ctx) // whoever asks next has it too
		headers, err := r.o.Log.Runs(ctx, "")
		if err != nil {
			return // work takes what such work usually does
		}
		slices.SortStableFunc(headers, func(a, b council.Header) int { return a.Began.Compare(b.Began) })
		for _, h := range headers[max(0, len(headers)-recalledRuns):] {
			if r.loop(h.Run) != nil {
				continue // it is learnt from when it is over
			}
			if run, _, err := r.stored(ctx, h.Run); err == nil {
				r.paces.learn(run)
			}
		}
	})
}
