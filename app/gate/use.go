package gate

import (
	"context"
	"encoding/json"
	"path/filepath"

	"conclave/app/base/pattern"
	"conclave/app/record/activity"
	"conclave/app/tool"
)

// usage describes the uses of one permission. Each is decided about as a call of a tool that no plugin has.
type usage struct {
	tool   string  // the name of that tool
	before string  // what a person reads of a plugin that used the permission before
	fields []Match // the conditions of the rule that an answer makes; their values are among the arguments
}

var connecting = usage{"(network)", "It connected elsewhere before.", []Match{{Field: hostField, Op: HostIs}}}

var usages = map[string]usage{
	Network: connecting,
	Web:     connecting,
	Filesystem: {
		"(files)", "It was let into folders before.",
		[]Match{{Field: pathField, Op: PathUnder}, {Field: accessField, Op: Equals}},
	},
	Start: {
		"(programs)", "It started programs before.",
		[]Match{{Field: programField, Op: Equals}, {Field: commandField, Op: Equals}, {Field: folderField, Op: Equals}},
	},
	Listen:     {"(ports)", "It listened on ports before.", []Match{{Field: portField, Op: Equals}}},
	Generation: {tool: "(models)"}, // nothing is narrower than a “never”
}

// use returns the use of a permission as a call of the plugin's. asked names what it is about, for a person who is
// asked, and for rules: an object of texts. behalf is the call that the plugin works on.
func use(plugin, permission string, asked any, behalf Call, capabilities ...Capability) Call {
	arguments, _ := json.Marshal(asked) // texts can be written
	name := usages[permission].tool
	return Call{
		ID: newID("use"), Caller: Caller("plugin:" + plugin), Permission: permission,
		Tool:      tool.Tool{Plugin: plugin, Name: name, Digest: name},
		Arguments: arguments, Capabilities: capabilities,
		Conversation: behalf.Conversation, Turn: behalf.Turn, Asker: behalf.Asker,
	}
}

// asked returns what the use of a permission is about, by field; no rule allows what is missing.
func (c *Call) asked() map[string]string {
	var asked map[string]string
	if json.Unmarshal(c.Arguments, &asked) != nil {
		return nil
	}
	return asked
}

// hostAsked returns the host of a connection.
func (c *Call) hostAsked() string {
	host, _ := hostOf(c.asked()[hostField])
	return host
}

// asAsked is a decision about something that is done as it was asked for or not at all.
func (d Decision) asAsked() Decision {
	if d.Edited {
		d.Effect, d.Reason = Deny, "the person changed what was asked for, which cannot be done"
	}
	return d
}

// refused is the decision about a use that no rule can allow.
func refused(why string) Decision {
	return Decision{Effect: Deny, Why: why, Reason: why, By: "built-in"}
}

// Spend asks whether a plugin that spent what it may on models in a day may spend as much
// again; why says what it spent, without its full stop. behalf is the call that it works on,
// as far as that is known.
func (g *Gate) Spend(ctx context.Context, plugin, why string, behalf Call) Decision {
	call := use(plugin, Generation, map[string]string{"spent": why}, behalf, CallModel)
	call.Because = []string{why}
	return g.Decide(ctx, call).asAsked()
}

// describeUse fills in what a person is asked about a permission in use.
func (f *facts) describeUse(p *Request, call *Call) {
	p.Fixed, p.History = true, "Not allowed before."
	if f.uses[p.Tool].Times > 0 {
		p.History = usages[call.Permission].before
	}
	asked, wants := call.asked(), ""
	switch call.Permission {
	case Filesystem:
		wants, p.Reach = f.openingWords(asked)
	case Start:
		wants = "start " + filepath.Base(asked[programField])
		p.Reach = "It can touch what the plugin can: its files and its network, and nothing else. The plugin reads " +
			"what it prints."
		if named := loaderVariable().FindStringSubmatch(asked[commandField]); named != nil {
			p.Reach = "With " + named[1] + " the program can run the plugin’s code instead of its own. " + p.Reach
		}
	case Listen:
		wants = "listen on " + portWords(asked[portField])
		p.Reach = "Only its own processes can connect there. Other programs, and other computers, are turned away."
	case Generation:
		wants, p.History = "spend more on your models today", ""
		p.Reach = "A yes lets it spend as much again today."
	default:
		host := call.hostAsked()
		wants = "connect to " + shownHost(host)
		p.Reach = "It can send to that host whatever it knows, and read what the host answers."
		if isNear(host) {
			p.Reach = "This address is of this computer or its own network. " + p.Reach
		}
	}
	p.Title = p.PluginName + " wants to " + wants
}

// loaderVariable is one by which the loader of programs (ld.so, dyld) puts other code into a program.
var loaderVariable = pattern.Lazy(`(?:^| )((?:LD|DYLD)_[A-Z_]+)=`)

// useRule is the rule that an answer about the use of a permission asks for: about its host, folder, port or
// command and no other, or about asking models.
func useRule(call Call, p Request, a Answer) Rule {
	rule := Rule{
		Effect: a.Effect, Plugin: call.Tool.Plugin, Permission: call.Permission, Scope: a.Scope, MadeFrom: p.ID,
	}
	asked := call.asked()
	for _, m := range usages[call.Permission].fields {
		if m.Value = asked[m.Field]; m.Field == hostField {
			m.Value = call.hostAsked()
		}
		rule.Match = append(rule.Match, m)
	}
	rule.placed(p)
	return rule
}

// recordUse reports a decision about a permission in use to Options.Used. What was allowed with the
// call that it is for is recorded with that call.
func (g *Gate) recordUse(call *Call, d Decision) {
	if g.used == nil || call.Permission == "" || len(d.Path) == 0 || d.By == byCall {
		return
	}
	u := activity.Use{
		Time: g.now().UTC(), Permission: call.Permission, Plugin: call.Tool.Plugin, Tool: call.Tool.ID(),
		Chat: call.Conversation, Turn: call.Turn, Effect: string(d.Effect), By: d.By, Rule: d.Rule,
		Waited: float64(d.Waited.Microseconds()) / 1000, Arguments: call.Arguments, Why: d.Why,
		Path: OnRecord(d.Path),
	}
	switch asked := call.asked(); call.Permission {
	case Filesystem:
		u.Place = asked[accessField] + " " + asked[pathField]
	case Network, Web:
		u.Place = call.hostAsked()
	case Listen:
		u.Place = asked["address"] + " " + asked[portField]
	}
	g.used(u)
}
