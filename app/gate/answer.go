package gate

import (
	"context"
	"errors"
	"strings"

	"conclave/app/chat"
	"conclave/app/tool"
)

// askTerminal puts the request before the asker it came with, and returns what is known of the
// call when it is decided. Where the asker shows one request at a time, the order is walked again
// once the turn of this one comes: what the person answered meanwhile may decide about it too.
func (q *Questions) askTerminal(ctx context.Context, c *check, r ruling, p Request) (Decision, *check) {
	call := c.call
	if call.OnWait != nil {
		call.OnWait(p.ID)
	}
	if _, always := call.Asker.(AlwaysAsker); always {
		if why, tell := q.notForAlways(call); why != "" {
			return Decision{Effect: Deny, By: AlwaysAsker{}.By(), Step: r.last().Number, Why: why, Reason: tell}, c
		}
	}
	defer q.asking(call)()
	askCtx, cancel := context.WithTimeoutCause(ctx, AnswerTimeout, errExpired)
	defer cancel()
	if line, ok := call.Asker.(Line); ok {
		end, err := line.Turn(askCtx)
		if err == nil {
			defer end()
		}
		if err != nil || q.late(askCtx, p) {
			return q.unanswered(ctx, askCtx, r.last().Number, p), c
		}
		f := q.decisions.lock()
		c = f.check(call)
		if r = c.walk(); r.effect != Ask {
			d, counted := q.decisions.settleLocked(call, r)
			q.decisions.unlock()
			return q.rules.counted(ctx, d, counted), c
		}
		now := f.describe(c, r)
		q.decisions.unlock()
		now.ID, now.Nonce, now.Asked, now.Expires = p.ID, p.Nonce, p.Asked, p.Expires
		p = now
	}
	q.mu.Lock()
	p.Rapid = q.pace.rapid(p)
	q.mu.Unlock()
	p.Preview = q.reach.preview(ctx, call, &p)
	d := q.answered(ctx, askCtx, call, r.last().Number, p)
	d.Path = r.path
	return d, c
}

// answered asks the asker of a call, and makes the decision of the answer.
func (q *Questions) answered(ctx, askCtx context.Context, call *Call, step int, p Request) Decision {
	answer, err := call.Asker.Ask(askCtx, p)
	if err != nil || q.late(askCtx, p) {
		return q.unanswered(ctx, askCtx, step, p)
	}
	if err := p.accepts(answer); err != nil {
		q.log.Warn("an answer to a permission request cannot be used", "tool", p.Tool, "err", err)
		return nobody(step)
	}
	d, err := q.apply(ctx, *call, step, p, answer, by(call.Asker))
	if err != nil {
		q.log.Warn("a permission could not be kept", "tool", p.Tool, "err", err)
	}
	return d
}

// late reports whether an answer to a request would come too late.
func (q *Questions) late(ctx context.Context, p Request) bool {
	return ctx.Err() != nil || p.overdue(q.now())
}

// unanswered is the decision about a request that has no answer: the call was stopped, the time is
// over, or there is nobody.
func (q *Questions) unanswered(ctx, askCtx context.Context, step int, p Request) Decision {
	switch {
	case ctx.Err() != nil:
		return stopped()
	case errors.Is(context.Cause(askCtx), errExpired), p.overdue(q.now()): // the latter where the computer slept
		return expired(step)
	}
	return nobody(step)
}

// apply makes the answer's decision and remembers the rule it asks for. The
// error says that the rule could not be written; it holds until Conclave quits.
func (q *Questions) apply(ctx context.Context, call Call, step int, p Request, a Answer, by string) (Decision, error) {
	d := Decision{Effect: a.Effect, By: by, Step: step, Arguments: call.Arguments}
	if by == "person" {
		q.mu.Lock()
		q.pace.answered(p, a, q.now())
		q.mu.Unlock()
	}
	rule, keep := ruleFrom(call, p, a)
	var err error
	if keep {
		rule, err = q.rules.Add(ctx, rule)
		d.Rule = rule.ID
	}
	for _, o := range a.Trust {
		_, failed := q.rules.Trust(ctx, call.Conversation, o)
		err = errors.Join(err, failed)
	}
	who := "you"
	if by != "person" {
		who = by
	}
	if a.Effect == Deny {
		d.Why = who + " did not allow it"
		d.Reason = "the person did not allow it"
		if reason, _ := tool.Strip(strings.TrimSpace(a.Reason)); reason != "" {
			d.Reason += ": " + reason
			d.Why += ": " + reason
		}
		return d, err
	}
	d.Why = who + " allowed it " + a.Scope.words()
	if by != "person" && len(p.Origins) > 0 { // nobody was shown them
		d.Why += ", although this chat contains " + OriginWords(p.Origins)
	}
	if len(a.Arguments) > 0 && !tool.SameJSON(a.Arguments, call.Arguments) {
		d.Arguments, d.Edited = a.Arguments, true
		d.Why += ", with edited arguments"
	}
	q.rules.mu.Lock()
	counted := q.rules.noteLocked(call.Tool.ID(), d.Rule, by == "person")
	q.rules.mu.Unlock()
	return q.rules.counted(ctx, d, counted), err
}

// ruleFrom is the rule an answer asks for, if it is to be kept.
func ruleFrom(call Call, p Request, a Answer) (Rule, bool) {
	if a.Scope == Once || a.Scope == "" {
		return Rule{}, false
	}
	if call.Permission != "" {
		return useRule(call, p, a), true
	}
	rule := Rule{
		Effect: a.Effect, Plugin: call.Tool.Plugin, Tool: call.Tool.Name, Scope: a.Scope, MadeFrom: p.ID,
	}
	rule.placed(p)
	if a.Effect == Deny {
		return rule, true // no callers: nobody's calls
	}
	switch {
	case a.Council && call.Caller.IsMember():
		rule.Callers = []Caller{AnyMember}
	case a.Council:
		rule.Callers = []Caller{call.Caller, AnyMember}
	default:
		rule.Callers, rule.CallerName = []Caller{call.Caller}, p.CallerName
	}
	rule.Digest, rule.Match = call.Tool.Digest, p.offered(a.Match)
	if len(p.Origins) > 0 {
		rule.Origins = ignoredOrigins(p.Origins, a.Match)
	}
	return rule, true
}

// ignoredOrigins returns the origins that a rule lets a call ignore: those its maker
// was shown, and the host that it lets them read from.
func ignoredOrigins(shown []chat.Origin, only []Match) []chat.Origin {
	all := chat.AddOrigins(nil, shown...)
	for _, m := range only {
		if m.Op == HostIs {
			all = chat.AddOrigins(all, chat.NewOrigin(chat.FromWeb, m.Value))
		}
	}
	return all
}
