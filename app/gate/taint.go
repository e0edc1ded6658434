package gate

import (
	"encoding/json"
	"slices"
	"strings"

	"conclave/app/base/jsonobject"
	"conclave/app/chat"
	"conclave/app/tool"
)

// A chat is private: it holds what a person said, and what tools read for them. Once it
// also holds text that others wrote, that text may have instructed the model what to do with
// it. So a call that could carry something out of such a chat is asked about each time,
// whatever rules and modes say, until a person trusts where the text came from.

// brought returns where what a call returns comes from: the hosts that its arguments name,
// or its plugin; nothing for a tool that reads nothing from outside.
func brought(plugin, name string, capabilities []Capability, arguments json.RawMessage) []chat.Origin {
	if plugin == BuiltIn || !may(capabilities, func(r row) bool { return r.reads }) {
		return nil
	}
	var hosts []string
	eachText(arguments, func(text string) {
		if strings.Contains(text, "://") {
			if host, ok := hostOf(text); ok {
				hosts = append(hosts, host)
			}
		}
	})
	if len(hosts) == 0 {
		return []chat.Origin{chat.NewOrigin(chat.FromTool, name)}
	}
	slices.Sort(hosts) // an object's texts come in any order
	var origins []chat.Origin
	for _, host := range hosts {
		origins = chat.AddOrigins(origins, chat.NewOrigin(chat.FromWeb, host))
	}
	return origins
}

// taint asks when a chat holds untrusted text and the call could carry
// something out of it. What would be denied anyway is no question.
func taint(c *check) ruling {
	if len(c.call.Taint) == 0 || !may(c.capabilities, func(r row) bool { return r.leaves }) {
		return ruling{}
	}
	if c.origins = c.facts.untrusted(c.call); len(c.origins) == 0 {
		return ruling{}
	}
	if c.alone = c.saysNothing() || c.allowedDespite(); c.alone {
		return ruling{}
	}
	for _, step := range afterTaint {
		r := step(c)
		if r.effect == Deny {
			return ruling{}
		}
		if r.effect != "" {
			break
		}
	}
	reasons := append([]string{"this chat contains " + OriginWords(c.origins)}, c.call.Because...)
	return ruling{effect: Ask, why: strings.Join(reasons, "; and "), once: true}
}

// The step of taint asks nothing about two kinds of calls: one that can send nothing but what the person
// wrote for it, and one that a person allowed even though the chat holds this text. Both are
// decided by where words came from, never by what they look like (ADR 17).

// saysNothing reports whether all that a call can pass on are addresses that the
// person wrote in this chat: its tool knows only its arguments (see Decision.Alone), and these
// hold nothing else but what their schema says anyway.
func (c *check) saysNothing() bool {
	if len(c.call.Wrote) == 0 || len(c.capabilities) == 0 || c.call.Caller != Main || len(c.call.Because) > 0 ||
		c.call.Instead != "" {
		return false
	}
	for _, capability := range c.capabilities {
		if !hasOne([]Capability{Compute, Fetch, SendWeb, ShowUI}, capability) { // it knows more, or does more
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

// reads returns the one address that a call is about, if its arguments say nothing
// else: what they might say to somebody else is asked about each time.
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
