package permit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/address"
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
	effect Effect
	why    string
	tell   string // deny: what the model is told
	by     string
	rule   string
	once   bool // ask: the answer cannot be kept
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

// order is the one order of decisions: the first step that has something to say
// decides, and inside a step the stricter wins. Unknown means ask; an error means
// deny. [Gate.Decide] and [Gate.Explain] both walk it.
var order = [...]struct {
	name   string
	passes string // what is so where it has nothing to say
	decide func(*check) ruling
}{
	0:              {"pause switch", "tools were not paused", paused},
	1:              {"built-in refusals", "it named nothing that no tool may touch", builtIn},
	refusalsStep:   {"your refusals", "none of your rules refuses it", refusals},
	quarantineStep: {"changed since you approved it", "it was as you approved it", quarantine},
	taintStep:      {"untrusted text", "it could not leak untrusted text", taint},
	5:              {"never for longer than once", "nothing that it could do is asked about each time", neverAlways},
	6:              {"your rules to ask", "none of your rules asks about it", askRules},
	7:              {"your permissions", "none of your rules allows it", permissions},
	8:              {"mode", "the mode left it to the default", mode},
	9:              {"default", "", byDefault},
}

// The steps of order about what the person refuses, plugins that changed, and taint.
const (
	refusalsStep   = 2
	quarantineStep = 3
	taintStep      = 4
)

// afterTaint are the steps that follow the one of taint, which asks only where they would
// not deny.
var afterTaint = [...]func(*check) ruling{neverAlways, askRules, permissions, mode, byDefault}

// stepAt is a step of the order with what it says.
func stepAt(number int, r ruling) Step {
	return Step{number, order[number].name, r.effect, r.why, r.rule}
}

// walk finds the first step that decides, and reports each step to visit when
// that is not nil.
func (c *check) walk(visit func(Step)) (int, ruling) {
	for i, step := range order {
		r := step.decide(c)
		if visit != nil {
			s := stepAt(i, r)
			if r.effect == "" {
				s.Why = step.passes
			}
			visit(s)
		}
		if r.effect != "" {
			return i, r
		}
	}
	return len(order) - 1, ruling{effect: Ask, why: "nothing says that it may"}
}

func paused(c *check) ruling {
	if !c.facts.paused {
		return ruling{}
	}
	return ruling{
		effect: Deny, why: "all tools are paused", tell: "all tools are paused by the person", by: "pause switch",
	}
}

// builtIn refuses what no rule can allow: Conclave's own data, keys, browser
// profiles and the metadata addresses of clouds, where the arguments of a tool
// that can reach files, the web or programs name them. What is not known can.
func builtIn(c *check) ruling {
	unknown := len(c.capabilities) == 0
	files, web := unknown, unknown
	if c.call.Permission == Start {
		return ruling{} // Gate.Start looked at what it names, of which the plugin's own folders are let
	}
	for _, capability := range c.capabilities {
		switch capability {
		case ReadFiles, WriteFiles, Delete:
			files = true
		case Fetch, SendWeb:
			web = true
		case RunPrograms:
			files, web = true, true
		}
	}
	if !files && !web {
		return ruling{}
	}
	var found string
	eachText(c.call.Arguments, func(text string) {
		if files && found == "" {
			if place := c.facts.places.protectedPath(text); place != "" {
				found = "it names " + place
			}
		}
		if web && found == "" && address.NamesMetadata(text) {
			found = "it names the metadata address of a cloud"
		}
	})
	if found == "" {
		return ruling{}
	}
	why := found + ", which no tool may touch"
	return ruling{effect: Deny, why: why, tell: why, by: "built-in"}
}

// refusals are the person's, at any scope.
func refusals(c *check) ruling {
	if c.call.noProject { // there may be some for its project
		why := "which project its chat belongs to could not be read"
		return ruling{effect: Deny, why: why, tell: why, by: "built-in"}
	}
	g := c.find(Deny)
	if g == nil {
		return ruling{}
	}
	return ruling{
		effect: Deny, why: "rule: " + Sentence(*g, c.facts.pluginName(g.Plugin)),
		tell: "a rule of the person's does not allow it", by: "rule " + g.ID, rule: g.ID,
	}
}

