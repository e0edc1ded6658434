package permit

import (
	"encoding/json"
	"slices"
	"strings"

	"conclave/app/chat"
	"conclave/app/fault"
)

// A chat is private: it holds what a person said, and what tools read for them. Once it
// also holds text that others wrote, that text may have told the model what to do with
// it. So a call that could carry something out of such a chat is asked about each time,
// whatever rules and modes say, until a person trusts where the text came from.

// taint asks when a chat holds untrusted text and the call could carry
// something out of it. What would be denied anyway is no question.
func taint(c *check) ruling {
	if len(c.call.Taint) == 0 || !goesOut(c.capabilities) {
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

// checkTrust checks a rule about an origin.
func (g Rule) checkTrust() error {
	if g.Effect != Allow || g.Scope != ThisChat || g.Conversation == "" || g.Tool != "" || g.Plugin != "" {
		return fault.New(fault.Invalid, "permit.trust", "Text can only be trusted in one chat.", "Name the chat.")
	}
	if g.Origin.Kind == chat.FromMore {
		return fault.New(fault.Invalid, "permit.trust", "Text from places that are not named cannot be trusted.",
			"Begin another chat for what does not need that text.")
	}
	return nil
}

// trustSentence is the sentence of a rule about an origin, without its full stop.
func (g Rule) trustSentence() string {
	words := g.Origin.String()
	return strings.ToUpper(words[:1]) + words[1:] + " is trusted in one chat"
}
