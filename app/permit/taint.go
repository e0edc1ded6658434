package permit

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/fault"
)

// A chat is private: it holds what a person said, and what tools read for them. Once it
// also holds text that others wrote, that text may have told the model what to do with
// it. So a call that could carry something out of such a chat is asked about each time,
// whatever rules and modes say, until a person vouches for where the text came from.

// taint asks when a chat holds text nobody vouches for and the call could carry
// something out of it. What would be denied anyway is no question.
func taint(c *check) ruling {
	if len(c.call.Taint) == 0 || !goesOut(c.capabilities) {
		return ruling{}
	}
	if c.origins = c.g.unvouchedLocked(c.call); len(c.origins) == 0 {
		return ruling{}
	}
	if c.alone = c.saysNothing() || c.inSpite(); c.alone {
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

// OriginWords returns origins as they follow “this chat contains”.
func OriginWords(origins []chat.Origin) string {
	words := make([]string, len(origins))
	for i, o := range origins {
		words[i] = o.String()
	}
	return listed(words)
}

// Vouchable returns in words for what an answer can vouch, and whether it can.
func (p Request) Vouchable() (string, bool) {
	if len(p.Origins) == 0 || p.Conversation == "" ||
		slices.ContainsFunc(p.Origins, func(o chat.Origin) bool { return o.Kind == chat.FromMore }) {
		return "", false
	}
	return OriginWords(p.Origins), true
}

// goesOut reports whether a call can send, run, delete, or write outside of the plugin's
// own folder. What is not known can.
func goesOut(capabilities []Capability) bool {
	return len(capabilities) == 0 || slices.ContainsFunc(capabilities, func(c Capability) bool {
		switch c {
		case Compute, ReadChat, ReadFiles, UseSecret, ReadScreen, CallModel, ShowUI:
			return false
		}
		return true // reading from the web too: an address says something to its host
	})
}

// readsOutside reports whether what a call returns can hold text that others wrote. What is
// not known can.
func readsOutside(capabilities []Capability) bool {
	return len(capabilities) == 0 || slices.ContainsFunc(capabilities, func(c Capability) bool {
		switch c {
		case Compute, UseSecret, ShowUI:
			return false
		}
		return true
	})
}

// brought returns where what a call returns comes from: the hosts that its arguments name,
// or its plugin; nothing for a tool that reads nothing from outside.
func brought(plugin, name string, capabilities []Capability, arguments json.RawMessage) []chat.Origin {
	if plugin == BuiltIn || !readsOutside(capabilities) {
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

// vouch names text of one origin in one chat, for which a person may vouch.
type vouch struct {
	in     chat.ConversationID
	origin chat.Origin
}

// unvouchedLocked returns the origins of a call's chat that nobody vouches for.
func (g *Gate) unvouchedLocked(call *Call) []chat.Origin {
	g.rulesLocked()
	var left []chat.Origin
	for _, o := range call.Taint {
		if _, ok := g.vouched[vouch{call.Conversation, o}]; !ok {
			left = chat.AddOrigins(left, o)
		}
	}
	return left
}

// Vouch has a person vouch for text of an origin in one chat, with a rule that can be
// revoked. The kind is invalid for origins that are not named.
func (g *Gate) Vouch(ctx context.Context, in chat.ConversationID, origin chat.Origin) (Rule, error) {
	g.mu.Lock()
	g.rulesLocked()
	id, ok := g.vouched[vouch{in, origin}]
	var known Rule
	if i := slices.IndexFunc(g.rules, func(r *Rule) bool { return r.ID == id }); ok && i >= 0 {
		known = *g.rules[i]
	}
	g.mu.Unlock()
	if known.ID != "" {
		return known, nil
	}
	return g.AddRule(ctx, Rule{Effect: Allow, Scope: ThisChat, Conversation: in, Origin: &origin})
}

// Vouched returns the rules by which a person vouches for origins of a chat.
func (g *Gate) Vouched(in chat.ConversationID) map[chat.Origin]string {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rulesLocked()
	of := map[chat.Origin]string{}
	for v, id := range g.vouched {
		if v.in == in {
			of[v.origin] = id
		}
	}
	return of
}

// vouches checks a rule about an origin.
func (g Rule) vouches() error {
	if g.Effect != Allow || g.Scope != ThisChat || g.Conversation == "" || g.Tool != "" || g.Plugin != "" {
		return fault.New(fault.Invalid, "permit.vouch", "Text can only be trusted in one chat.", "Name the chat.")
	}
	if g.Origin.Kind == chat.FromMore {
		return fault.New(fault.Invalid, "permit.vouch", "Text from places that are not named cannot be trusted.",
			"Begin another chat for what does not need that text.")
	}
	return nil
}

// vouchSentence is the sentence of a rule about an origin, without its full stop.
func (g Rule) vouchSentence() string {
	words := g.Origin.String()
	return strings.ToUpper(words[:1]) + words[1:] + " is trusted in one chat"
}
