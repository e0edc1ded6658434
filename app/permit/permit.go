// Package permit is the gate: it decides who may do what, asks a person where its
// rules say so, and remembers each answer for exactly what it was given for.
//
// Every call of a tool goes through [Gate.Decide], whoever makes it: the main model, a
// council member, the tools page, the command line, another plugin, a program over HTTP. Every
// plugin goes through [Gate.Status] before its code runs and again before models see
// its tools. The window and the terminal show a [Request] and return an [Answer]; they
// decide nothing.
//
// order.go has the order of decisions. [Gate.Decide] and [Gate.Explain] walk the same
// one. Read Call, Decision, Rule and Gate first.
package permit

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"conclave/app/chat"
	"conclave/app/tool"
)

// Caller says on whose behalf a call is made: "main", "person", "member:<id>",
// "plugin:<id>", "http:<program>", of which "http:" is a program that the system does not name.
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

// Kind says what a request asks a person about.
type Kind string

// The kinds of requests.
const (
	KindCall    Kind = "call"    // one call of a tool
	KindPlugin  Kind = "plugin"  // a new plugin, before any of its code runs
	KindChanged Kind = "changed" // an approved plugin that is not what was approved
)

// AnswerTimeout is how long a call waits for a person's answer; then the gate denies
// it.
const AnswerTimeout = 10 * time.Minute

// Effect says which way a rule or a decision goes: allow, ask or deny.
type Effect string

// The effects.
const (
	Allow Effect = "allow"
	Ask   Effect = "ask"
	Deny  Effect = "deny"
)

// Scope is how long a rule holds.
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
	// Because says why a person has to allow this call, whatever they allowed before:
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
	Reason string // Deny: what the model is told, a sentence without its full stop; a person's own words are in it
	// Arguments are the ones to use: edited by the person, or as asked.
	Arguments json.RawMessage
	Edited    bool   // Arguments differ from those asked
	Rule      string // the id of the rule that decided or was made, if any
	Step      int    // the step of the order that decided, 0 to 9; see Gate.Explain
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
	// Brought says where what the call returns comes from; nil is from the plugin's own
	// code and files.
	Brought []chat.Origin
	// Alone says that the call was let pass beside text of others since all that it can tell
	// anybody are its arguments: its tool is handed nothing of the chat.
	Alone bool
	// Returned is where what it returns comes from if it turns out that its plugin was given
	// text of others, or read elsewhere than Brought says; zero for Conclave's own tools.
	Returned chat.Origin
}

// Request is a question that waits for a person, as a window or a terminal shows it.
type Request struct {
	ID           string          `json:"id"`
	Nonce        string          `json:"nonce"` // must come back with the answer
	Kind         Kind            `json:"kind"`
	Caller       Caller          `json:"caller"`
	CallerName   string          `json:"caller_name"` // of a council member: "Ada"; else empty
	Plugin       string          `json:"plugin"`
	PluginName   string          `json:"plugin_name"`
	Tool         string          `json:"tool,omitempty"`  // tool id
	Title        string          `json:"title"`           // "Main assistant wants to write files with Notes"
	Name         string          `json:"name,omitempty"`  // of the tool, as a person reads it: "Save note"
	Doing        string          `json:"doing,omitempty"` // what a call of it does: "save a note"
	Capabilities []Capability    `json:"capabilities"`
	Inferred     Inferred        `json:"inferred,omitempty"`
	Arguments    json.RawMessage `json:"arguments,omitempty"`
	Original     *Original       `json:"original,omitempty"` // what the caller asked for, where hooks changed it
	Reach        string          `json:"reach"`              // "Can touch: its own storage folder."
	// Care says what of a call could be taken back, and what of it cannot be shown before.
	Care string `json:"care,omitempty"`
	// Preview says what would change or be sent, as far as that is known; nil where nothing is.
	// No store has it: it holds what is in files.
	Preview      *Preview            `json:"-"`
	Reason       string              `json:"reason"`  // "Asked because: first time this tool runs in this chat."
	History      string              `json:"history"` // "Allowed 4 times, last on Tuesday."
	Conversation chat.ConversationID `json:"conversation,omitempty"`
	Project      string              `json:"project,omitempty"` // the folder that the chat is about
	Turn         string              `json:"turn,omitempty"`
	Call         string              `json:"call,omitempty"`
	Count        int                 `json:"count"`  // identical calls merged into it
	Scopes       []Scope             `json:"scopes"` // what may be offered, narrowest first
	// Matches are conditions of which an answer for longer than once may hold any.
	Matches []Match `json:"matches,omitempty"`
	// Free names the arguments that say where the call reaches and of which Matches holds nothing.
	Free []string `json:"free,omitempty"`
	// Origins are those of text in the chat that made the gate ask, for which an answer may
	// vouch.
	Origins []chat.Origin `json:"origins,omitempty"`
	// Here are conditions of which an answer for this chat may hold one, for as long as the
	// chat holds text of no other origins.
	Here  []Match   `json:"here,omitempty"`
	Asked time.Time `json:"asked"`
	// Hurried says that a person allowed the last five in a row without reading them, so that
	// this one offers what Lasting returns first.
	Hurried     bool        `json:"hurried,omitempty"`
	Fixed       bool        `json:"fixed,omitempty"` // its arguments cannot be edited: a permission is being used
	Expires     time.Time   `json:"expires"`
	Changes     []Change    `json:"changes,omitempty"` // changed: what differs from what was approved
	Hidden      int         `json:"hidden,omitempty"`  // hidden characters removed from what is shown
	Marks       []Mark      `json:"marks,omitempty"`   // where they stood, and what is taken for something else
	Folder      string      `json:"folder,omitempty"`  // plugin: where it lies; call: where the file lies that it names
	Tools       []ShownTool `json:"tools,omitempty"`   // plugin: what it will offer, as far as that is known
	Permissions []string    `json:"permissions,omitempty"`
	// plugin: by what its tools could be taken for those of another, in sentences; call: what a
	// list of its arguments alone would not show
	Warnings []string `json:"warnings,omitempty"`
}