// quarantine refuses a tool whose definition is not the approved one. The
// definitions of Conclave's own tools come with the program.
func quarantine(c *check) ruling {
	t := c.call.Tool
	if t.Plugin == BuiltIn {
		return ruling{}
	}
	a, ok := c.facts.approvals[t.Plugin]
	switch {
	case !ok || a.Effect == "":
		return ruling{
			effect: Deny, why: "nobody has approved its plugin yet", tell: "its plugin waits for the person's approval",
			by: "built-in",
		}
	case a.Effect != Allow:
		return ruling{
			effect: Deny, why: "you turned its plugin off", tell: "the person turned its plugin off", by: "built-in",
		}
	case c.call.Instead != "" || c.call.Permission != "": // no definition of a tool
		return ruling{}
	case a.Tools == nil || a.Tools[t.Name] == t.Digest || c.facts.released[t.ID()+" "+t.Digest]:
		return ruling{}
	}
	return ruling{
		effect: Deny, why: "it describes itself differently than when you approved it",
		tell: "it changed and waits for the person's approval", by: "built-in",
	}
}

// neverAlways asks for what may not be allowed for longer than once; a council
// member is refused it, but for what hooks made of its calls. It is refused too what a plugin
// would do for a member's call that it was not allowed with: rules about permissions, which
// name no caller, are for everybody else.
func neverAlways(c *check) ruling {
	if r, refused := c.notForMembers(); refused {
		return memberRefused(r)
	}
	if len(c.call.Because) > 0 {
		return ruling{effect: Ask, why: strings.Join(c.call.Because, "; and "), once: true}
	}
	for _, capability := range c.capabilities {
		r, known := table[capability]
		if !known || r.always {
			continue
		}
		if c.call.Caller.IsMember() {
			return memberRefused(r)
		}
		if c.call.Permission == Start { // one command, which a person may have allowed for good
			if c.find(Ask) == nil && c.find(Allow) == nil {
				return ruling{effect: Ask, why: "it would " + r.verb}
			}
			continue
		}
		verb := r.verb
		if why := c.inferred[capability]; why != "" {
			verb += " (" + why + ")"
		}
		return ruling{effect: Ask, why: "it could " + verb + ", which is asked each time", once: true}
	}
	return ruling{}
}

// notForMembers returns what of a permission in use members may not, where the plugin works on
// a call of one that was not allowed with it. Members start read-only, and a person's yes to a
// call is one to what it could do: a call of which that was not known, since nothing isolates its
// plugin, is allowed by nobody but a person, who was told so. What its plugin does for it is
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

func memberRefused(r row) ruling {
	return ruling{
		effect: Deny, why: "council members may not " + r.verb, tell: "council members may not " + r.verb, by: "default",
	}
}

func askRules(c *check) ruling {
	g := c.find(Ask)
	if g == nil {
		return ruling{}
	}
	return ruling{effect: Ask, why: "rule: " + Sentence(*g, c.facts.pluginName(g.Plugin)), rule: g.ID, once: true}
}

func permissions(c *check) ruling {
	g := c.find(Allow)
	switch {
	case AboutHosts(c.call.Permission) && (g == nil || len(g.Match) == 0):
		return c.anyHost(g)
	case g == nil:
		return ruling{}
	}
	return c.allowedBy(g)
}

func (c *check) allowedBy(g *Rule) ruling {
	return ruling{effect: Allow, why: "rule: " + Sentence(*g, c.facts.pluginName(g.Plugin)), by: "rule " + g.ID,
		rule: g.ID}
}

// mode replaces defaults, and nothing above. Careful asks for everything but
// compute; Standard leaves the defaults as they are; Unattended asks about nothing.
func mode(c *check) ruling {
	if r := unattended(c); r.effect != "" {
		return r
	}
	if c.facts.mode() != Careful || c.call.Caller.IsMember() {
		return ruling{}
	}
	for _, capability := range c.capabilities {
		if capability != Compute {
			return ruling{effect: Ask, why: "careful mode asks for everything but computing"}
		}
	}
	return ruling{}
}

