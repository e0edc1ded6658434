package host

import (
	"bytes"
	"slices"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// listWindow is the time within which limit.ToolListings counts.
const listWindow = 10 * time.Second

// toolsChanged is called when the process says that its tools changed.
func (r *runner) toolsChanged() {
	r.mu.Lock()
	r.relist = true
	r.mu.Unlock()
	r.listAgain()
}

// listAgain lists the tools in the background, one listing at a time, if the
// process said that they changed. A version that does not serve yet is listed
// again once it does.
func (r *runner) listAgain() {
	if !r.h.tasks.began(&r.e.inFlight) {
		return
	}
	r.mu.Lock()
	begin := r.relist && !r.listing
	r.listing = r.listing || begin
	r.mu.Unlock()
	if !begin {
		r.h.tasks.ended(&r.e.inFlight)
		return
	}
	go func() { // ends when nothing is left to list; Close waits for it
		defer r.h.tasks.ended(&r.e.inFlight)
		for {
			wanted, wait := r.wanted()
			if wanted && wait > 0 { // nobody waits for this, so it counts as no load
				r.h.tasks.spawn(func() { r.listLater(wait) }) // ends after wait, or with Close
			}
			if !wanted || wait > 0 {
				return
			}
			r.listNow()
		}
	}()
}

// wanted takes up the next listing, or ends the turn of this goroutine. A listing
// that would be one too many is to wait, and is not taken up yet.
func (r *runner) wanted() (yes bool, wait time.Duration) {
	serves := r.e.runner() == r
	r.mu.Lock()
	defer r.mu.Unlock()
	if !serves || !r.relist || r.h.ctx.Err() != nil {
		r.listing = false
		return false, 0
	}
	now := time.Now()
	r.listed = slices.DeleteFunc(r.listed, func(t time.Time) bool { return now.Sub(t) >= listWindow })
	if len(r.listed) >= limit.ToolListings {
		return true, listWindow - now.Sub(r.listed[0])
	}
	r.relist, r.listed = false, append(r.listed, now)
	return true, 0
}

// listLater lists again after wait.
func (r *runner) listLater(wait time.Duration) {
	r.e.logs("warn", "It says all the time that its tools changed. They are listed 10 times within 10 s, and the "+
		"newest ones a little later.")
	select {
	case <-time.After(wait):
	case <-r.h.ctx.Done():
		return
	}
	r.mu.Lock()
	r.listing = false
	r.mu.Unlock()
	r.listAgain()
}

// listNow lists the tools of the running process again; they go the way of a new
// version's.
func (r *runner) listNow() {
	e := r.e
	if r.h.Dialects.patient(r.version().src) {
		defer e.h.tasks.setAside(&e.inFlight)()
	}
	began := time.Now()
	toolsDenied := e.now().toolsDenied
	r.mu.Lock()
	s := r.live
	if s == nil || toolsDenied {
		r.mu.Unlock()
		return
	}
	s.uses++
	v := r.v
	r.mu.Unlock()
	ctx, cancel := boundLoad(e.h.ctx, v.loadTime(e.h.o.LoadTimeout))
	loadClockOf(ctx).follow(s.process)
	was := v
	err := s.list(ctx, &v)
	cancel()
	r.release(s)
	if err != nil {
		e.logs("warn", "Its changed tools could not be listed: "+plugin.ProblemOf(err).Message)
		return
	}
	if sameTools(v.tools, was.tools) && bytes.Equal(v.options, was.options) && slices.Equal(v.notes, was.notes) {
		return
	}
	// A tool that went may come again: what was approved stays approved.
	fewer := !slices.ContainsFunc(v.tools, func(t tool.Tool) bool {
		return !slices.ContainsFunc(was.tools, func(old tool.Tool) bool { return sameTool(old, t) })
	})
	e.relisted(r, v, began, !fewer)
}

// relisted takes up a version that r runs with other tools: as far as the gate lets it.
func (e *entry) relisted(r *runner, v version, began time.Time, pin bool) {
	e.follow(e.judge(effect{version: v, run: r, again: true, pin: pin, began: began}))
}

func sameTools(a, b []tool.Tool) bool { return slices.EqualFunc(a, b, sameTool) }

func sameTool(a, b tool.Tool) bool {
	return a.Name == b.Name && a.Digest == b.Digest && a.CouncilEligible == b.CouncilEligible &&
		a.InlineAvailable == b.InlineAvailable && a.Role == b.Role && bytes.Equal(a.Output, b.Output)
}
