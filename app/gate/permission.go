package gate

import (
	"maps"
	"slices"
)

// Risk grades the danger of a permission: the higher it is, the more clearly the window
// warns of it.
type Risk string

// The risks, from quiet to loud.
const (
	LowRisk     Risk = "low"     // stays within Conclave and the plugin's own data
	MediumRisk  Risk = "medium"  // reads what you write, or spends
	HighRisk    Risk = "high"    // changes what models are told, or leaves this computer
	SandboxRisk Risk = "sandbox" // opens the sandbox, or this computer's network; approving a plugin does not grant it
)

// The permissions that Conclave itself looks at.
const (
	Interceptor = "interceptor" // a hook sees and changes requests to models and their answers
	ToolCalls   = "tool_calls"  // a hook sees and changes calls of tools
	TurnEvents  = "turn_events" // a hook sees what happens
	Generation  = "generation"  // asks the person's models
	// Web is the permission of plugins for which Conclave itself makes requests to the web. Of
	// hosts, it has the rules that Network has.
	Web = "cors_proxy"
	// LocalNetwork is granted by its own command alone: no manifest asks for it, and no
	// yes to a plugin includes it.
	LocalNetwork = "local_network"
	// Start is the permission of rules about single commands, which Conclave starts for a plugin
	// that asks. It is none of those that open a sandbox: the plugin's process starts nothing.
	Start = "start"
)

// The permissions that open the sandbox of a plugin's process. They are louder
// than others: approving a plugin that asks for one does not grant it. What each
// opens is in app/plugin/start.go, for plugins of every kind.
const (
	Network    = "network"
	Programs   = "programs"
	Filesystem = "filesystem"
	// Listen is to listen on ports of this computer, to which the plugin's own processes
	// alone can connect. Those are its sandbox's, so it lets nobody in and nothing out.
	Listen = "listen"
)

// PermissionInfo describes one permission of a plugin to a person.
type PermissionInfo struct {
	Name      string
	Sentence  string // what the plugin may do with it
	Without   string // what stops working without it; empty when nothing does
	Risk      Risk
	Causes    []Capability // what it lets tools do; none where it only registers something with Conclave
	Supported bool         // whether Conclave has what the permission is about
}