// Original is a call as its caller asked for it.
type Original struct {
	Tool      string          `json:"tool,omitempty"` // name of the tool, for a person, where hooks chose another
	Arguments json.RawMessage `json:"arguments"`
}

// ShownTool is a tool as a request shows it to a person who is to approve its plugin.
type ShownTool struct {
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Change is one difference between an approved definition and a new one.
type Change struct {
	Tool   string `json:"tool"`
	Field  string `json:"field"` // added, listed, removed, description, parameters, title, code, permissions, settings
	Before string `json:"before"`
	After  string `json:"after"`
	Diff   string `json:"diff,omitempty"` // code: the lines that differ, as a unified diff, bounded and cleaned
}

// Answer is a person's answer to one request.
type Answer struct {
	Effect     Effect          `json:"effect"`              // Allow or Deny
	Scope      Scope           `json:"scope"`               // how long; Deny with Always is "never"
	Council    bool            `json:"council,omitempty"`   // also when council members ask
	Match      []Match         `json:"match,omitempty"`     // only under these of the request's Matches
	Arguments  json.RawMessage `json:"arguments,omitempty"` // edited; nil = as asked
	Reason     string          `json:"reason,omitempty"`
	Vouch      []chat.Origin   `json:"vouch,omitempty"`      // of the request's Origins: trusted in this chat
	Developing bool            `json:"developing,omitempty"` // plugin: keep approving my own edits
}

// Rule is a person's lasting answer: it allows, asks about or denies calls of a tool,
// or a permission of a plugin.
type Rule struct {
	ID         string       `json:"id"`
	Effect     Effect       `json:"effect"`
	Plugin     string       `json:"plugin"`
	Tool       string       `json:"tool"`                 // the tool's own name, or "*"
	Permission string       `json:"permission,omitempty"` // a plugin permission instead of a tool
	Origin     *chat.Origin `json:"origin,omitempty"`     // trusted in the chat, instead of a tool
	Match      []Match      `json:"match,omitempty"`      // all of what must hold; of filesystem: which folder, and how
	// allow: calls are allowed even though their chat holds text of these, and of no others
	Origins      []chat.Origin       `json:"origins,omitempty"`
	Callers      []Caller            `json:"callers"`
	CallerName   string              `json:"caller_name,omitempty"` // of the council member that it was made for
	Scope        Scope               `json:"scope"`
	Conversation chat.ConversationID `json:"conversation,omitempty"` // this-chat
	Project      string              `json:"project,omitempty"`      // this-project: as chat.ProjectOf returns it
	Turn         string              `json:"turn,omitempty"`         // this-answer
	// definition digest it was given for; other digests do not match
	Digest   string    `json:"digest,omitempty"`
	Expires  time.Time `json:"expires,omitzero"`
	MadeFrom string    `json:"made_from,omitempty"` // the request
	Made     time.Time `json:"made_at"`
	LastUsed time.Time `json:"last_used,omitzero"`
	Uses     int       `json:"uses"`
	MaxUses  int       `json:"max_uses,omitempty"` // it is used up after so many; 0 is no bound
	Note     string    `json:"note,omitempty"`

	conditions []condition // Match, compiled by the gate
	broken     bool        // Match could not be compiled: it allows nothing, and else holds always
}

// Approval records which files and tool definitions of a plugin a person approved.
type Approval struct {
	Plugin  string                     `json:"plugin"`
	Dialect string                     `json:"contract"`
	Code    string                     `json:"code_hash"` // digest of its files
	Set     string                     `json:"set_hash"`  // digest of its sorted definition digests
	Tools   map[string]string          `json:"tools"`     // name → definition digest
	Texts   map[string]string          `json:"texts"`     // name → description approved, for the diff
	Titles  map[string]string          `json:"titles,omitempty"`
	Schemas map[string]json.RawMessage `json:"schemas,omitempty"` // name → parameters approved
	// Unlisted says that the code was approved before it had listed its tools. Set,
	// Tools and the texts are then those of the version approved before, if any, and
	// Read holds what reading showed of each tool: all words of it, by name. ReadAll
	// says that reading showed every tool.
	Unlisted bool              `json:"unlisted,omitempty"`
	Read     map[string]string `json:"read,omitempty"`
	ReadAll  bool              `json:"read_all,omitempty"`
	// Bundled says that the code comes with Conclave, whose first listing is approved with it.
	Bundled bool `json:"own,omitempty"`
	// Settings is a digest of the person's settings with which Tools were listed.
	Settings string `json:"settings,omitempty"`
	// Past are the versions that were approved before this one and never turned
	// down since, newest last. They need no second yes.
	Past []PastApproval `json:"past,omitempty"`
	// Rejected are the versions that were not approved while this one stayed in
	// service, newest last.
	Rejected    []string  `json:"rejected,omitempty"`
	Permissions []string  `json:"permissions"`
	Developing  bool      `json:"developing"`
	RemovedAt   time.Time `json:"left,omitzero"` // since when nothing of its name lies in the plugins folder
	Effect      Effect    `json:"effect"`        // Allow, or Deny for "turn off"
	At          time.Time `json:"at"`
	By          string    `json:"by"`
}

// PastApproval identifies a version that a person approved earlier.
type PastApproval struct {
	Code        string   `json:"code_hash"`
	Set         string   `json:"set_hash,omitempty"` // empty when it never listed its tools
	Permissions []string `json:"permissions"`
	Settings    string   `json:"settings,omitempty"`
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

// Use is how often the gate allowed calls of a tool, and when last.
type Use struct {
	Times   int       `json:"times"`
	Last    time.Time `json:"last"`
	Yes     int       `json:"yes,omitempty"`     // those that a person allowed, when asked or by a rule
	Allowed time.Time `json:"allowed,omitzero"`  // the last of these
	Deleted bool      `json:"deleted,omitempty"` // one of them deleted a file
}

// PluginVersion describes one version of a plugin to the gate: first as its files say
// (Listed is false), later with the tools that it listed once it ran.
type PluginVersion struct {
	Plugin      string
	Name        string // display name
	Dialect     string
	Code        string      // digest of its files
	Diff        string      // the lines by which its files differ from those that were approved, for a person
	Tools       []tool.Tool // as listed, or as far as reading shows them
	Listed      bool        // Tools come from the running plugin, not from reading it
	ReadAll     bool        // reading it showed every tool
	Settings    string      // digest of the settings its tools were listed with; empty for none
	Folder      string      // where it lies, for a person
	Hidden      int         // hidden characters removed from its manifest
	Marked      []string    // the lines of which they were removed, as tool.Marked returns them
	Permissions []string
	Imports     []string
	Isolation   string // what holds it, in words

	Convention tool.Convention // of its dialect
	Sealed     Sealed          // of its dialect
}

// Sealed says why no permission gives plugins of a dialect more access than their
// sandbox has. The zero value is for dialects whose sandbox the permissions do open.
type Sealed struct {
	Why     string            // what such a plugin is and has: "a script runs in an engine that has no files"
	Instead map[string]string // by the permission that opens the sandbox, a sentence that says what there is instead
}
