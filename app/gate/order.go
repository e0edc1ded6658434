package gate

import (
	"cmp"
	"strings"

	"conclave/app/net/address"
)

// order is the one order of decisions: the first step that has something to say
// decides, and inside a step the stricter wins. Unknown means ask; an error means
// deny. [Gate.Decide] and [Decisions.Explain] both walk it.
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

// walk makes the steps of the order up to the first that decides, and returns its ruling.
func (c *check) walk() ruling {
	path := make([]Step, 0, len(order))
	for i, step := range order {
		r := step.decide(c)
		why := r.why
		if r.effect == "" {
			why = step.passes
		}
		path = append(path, Step{i, step.name, r.effect, why, r.rule})
		if r.effect != "" {
			r.path = path
			return r
		}
	}
	return ruling{effect: Ask, why: "nothing says that it may", path: path}
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
	if c.call.Permission == Start {
		return ruling{} // Gate.Start checked what it names, and leaves out the plugin's own folders
	}
	unknown := len(c.capabilities) == 0
	files := unknown || hasOne(c.capabilities, ReadFiles, WriteFiles, Delete, RunPrograms)
	web := unknown || hasOne(c.capabilities, Fetch, SendWeb, RunPrograms)
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
	r := c.ruled(g)
	r.tell = "a rule of the person's does not allow it"
	return r
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
	r := c.ruled(g)
	r.once = true
	return r
}

func permissions(c *check) ruling {
	g := c.find(Allow)
	switch {
	case AboutHosts(c.call.Permission) && (g == nil || len(g.Match) == 0):
		return c.anyHost(g)
	case g == nil:
		return ruling{}
	}
	return c.ruled(g)
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
		return ruling{effect: Ask, why: c.firstTime(), usual: true}
	}
	if result.effect == Allow && c.call.Caller == Person {
		result.why = "you ran it yourself"
	}
	return result
}

// unattended allows a call of the main model whose capabilities are known, if its plugin was granted
// no secret: any call of a plugin with one can have it sent.
func unattended(c *check) ruling {
	if c.call.Caller != Main || c.call.Instead != "" || len(c.capabilities) == 0 || !c.facts.runsUnattended(c.now) ||
		c.facts.hasSecret(c.call.Tool.Plugin) {
		return ruling{}
	}
	for _, capability := range c.capabilities {
		if _, known := table[capability]; !known || capability == UseSecret {
			return ruling{}
		}
	}
	return ruling{
		effect: Allow, why: "you let tools run unattended until " + c.facts.unattended.Until.Local().Format("15:04"),
		by: byUnattended,
	}
}

// byUnattended is the By of calls that ran because nobody needed to be asked.
const byUnattended = "unattended mode"
