package deliberation

import (
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

// paceOf names the work of a task.
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
	took map[pace]time.Duration
}

// maxPaces bounds how many are kept; past it all are forgotten.
const maxPaces = 1000

// note takes how long some work took; what it took before counts as much.
func (p *paces) note(of pace, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if before, ok := p.took[of]; ok {
		took = (before + took) / 2
	} else if p.took == nil || len(p.took) >= maxPaces {
		p.took = map[pace]time.Duration{}
	}
	p.took[of] = took
}

// lately returns how long such work took; false where it was not done yet.
func (p *paces) lately(of pace) (took time.Duration, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	took, ok = p.took[of]
	return took, ok
}