func byDefault(c *check) ruling {
	if c.call.Instead != "" {
		return ruling{effect: Ask, why: "it would answer for " + c.call.Instead + ", which is not its tool"}
	}
	if len(c.capabilities) == 0 {
		if known, ok := c.facts.known[c.call.Tool.Plugin]; ok {
			if capabilitiesOf(known, nil, nil) == nil {
				return ruling{effect: Ask, why: "nothing isolates it"}
			}
		}
		return ruling{effect: Ask, why: "what it can touch is not known"}
	}
	member := c.call.Caller.IsMember()
	result := ruling{effect: Allow, why: "computing and its own storage need no permission", by: "default"}
	for _, capability := range c.capabilities {
		r, known := table[capability]
		effect := r.main
		switch {
		case !known:
			effect = Ask
		case member:
			effect = r.member
		}
		switch effect {
		case Deny:
			return memberRefused(r)
		case Ask:
			result = ruling{effect: Ask, why: "it could " + cmp.Or(r.verb, string(capability))}
		}
	}
	if result.effect == Allow && c.call.Caller != Person && c.call.Tool.Plugin != BuiltIn {
		return ruling{effect: Ask, why: c.firstTime()}
	}
	if result.effect == Allow && c.call.Caller == Person {
		result.why = "you ran it yourself"
	}
	return result
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

// unusedTime is how long an unused rule stands before it falls back to asking, see [Rule.Unused].
const unusedTime = 90 * 24 * time.Hour

// matches reports whether a rule is about this request. What a rule does not
// name matches a refusal and never a permission.
func (c *check) matches(g *Rule) bool {
	r := c.call
	if g.Permission == Filesystem && !g.aboutFiles(r) {
		return false
	}
	// First what tells most rules apart. Of one that cannot be read nothing is known.
	if g.broken && g.Effect == Allow || !g.broken && !c.arguments.meets(g.conditions, g.Effect) {
		return false
	}
	if !g.Expires.IsZero() && !c.now.Before(g.Expires) {
		return false
	}
	switch g.Scope {
	case ThisChat:
		if g.Conversation == "" || g.Conversation != r.Conversation {
			return false
		}
	case ThisProject:
		if g.Project == "" || g.Project != r.project {
			return false
		}
	case ThisAnswer:
		if g.Turn == "" || g.Turn != r.Turn {
			return false
		}
	}
	if g.MaxUses > 0 && g.Uses >= g.MaxUses && g.ID != c.counted {
		return false
	}
	if g.Effect != Allow {
		return len(g.Callers) == 0 || slices.ContainsFunc(g.Callers,
			func(caller Caller) bool { return covers(caller, r.Caller) })
	}
	if g.Digest != "" && g.Digest != r.Tool.Digest {
		return false
	}
	if len(g.Origins) > 0 && !c.onlyIgnored(g) {
		return false
	}
	if g.MadeFrom != "" && c.goesBeyond(g.Match) { // by hand, a person writes what they mean
		return false
	}
	if g.Unused(c.now) {
		return false
	}
	if g.Permission != "" { // whoever calls the plugin; no whole grant is one of this computer's network
		return len(g.Match) > 0 || !r.Near
	}
	return slices.ContainsFunc(g.Callers, func(caller Caller) bool { return covers(caller, r.Caller) })
}

// goesBeyond reports whether the call has arguments that its tool does not name, and of which the
// person read nothing when they were offered conditions on where it reaches: texts that lead
// elsewhere, or any text where they read “only in” a folder.
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

// covers reports whether the caller a rule names is this one; AnyMember names
// every member.
func covers(named, caller Caller) bool {
	kind, id, ok := strings.Cut(string(named), ":")
	return named == caller || ok && id == "*" && strings.HasPrefix(string(caller), kind+":")
}
