package permit

import (
	"context"

	"conclave/app/tool"
)

// running is a call under way.
type running struct {
	call Call
	d    Decision // that allowed it
	stop func(Decision)
}

// Begin is called when a call that d allowed could wait no longer. It returns d, or the refusal
// that has taken its place since: tools were paused, a rule refuses it, its plugin changed, or
// the rule that allowed it is gone. It asks nobody: what was allowed once stays so.
//
// Of a call that may still be made, stop is called, once and from any goroutine, should the
// person pause the tools, refuse it, or take back what alone allowed it before ended is called,
// with the refusal. That its plugin changes does not stop a call under way.
func (g *Gate) Begin(ctx context.Context, call Call, d Decision, stop func(Decision)) (now Decision, ended func()) {
	if call.Tool.Digest == "" {
		call.Tool = tool.Normal(call.Tool)
	}
	g.findProject(ctx, &call)
	g.mu.Lock()
	defer g.mu.Unlock()
	step, r, path := g.againLocked(&call, d)
	if r.effect == Allow || r.effect == Ask && (d.Rule == "" || g.byID[d.Rule] != nil) {
		of := &running{call, d, stop}
		of.standLocked(g, r)
		g.running[of] = struct{}{}
		return d, func() {
			g.mu.Lock()
			defer g.mu.Unlock()
			delete(g.running, of)
		}
	}
	if r.effect == Ask {
		r.why, r.tell = "you took back what allowed it, before it was run", tookBack
	}
	return Decision{
		Effect: Deny, Why: r.why, By: r.by, Rule: r.rule, Step: step, Reason: r.tell, Arguments: d.Arguments, Path: path,
		Waited: d.Waited,
	}, func() {}
}

// standLocked has a call whose rule is gone stand on what allows it now, so that taking that back
// stops it. One that was allowed once stays so.
func (of *running) standLocked(g *Gate, now ruling) {
	if now.effect == Allow && of.d.Rule != "" && g.byID[of.d.Rule] == nil {
		of.d.Rule = now.rule
	}
}

// tookBack tells the model why a call that was allowed is not made, or made no further.
const tookBack = "the person took the permission back"

// againLocked decides once more about a call that d allowed.
func (g *Gate) againLocked(call *Call, d Decision) (step int, r ruling, path []Step) {
	c := g.checkLocked(call)
	c.counted = d.Rule
	step, r = c.walk(func(s Step) { path = append(path, s) })
	return step, r, path
}

// recheckRunning stops the calls under way that the person refuses now, by the pause switch or
// a rule, and those that the rule named gone allowed and nothing else allows.
func (g *Gate) recheckRunning(gone string) {
	over := map[*running]Decision{}
	g.mu.Lock()
	for of := range g.running {
		step, r, _ := g.againLocked(&of.call, of.d)
		switch {
		case r.effect == Deny && step <= refusalsStep:
			over[of] = Decision{Effect: Deny, Why: r.why, Reason: r.tell, By: r.by, Rule: r.rule, Step: step}
		case r.effect != Allow && gone != "" && of.d.Rule == gone:
			over[of] = Decision{Effect: Deny, Why: "you took back what allowed it", Reason: tookBack, By: "person", Step: step}
		default:
			of.standLocked(g, r)
			continue
		}
		delete(g.running, of)
	}
	g.mu.Unlock()
	for of, d := range over {
		of.stop(d)
	}
}
