package gate

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
)

// Step is one step of the order of decisions as it went for one request.
type Step struct {
	Number int    `json:"step"` // 0 to 9
	Name   string `json:"name"`
	Effect Effect `json:"effect,omitempty"` // what it said; empty when it had nothing to say
	Why    string `json:"why,omitempty"`    // why it said so, or what it found that had nothing to say
	Rule   string `json:"rule,omitempty"`   // the rule that matched
}

// String is the step in one line.
func (s Step) String() string {
	if s.Effect == "" {
		return fmt.Sprintf("%d %s: %s", s.Number, s.Name, cmp.Or(s.Why, "nothing to say"))
	}
	return fmt.Sprintf("%d %s: %s, %s", s.Number, s.Name, s.Effect, s.Why)
}

// OnRecord returns steps of the order as the record of a call or a use has them.
func OnRecord(path []Step) []chat.DecisionStep {
	all := make([]chat.DecisionStep, len(path))
	for i, s := range path {
		all[i] = chat.DecisionStep{
			Number: s.Number, Name: s.Name, Effect: string(s.Effect), Why: s.Why, Rule: s.Rule,
		}
	}
	return all
}

// ruling holds the answer of one step; one without effect passes on to the next.
type ruling struct {
	path   []Step // up to that one; filled in by walk
	effect Effect
	why    string
	tell   string // deny: the reason that the model gets
	by     string
	rule   string
	once   bool // ask: the answer cannot be kept
	usual  bool // ask: only since nothing allows the tool yet
}

// last is the step that decided.
func (r ruling) last() Step { return r.path[len(r.path)-1] }

// decision makes a decision of a ruling that asks nobody.
func (r ruling) decision(call *Call) Decision {
	return Decision{
		Effect: r.effect, Why: r.why, Reason: r.tell, By: r.by, Rule: r.rule, Step: r.last().Number, Path: r.path,
		Arguments: call.Arguments,
	}
}

// check is one request on its way through the order. It reads facts and changes nothing but itself.
type check struct {
	facts        *facts
	call         *Call
	capabilities []Capability
	inferred     Inferred
	arguments    arguments
	now          time.Time
	origins      []chat.Origin    // of untrusted text, once the step of taint was made
	alone        bool             // that step let it pass for what its arguments say
	counted      string           // id of the rule among whose uses this call is already; else empty
	overview     *overview        // of a call that nobody makes, for the matrix; else nil
	unnamed      func() []unnamed // arguments of the call; nil until goesBeyond asks
}

// overview decides about calls when only the tool and the caller are known. It leaves
// out the rules that hold for some of these calls alone, and notes their effects.
type overview struct{ partly []Effect }

// leavesOut reports whether a rule is one of those.
func (o *overview) leavesOut(c *check, rule *Rule) bool {
	if o == nil {
		return false
	}
	about, all := rule.about(c.call.Caller)
	if all && len(rule.Match) == 0 && rule.Scope != ThisChat && rule.Scope != ThisProject &&
		rule.Scope != ThisAnswer {
		return false
	}
	if about && !rule.spent(c.now) && !(rule.broken && rule.Effect == Allow) {
		o.partly = append(o.partly, rule.Effect)
	}
	return true
}

// find returns the narrowest rule of that effect that matches, or nil: one for
// the tool before one for the whole plugin, one with conditions before one without, the
// newest of equals.
func (c *check) find(effect Effect) *Rule {
	if c.call.Permission != "" {
		return c.findPermission(effect)
	}
	for _, name := range []string{c.call.Tool.Name, "*"} {
		if name == "*" && effect == Allow && c.call.Instead != "" {
			continue // any of its tools is not another's
		}
		set := c.facts.book.calls(ruleKey{c.call.Tool.Plugin, name, effect})
		near := set.near(&c.arguments, effect)
		if c.overview != nil { // which is about calls whatever they are asked with
			near = set.all()
		}
		for rule := range near {
			if !c.overview.leavesOut(c, rule) && c.matches(rule) {
				return rule
			}
		}
	}
	return nil
}

// findPermission returns the narrowest rule of that effect about the permission in use,
// or nil.
func (c *check) findPermission(effect Effect) (found *Rule) {
	for _, rule := range c.facts.book.about(c.call.Tool.Plugin) {
		if rule.Permission == c.call.Permission && rule.Effect == effect && c.matches(rule) &&
			(found == nil || len(rule.Match) >= len(found.Match)) {
			found = rule
		}
	}
	return found
}

// matches reports whether a rule is about this request. What a rule does not
// name matches a refusal and never a permission.
func (c *check) matches(g *Rule) bool {
	r := c.call
	switch {
	case g.Permission == Filesystem && !g.aboutFiles(r),
		// First what excludes most rules. Nothing is known about one that cannot be read.
		g.broken && g.Effect == Allow, !g.broken && !c.arguments.meets(g.conditions, g.Effect),
		!g.Expires.IsZero() && !c.now.Before(g.Expires),
		g.MaxUses > 0 && g.Uses >= g.MaxUses && g.ID != c.counted,
		!g.holdsIn(r):
		return false
	case g.Effect != Allow:
		return len(g.Callers) == 0 || g.covers(r.Caller)
	case g.Digest != "" && g.Digest != r.Tool.Digest,
		len(g.Origins) > 0 && !c.onlyIgnored(g),
		g.MadeFrom != "" && c.goesBeyond(g.Match), // by hand, a person writes what they mean
		g.Unused(c.now):
		return false
	case g.Permission != "": // whoever calls the plugin; no whole grant is one of this computer's network
		return len(g.Match) > 0 || !r.Near
	}
	return g.covers(r.Caller)
}