// permissionInfos describes the permissions that do something here (contracts/spindle, section 14, and the sandbox).
var permissionInfos = map[string]PermissionInfo{
	"tools": {
		Sentence: "Offer tools to your models.",
		Without:  "None of its tools can be called.", Risk: LowRisk,
	},
	Generation: {
		Sentence: "Ask your models, with your connections, up to what you let each plugin spend in a day; and hear of " +
			"answers as they are written.",
		Without: "Whatever it lets a model do fails.", Risk: MediumRisk, Causes: []Capability{CallModel, ReadChat},
	},
	"chats": {
		Sentence: "Read the list of your chats and change their names and data.",
		Without:  "It does not know which chat it is used in.", Risk: MediumRisk, Causes: []Capability{ReadChat},
	},
	"chat_mutation": {
		Sentence: "Read, add and change messages of your chats.",
		Without:  "It sees only what a call hands it, and writes no messages.", Risk: HighRisk,
		Causes: []Capability{ReadChat},
	},
	Interceptor: {
		Sentence: "See and change what is sent to a model, before each answer.",
		Without:  "What is sent stays as Conclave made it.", Risk: HighRisk, Causes: []Capability{ReadChat},
	},
	ToolCalls: {
		Sentence: "See every tool call and its result, change it, or refuse it.",
		Without:  "Calls are made without asking it, and nothing is refused by it.", Risk: HighRisk,
		Causes: []Capability{ReadChat},
	},
	TurnEvents: {
		Sentence: "Follow each answer as it happens, with what you and the model write.",
		Without:  "It gets no events.", Risk: MediumRisk, Causes: []Capability{ReadChat},
	},
	"macros": {
		Sentence: "Put its own text where you write {{…}}, in messages and system texts.",
		Without:  "Its {{…}} stay as you wrote them.", Risk: HighRisk,
	},
	"context_handler": {
		Sentence: "See and change the setting of an answer, and stop it.",
		Without:  "Answers begin without asking it.", Risk: HighRisk, Causes: []Capability{ReadChat},
	},
	"generation_parameters": {
		Sentence: "Set temperature and length of answers, where it changes what is sent.",
		Without:  "These stay as you set them.", Risk: LowRisk,
	},
	Web: {
		Sentence: "Read from and send to the web, for calls that you allow; for itself it asks for each host.",
		Without:  "It reaches no address.", Risk: HighRisk, Causes: []Capability{Fetch, SendWeb},
	},
	LocalNetwork: {
		Sentence: "Reach addresses of this computer and your own network.",
		Without:  "Only public addresses are reached.", Risk: SandboxRisk, Causes: []Capability{Fetch, SendWeb},
	},
	"world_books": {
		Sentence: "Keep world books, which all extensions with this permission share.",
		Without:  "Its world books stay empty.", Risk: LowRisk,
	},
	"characters": {
		Sentence: "Keep characters, which all extensions with this permission share.",
		Without:  "Its characters stay empty.", Risk: LowRisk,
	},
	"personas": {
		Sentence: "Keep personas, which all extensions with this permission share.",
		Without:  "Its personas stay empty.", Risk: LowRisk,
	},
	Network: {
		Sentence: "Connect to any host of the internet, through Conclave, which notes how much goes where; not to this " +
			"computer and your own network.",
		Without: "Its connections fail.", Risk: SandboxRisk, Causes: []Capability{Fetch, SendWeb},
	},
	Listen: {
		Sentence: "Listen on ports of this computer, those you name or all: only its own processes can connect to them.",
		Without:  "What its processes say to each other over ports fails.", Risk: SandboxRisk,
	},
	Programs: {
		Sentence: "Start other programs on this computer: all on your PATH, or those you name. They can touch what it " +
			"can, and it starts them with what it likes: nobody asks about their arguments.",
		Without: "Programs it starts fail.", Risk: SandboxRisk, Causes: []Capability{RunPrograms},
	},
	Filesystem: {
		Sentence: "Read files outside its own folder, in the folders you name; and write them where you say so.",
		Without:  "It sees its own folders only.", Risk: SandboxRisk, Causes: []Capability{ReadFiles, WriteFiles, Delete},
	},
}

// Describe returns the description of a permission. One that Conclave does not know is
// not supported, and does nothing.
func Describe(permission string) PermissionInfo {
	info, ok := permissionInfos[permission]
	if !ok {
		return PermissionInfo{Name: permission, Sentence: "Not supported here; it does nothing.", Risk: LowRisk}
	}
	info.Name, info.Supported = permission, true
	return info
}

// IsPermission reports whether there is a permission of that name.
func IsPermission(permission string) bool { return Describe(permission).Supported }

// AllPermissions returns the names of the permissions, sorted.
func AllPermissions() []string { return slices.Sorted(maps.Keys(permissionInfos)) }

// ManualOnly reports whether a person grants the permission by itself only, never by
// approving a plugin that asks for it.
func ManualOnly(permission string) bool { return Describe(permission).Risk == SandboxRisk }

// IsWall reports whether a permission opens the sandbox of a plugin's process.
func IsWall(permission string) bool { return ManualOnly(permission) && permission != LocalNetwork }

// AboutHosts reports whether rules of a permission may be about hosts.
func AboutHosts(permission string) bool { return permission == Network || permission == Web }

// Requestable returns those of permissions that exist and that a plugin may ask for,
// each once. So a name that a plugin's author invented never becomes a permission.
func Requestable(permissions []string) []string {
	out := []string{}
	for _, p := range permissions {
		if IsPermission(p) && p != LocalNetwork && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// approvable returns what of permissions an approval grants.
func approvable(permissions []string) []string {
	return slices.DeleteFunc(Requestable(permissions), ManualOnly)
}
