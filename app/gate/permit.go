// Package gate is the gate: it decides who may do what, asks a person where its
// rules say so, and remembers each answer for exactly what it was given for.
//
// Every call of a tool goes through [Gate.Decide], whoever makes it: the main model, a
// council member, the tools page, the command line, another plugin, a program over HTTP. Every
// plugin goes through [Approvals.Status] before its code runs and again before models see
// its tools. The window and the terminal show a [Request] and return an [Answer]; they
// decide nothing.
//
// order.go has the order of decisions. [Gate.Decide] and [Decisions.Explain] walk the same
// one. Read Call, Decision, Rule and Gate first, then Decisions and facts.go.
package gate

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/tool"
)

// Caller is who makes a call: "main", "person", "member:<id>", "plugin:<id>",
// "http:<program>" or "outside:<program>". "http:" is a program that the system does not name.
type Caller string

// The callers without an id.
const (
	Main   Caller = "main"   // the main model of a chat
	Person Caller = "person" // a person, from the tools page or `conclave tools call`
)

// memberPrefix stands before the id of a council's member; what has another is no member's.
const memberPrefix Caller = "member:"

// AnyMember is, in a rule, every member of a council.
const AnyMember = memberPrefix + "*"

// Member returns the caller that the council's member of this id is.
func Member(id string) Caller { return memberPrefix + Caller(id) }

// outsidePrefix stands before the name of a program that uses Conclave as its MCP server.
const outsidePrefix Caller = "outside:"

// Outside returns the caller that the program of this name is, which uses Conclave as its MCP server.
func Outside(name string) Caller { return outsidePrefix + Caller(name) }

// IsMember reports whether a member of the council calls.
func (c Caller) IsMember() bool { return strings.HasPrefix(string(c), string(memberPrefix)) }

// BuiltIn is the Tool.Plugin of Conclave's own tools, which come with the program and
// need no approval. No plugin of the plugins folder can have this id: "@" is not
// allowed in one.
const BuiltIn = "@conclave"

// Mode replaces the defaults of steps 8 and 9 of the order.
type Mode string

// The modes a person may set.
const (
	Careful  Mode = "careful"  // asks for everything but computing
	Standard Mode = "standard" // the table of capabilities
)

// Kind is the subject of a request.
type Kind string

// The kinds of requests.
const (
	KindCall    Kind = "call"    // one call of a tool
	KindPlugin  Kind = "plugin"  // a new plugin, before any of its code runs
	KindChanged Kind = "changed" // an approved plugin that is not what was approved
)

// AnswerTimeout is the time that a call waits for a person's answer before the gate denies
// it.
const AnswerTimeout = 10 * time.Minute

// Effect describes which way a rule or a decision goes: allow, ask or deny.
type Effect string

// The effects.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Scope is the time for which a rule holds.
type Scope string

// The scopes, each ending when its name says. Once is never stored.
const (
	Once        Scope = "once"
	ThisAnswer  Scope = "this-answer" // until the turn ends
	ThisChat    Scope = "this-chat"
	ThisProject Scope = "this-project" // all chats of a folder, see chat.Conversation.Project
	UntilQuit   Scope = "until-quit"
	Always      Scope = "always"
)

// Capability is something that a call can do, in the words that a request shows.
type Capability string

// The capabilities.
const (
	Compute     Capability = "compute only"
	ReadChat    Capability = "read chat text"
	ReadFiles   Capability = "read files"
	Fetch       Capability = "fetch from the web"
	WriteFiles  Capability = "write files"
	SendWeb     Capability = "send to the web"
	Delete      Capability = "delete"
	RunPrograms Capability = "run programs"
	UseSecret   Capability = "use a secret"
	CallModel   Capability = "call a model"
	ShowUI      Capability = "show interface"
)

// Label returns the capability as a person reads it. A tool that only computes can
// still write into its plugin's own folder, so its label says that.
func (c Capability) Label() string {
	if c == Compute {
		return "keeps its own files"
	}
	return string(c)
}