// goesBeyond reports whether the call has arguments that its tool does not declare and that the
// person did not see when they were offered conditions on where it reaches: texts that lead
// elsewhere, or any text if they read “only in” a folder.
func (c *check) goesBeyond(offered []Match) bool {
	only := slices.ContainsFunc(offered, func(m Match) bool { return m.Sole })
	if !only && !slices.ContainsFunc(offered, Match.reaches) {
		return false
	}
	if c.unnamed == nil {
		c.unnamed = sync.OnceValue(func() []unnamed { return c.facts.places.unnamed(c.call.Tool, c.call.Arguments) })
	}
	return slices.ContainsFunc(c.unnamed(), func(u unnamed) bool {
		return (only || u.leads) && !slices.ContainsFunc(offered, func(m Match) bool {
			return m.Field == u.name || slices.Contains(m.Free, u.name)
		})
	})
}

// anyHost decides about a connection to a host that no rule names. The person may have
// allowed the plugin every host, by whole, or approved one that asks for the web, for the
// calls that they allow. Neither is wider than the rules about hosts that allowed those.
func (c *check) anyHost(whole *Rule) ruling {
	var narrow []string
	for _, call := range c.call.within {
		rule := c.facts.book.rule(call.Rule)
		switch {
		case call.Rule == "":
			continue
		case rule == nil:
			return ruling{effect: Ask, why: "the rule that allowed the call was taken back"}
		}
		hosts, holds := rule.names(c.call.hostAsked())
		if holds && c.call.Permission == Web && !c.call.Near {
			return ruling{effect: Allow, why: "the rule that allowed the call is about this host", by: byCall}
		}
		if holds {
			narrow = nil
			break
		}
		narrow = append(narrow, hosts...)
	}
	switch {
	case whole == nil && !c.forCalls():
		return ruling{}
	case len(narrow) > 0:
		return ruling{effect: Ask, why: "the rule that allowed the call is about " + limit.Listed(narrow) + " alone"}
	case whole != nil:
		return c.ruled(whole)
	}
	return ruling{effect: Allow, why: "you allowed the call that it is for, and its plugin the web", by: byCall}
}

// forCalls reports whether the plugin may fetch from any host what the calls that it works
// on need.
func (c *check) forCalls() bool {
	return c.call.Permission == Web && len(c.call.within) > 0 && !c.call.Near && c.facts.approvedWeb(c.call.Tool.Plugin)
}

// byCall is the By of connections that were allowed with the call that they are for.
const byCall = "allowed call"

// notForMembers returns what of a permission in use members may not, where the plugin works on
// a call of one that was not allowed with it. Members start read-only, and a person's yes to a
// call covers what the call could do. If that was not known, because nothing isolates the plugin,
// only a person can have allowed the call, and they read that. What its plugin does for it is
// decided as for the main model, by what the plugin was allowed.
func (c *check) notForMembers() (row, bool) {
	for _, call := range c.call.within {
		if !call.Caller.IsMember() || len(call.Capabilities) == 0 {
			continue
		}
		for _, capability := range c.capabilities {
			if r := table[capability]; r.member == Deny && !slices.Contains(call.Capabilities, capability) {
				return r, true
			}
		}
	}
	return row{}, false
}

// ruled is the ruling of a rule.
func (c *check) ruled(g *Rule) ruling {
	return ruling{
		effect: g.Effect, why: "rule: " + Sentence(*g, c.facts.pluginName(g.Plugin)), by: "rule " + g.ID, rule: g.ID,
	}
}

func (c *check) firstTime() string {
	switch u := c.facts.uses[c.call.Tool.ID()]; {
	case u.Yes > 0:
		return "you allowed it before, but not for longer"
	case u.Times > 0: // by a person's own hand, or by --approve always
		return "you have not been asked about it before"
	}
	return "first time this tool runs"
}

// check prepares a call for the walk through the order.
func (f *facts) check(call *Call) *check {
	capabilities := call.Capabilities
	var why Inferred
	if capabilities == nil {
		capabilities, why = f.ofTool(call.Tool, f.able(call.Tool.Plugin))
	}
	c := f.checkOf(call, capabilities)
	c.inferred = why
	return c
}

// checkOf prepares a call whose capabilities are known.
func (f *facts) checkOf(call *Call, capabilities []Capability) *check {
	return &check{
		facts: f, call: call, capabilities: capabilities, now: f.now,
		arguments: arguments{places: f.places, raw: call.Arguments},
	}
}

// again decides once more about a call that d allowed.
func (f *facts) again(call *Call, d Decision) ruling {
	c := f.check(call)
	c.counted = d.Rule
	return c.walk()
}
