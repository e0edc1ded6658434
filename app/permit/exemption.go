package permit

import (
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/fault"
	"conclave/app/jsonobject"
	"conclave/app/tool"
)

// The step of taint asks nothing about two kinds of calls: one that can send nothing but what the person
// wrote for it, and one that a person allowed even though the chat holds this text. Both are
// decided by where words came from, never by what they look like (ADR 17).

// saysNothing reports whether all that a call can tell anybody are addresses that the
// person wrote in this chat: its tool knows only its arguments (see Decision.Alone), and these
// hold nothing else but what their schema says anyway.
func (c *check) saysNothing() bool {
	if len(c.call.Wrote) == 0 || len(c.capabilities) == 0 || c.call.Caller != Main || len(c.call.Because) > 0 ||
		c.call.Instead != "" {
		return false
	}
	for _, capability := range c.capabilities {
		switch capability {
		case Compute, Fetch, SendWeb, ShowUI:
		default: // it knows more, or does more
			return false
		}
	}
	said, ok := c.said()
	for i, one := range said {
		ok = ok && slices.Contains(c.call.Wrote, one.text) && !slices.ContainsFunc(said[:i],
			func(before spoken) bool { return before.text == one.text })
	}
	return ok && len(said) > 0
}

// spoken is an argument that says something: a text that its schema does not say anyway.
type spoken struct{ name, text string }

// said returns what the arguments of a call say, and whether they say it in texts under
// the names of their schema alone.
func (c *check) said() (all []spoken, ok bool) {
	declared := propertiesOf(c.call.Tool)
	for name, value := range jsonobject.Fields(c.call.Arguments) {
		property, known := declared[name]
		if !known { // a name says something too
			return nil, false
		}
		if len(property.Default) > 0 && tool.SameJSON(value, property.Default) {
			continue
		}
		text, isText, readable := scalar(value)
		if !readable || !isText || len(all) > 0 && all[len(all)-1].name == name {
			return nil, false
		}
		all = append(all, spoken{name, text})
	}
	return all, true
}

// allowedDespite reports whether a person allowed such calls even though the chat holds this text.
func (c *check) allowedDespite() bool {
	rules := c.facts.book.calls(ruleKey{c.call.Tool.Plugin, c.call.Tool.Name, Allow})
	for rule := range rules.near(&c.arguments, Allow) {
		if len(rule.Origins) > 0 && c.matches(rule) {
			return true
		}
	}
	return false
}

// onlyIgnored reports whether a call only reads, and its chat holds text of no origins but
// those that the rule lets it ignore.
func (c *check) onlyIgnored(rule *Rule) bool {
	_, ok := c.reads()
	return ok && !slices.ContainsFunc(c.origins, func(o chat.Origin) bool { return !slices.Contains(rule.Origins, o) })
}

// checkIgnored checks that a rule which lets calls ignore origins is about one host, in one chat.
func (g Rule) checkIgnored() error {
	if len(g.Origins) == 0 || g.Effect == Allow && g.Scope == ThisChat && g.Conversation != "" && g.Tool != "*" &&
		g.Permission == "" && len(g.Match) == 1 && g.Match[0].Op == HostIs {
		return nil
	}
	return fault.New(fault.Invalid, "permit.ignored",
		"Only reading from a single host can be allowed while the chat holds untrusted text.",
		"Name the tool, the host and the chat.")
}

// reads returns the one address that a call is about, where its arguments say nothing
// beside it: what they might say to somebody else is asked about each time.
func (c *check) reads() (spoken, bool) {
	said, ok := c.said()
	if !ok || len(said) != 1 || !strings.Contains(said[0].text, "://") || c.call.Permission != "" ||
		len(c.call.Because) > 0 || c.call.Instead != "" {
		return spoken{}, false
	}
	return said[0], true
}

// here returns the condition under which a person may allow calls of this tool even though the
// chat holds this text: that they read from the host from which this one reads.
func (c *check) here() []Match {
	one, ok := c.reads()
	host, isHost := hostOf(one.text)
	if !ok || !isHost || c.call.Conversation == "" || strings.HasPrefix(one.name, "/") ||
		slices.ContainsFunc(c.origins, func(o chat.Origin) bool { return o.Kind == chat.FromMore }) {
		return nil
	}
	return []Match{{Field: one.name, Op: HostIs, Value: host, Sole: true}} // all that such a call may say
}

// acceptsHere reports whether an answer is one of those that Here offers.
func (p *Request) acceptsHere(a Answer) bool {
	return a.Scope == ThisChat && len(a.Vouch) == 0 && len(a.Match) == 1 && slices.ContainsFunc(p.Here, a.Match[0].Equal)
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