// Call describes a call of a tool to the gate.
type Call struct {
	ID           string // the call's id
	Caller       Caller
	CallerName   string // as a person reads it, "Ada"; where it is empty, Caller is shown
	Tool         tool.Tool
	Arguments    json.RawMessage
	Conversation chat.ConversationID
	Turn         string
	// Capabilities are those of this one call, where its maker knows better than
	// the gate. nil means: those of the tool's plugin, as the gate learnt them from
	// its PluginVersion.
	Capabilities []Capability
	// Permission is the permission of Tool's plugin that is being used, where this is no
	// call of a tool: Network or Web, see [Gate.Connect]. Its rules decide.
	Permission string
	// Rule is the rule that allowed the call, of one that is under way.
	Rule string
	// project is that of Conversation, and noProject says that it could not be read; the gate
	// fills both in.
	project   string
	noProject bool
	// within holds the calls that the plugin works on while it uses Permission: each with the
	// Capabilities with which it was allowed.
	within []Call
	// Near says that the host of a Network use is of this computer or its own network.
	Near bool
	// Taint holds the origins of the text in this chat; the gate knows which of them a person trusts.
	Taint []chat.Origin
	// Wrote holds the addresses among Arguments that the person wrote in the chat; see
	// chat.Wrote.
	Wrote []string
	// Because holds reasons why a person has to allow this call, whatever they allowed before:
	// hooks changed it.
	Because []string
	// Original holds the call as it was asked for, where hooks made another of it.
	Original *Original
	// Given says in a sentence what of the chat the caller gives the tool of a dialect that is handed
	// it; empty is all of the open chat (tool.ChatNotice).
	Given string
	// Instead names the tool for which Tool's plugin would answer, though it is
	// another's. The answer, in Arguments, counts only if a person accepts it.
	Instead string
	// Asker answers where Conclave has no window for this caller: the terminal.
	// nil means: the request waits for a window.
	Asker Asker
	// OnWait, when not nil, is called once, before the gate waits for a person,
	// with the ID of what they are shown.
	OnWait func(id string)
	// Preview, when not nil, returns what a person who is asked is shown of what would be
	// sent. nil means: what the arguments say of a file.
	Preview func(context.Context) *Preview
}

// Asker shows one request to a person and returns their answer. It blocks; an error,
// and the end of ctx, mean no.
type Asker interface {
	Ask(ctx context.Context, p Request) (Answer, error)
}

// Line is an Asker that shows one request at a time. The gate decides about a call again when the
// turn of its request has come, and holds the turn until the answer counts: three calls that need
// the same folder are one question.
type Line interface {
	Asker
	// Turn waits until no other request has the turn, and keeps it for the caller until end is
	// called. The error is ctx's cause.
	Turn(ctx context.Context) (end func(), err error)
}

// Decision holds what the gate decided about a call, and why.
type Decision struct {
	Effect Effect // Allow or Deny, never Ask
	Why    string // "you allowed it once", "rule: always allow word_count, when I ask"
	By     string // "person", "rule <id>", "default", "built-in", "nobody to ask"
	Reason string // Deny: the reason for the model, a sentence without its full stop; it includes the person's words
	// Arguments are the ones to use: edited by the person, or as asked.
	Arguments json.RawMessage
	Edited    bool   // Arguments differ from those asked
	Rule      string // the id of the rule that decided or was made, if any
	Step      int    // the step of the order that decided, 0 to 9; see Decisions.Explain
	Expired   bool   // nobody answered in time
	// Path holds the steps of the order up to the one that decided, as they went.
	Path   []Step
	Waited time.Duration // how long a person who was asked took
	// Origins are those of untrusted text in the chat, where they made the
	// gate ask.
	Origins []chat.Origin
	// Capabilities holds what the call could do when this was decided; empty where that is
	// not known.
	Capabilities []Capability
	// Brought holds the origins of what the call returns; nil is the plugin's own
	// code and files.
	Brought []chat.Origin
	// Alone says that the call was allowed in a chat with untrusted text because its arguments are
	// all that it can pass on: its tool gets nothing of the chat.
	Alone bool
	// Returned is where what it returns comes from if it turns out that its plugin was given
	// text of others, or read elsewhere than Brought says; zero for Conclave's own tools.
	Returned chat.Origin
}

// Store keeps rules, approvals, the use of tools, and the requests that wait, which
// survive a crash; package store is the real one. Rules whose scope ends with the
// program do not reach it.
type Store interface {
	Rules(ctx context.Context) ([]Rule, error)
	PutRule(ctx context.Context, g Rule) error
	DeleteRule(ctx context.Context, id string) error
	Approvals(ctx context.Context) ([]Approval, error)
	PutApproval(ctx context.Context, a Approval) error
	DeleteApproval(ctx context.Context, plugin string) error
	// Uses returns how often each tool was released, by tool id; PutUses writes
	// some of them, over those of the same tools.
	Uses(ctx context.Context) (map[string]Use, error)
	PutUses(ctx context.Context, uses map[string]Use) error
	// ForgetRequests deletes the requests that an older version kept for a restart.
	ForgetRequests(ctx context.Context) error
}

// Use counts the calls of a tool that the gate allowed.
type Use struct {
	Times   int       `json:"times"`
	Last    time.Time `json:"last"`
	Yes     int       `json:"yes,omitempty"`     // those that a person allowed, when asked or by a rule
	Allowed time.Time `json:"allowed,omitzero"`  // the last of these
	Deleted bool      `json:"deleted,omitempty"` // one of them deleted a file
}
