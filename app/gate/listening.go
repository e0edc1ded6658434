package gate

import (
	"context"
	"encoding/json"
	"net/netip"
	"slices"
	"strconv"

	"conclave/app/base/fault"
	"conclave/app/tool"
)

// listeningOn is the name of the tool that listening is shown as; no tool has it.
const listeningOn = "(ports)"

// firstPort is the first port that needs no privileges of the system.
const firstPort = 1024

// Listening is a port on which a process of a plugin wants to listen.
type Listening struct {
	Plugin string
	At     netip.AddrPort // of this computer alone
	Free   bool           // the process leaves it to the system which port it gets, which is At
	Behalf Call           // the call that the plugin is working on, as far as that is known
	Within []Call         // all that it works on
}

// listeningArguments name a port for a person who is asked, and for rules.
type listeningArguments struct {
	Address string `json:"address"`
	Port    string `json:"port"`           // 0: any that is free
	Free    string `json:"free,omitempty"` // which of these it got
}

// Listenable reports whether a plugin may ask for ports of an address: of this computer alone.
func Listenable(at netip.Addr) bool {
	return at == netip.AddrFrom4([4]byte{127, 0, 0, 1}) || at == netip.IPv6Loopback()
}

// Listen decides about a port, and may ask.
func (g *Gate) Listen(ctx context.Context, l Listening) Decision {
	why := ""
	switch {
	case g.Reach.Usable(l.Plugin, Listen) != nil:
		why = "such a plugin listens on no ports"
	case !Listenable(l.At.Addr()):
		why = "only 127.0.0.1 and ::1 are sure to be of this computer alone"
	case l.At.Port() < firstPort:
		why = "ports below " + strconv.Itoa(firstPort) + " are the system's"
	}
	if why != "" {
		return Decision{Effect: Deny, Why: why, Reason: why, By: "built-in"}
	}
	asked := listeningArguments{Address: l.At.Addr().String(), Port: strconv.Itoa(int(l.At.Port()))}
	if l.Free {
		asked.Port, asked.Free = "0", asked.Port
	}
	arguments, err := json.Marshal(asked)
	if err != nil {
		arguments = json.RawMessage(`{}`) // no rule allows that
	}
	return g.Decide(ctx, Call{
		ID: newID("listening"), Caller: Caller("plugin:" + l.Plugin), Permission: Listen,
		within:    append(slices.Clone(l.Within), l.Behalf),
		Tool:      tool.Tool{Plugin: l.Plugin, Name: listeningOn, Title: "listen on ports", Digest: listeningOn},
		Arguments: arguments, Capabilities: []Capability{Compute},
		Conversation: l.Behalf.Conversation, Turn: l.Behalf.Turn, Asker: l.Behalf.Asker, Taint: l.Behalf.Taint,
	}).asAsked()
}

// AllowPort lets a plugin listen on one port of this computer, in place of all of them. Port 0 is
// any that is free when it asks for one.
func (r *Reach) AllowPort(ctx context.Context, plugin, port string) error {
	if err := r.Usable(plugin, Listen); err != nil {
		return err
	}
	port, err := portOf(port)
	if err != nil {
		return err
	}
	return r.rules.replace(ctx, Rule{
		Effect: Allow, Plugin: plugin, Permission: Listen, Scope: Always,
		Match: []Match{{Field: portField, Op: Equals, Value: port}},
	}, func(old *Rule) bool {
		at, one := old.port()
		return old.Permission == Listen && (!one || at == port)
	})
}

// RevokePort takes a port back. The kind is not_found when the plugin was not given it.
func (r *Reach) RevokePort(ctx context.Context, plugin, port string) error {
	port, err := portOf(port)
	if err != nil {
		return err
	}
	gone, err := r.rules.revokeWhere(ctx, plugin, func(old *Rule) bool {
		at, one := old.port()
		return one && at == port
	})
	if err == nil && len(gone) == 0 {
		return fault.New(fault.NotFound, "gate.port", plugin+" was not given the port "+port+".",
			"conclave plugins show "+plugin+" lists what it was given.")
	}
	return err
}

// portOf returns a port as rules have it.
func portOf(port string) (string, error) {
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n > 0 && n < firstPort {
		return "", fault.New(fault.Invalid, "gate.port", "The port "+shown(port)+" cannot be granted.",
			"Name one from "+strconv.Itoa(firstPort)+" to 65535, or 0 for any that is free.")
	}
	return strconv.FormatUint(n, 10), nil
}

// Ports returns the rules about ports on which a plugin may or may not listen, as sentences.
func (r *Reach) Ports(plugin string) []string {
	f := r.decisions.lock()
	defer r.decisions.unlock()
	var all []string
	for _, rule := range f.portRules(plugin) {
		all = append(all, Sentence(rule, f.pluginName(plugin)))
	}
	return all
}

// PortRules returns the rules of Ports.
func (r *Reach) PortRules(plugin string) []Rule {
	defer r.decisions.unlock()
	return r.decisions.lock().portRules(plugin)
}

func (f *facts) portRules(plugin string) []Rule {
	var all []Rule
	for _, rule := range f.book.about(plugin) {
		if _, ok := rule.port(); ok {
			all = append(all, *rule)
		}
	}
	return all
}

// portWords is a port as a sentence has it.
func portWords(port string) string {
	if port == "0" {
		return "a free port of this computer"
	}
	return "port " + plain(port) + " of this computer"
}
