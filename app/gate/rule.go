package gate

import (
	"crypto/rand"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/place"
	"conclave/app/chat"
)

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

// The fields of rules about permissions, and of what is asked of one.
const (
	hostField    = "host"
	pathField    = "path"
	fileField    = "file"
	accessField  = "access"
	programField = "program"
	commandField = "command"
	folderField  = "folder"
	portField    = "port"
	secretField  = "name" // of a rule about a secret; its hosts are those of hostField
)

// secretPermission is the permission of rules about secrets that a person gives a plugin to use. No manifest
// asks for it, and no approval grants it.
const secretPermission = "secret"

// settingNote begins the note of a rule that a setting made.
const settingNote = "setting:"

// unusedTime is the time after which an unused rule falls back to asking, see [Rule.Unused].
const unusedTime = 90 * 24 * time.Hour

// accessDelete is the access of an opening that deletes. No rule is about it alone.
const accessDelete = "delete"

// Folder is a folder or a file outside of a plugin's own that the plugin may access.
type Folder struct {
	Path  string `json:"path"` // absolute, without links
	Write bool   `json:"write"`
	// the setting of the plugin's that named it; empty when it was granted by itself
	Setting string `json:"setting,omitempty"`
}

// GrantedSecret is a secret that Conclave sends for a plugin. The plugin never sees it.
type GrantedSecret struct {
	Name  string
	Hosts []string // that it may be sent to
	Rule  string   // the id of the rule that says so
}

// openingArguments name the file for a person who is asked, and for rules.
type openingArguments struct {
	Path   string `json:"path"`           // the folder, or the file where no plugin may have its folder
	File   string `json:"file,omitempty"` // in it
	Access string `json:"access"`         // read or write
}

// startingArguments name a command for a person who is asked, and for rules. Two commands
// that are not the same differ in one of them.
type startingArguments struct {
	Program string `json:"program"`
	Command string `json:"command"` // as one would write it in a terminal
	Folder  string `json:"folder"`
}

// single returns the condition of a rule about one field alone, if which is so.
func (g Rule) single(which bool, field string) (Match, bool) {
	if !which || len(g.Match) != 1 || g.Match[0].Field != field {
		return Match{}, false
	}
	return g.Match[0], true
}

// host returns the host that a rule about connections is about, for a person.
func (g Rule) host() (string, bool) {
	m, ok := g.single(AboutHosts(g.Permission), hostField)
	return m.shownHost(), ok
}

// program returns the file that a rule about starting programs is about.
func (g Rule) program() (path string, ok bool) {
	m, ok := g.single(g.Permission == Programs, programField)
	return m.Value, ok
}

// port returns the port that a rule about listening is about.
func (g Rule) port() (port string, ok bool) {
	m, ok := g.single(g.Permission == Listen, portField)
	return m.Value, ok
}

// secret returns the secret that a rule is about.
func (g Rule) secret() (l GrantedSecret, ok bool) {
	if g.Permission != secretPermission || g.Effect != Allow || len(g.Match) != 2 {
		return GrantedSecret{}, false
	}
	return GrantedSecret{g.Match[0].Value, g.Match[1].Values, g.ID}, true
}

// value returns what a rule's condition on a field compares with, "" where it has none.
func (g Rule) value(field string) string {
	for _, m := range g.Match {
		if m.Field == field {
			return m.Value
		}
	}
	return ""
}

// place returns the folder or file that a rule is about, whatever it says of it.
func (g Rule) place() (path string, write, ok bool) {
	if g.Permission != Filesystem {
		return "", false, false
	}
	path = g.value(pathField)
	return path, g.value(accessField) == access(true), path != ""
}

// opened reports whether a rule is about files that Conclave opens for a plugin, one by
// one: it was made from such a question, and opens no sandbox.
func (g Rule) opened() bool { return g.Permission == Filesystem && g.MadeFrom != "" }

// stays reports whether a rule holds in every chat, for as long as Conclave runs or always.
func (g Rule) stays() bool { return g.Scope == Always || g.Scope == UntilQuit }

// folder returns the folder that a rule is about.
func (g Rule) folder() (Folder, bool) {
	path, write, ok := g.place()
	return Folder{Path: path, Write: write, Setting: strings.TrimPrefix(g.Note, settingNote)}, ok && g.Effect == Allow
}

// cuts reports whether a rule about files refuses or asks about some of what another one allows.
func (g *Rule) cuts(allowed *Rule) bool {
	at, write, ok := g.place()
	in, writes, also := allowed.place()
	return ok && also && (writes || !write) && (place.Holds(in, at) || place.Holds(at, in))
}

// Unused reports whether a rule that allows calls, a host, a port, a folder that is opened when
// asked for, or a command has not been used for 90 days, so that a person is asked again.
func (g Rule) Unused(now time.Time) bool {
	return now.Sub(latest(g.Made, g.LastUsed)) > unusedTime && g.Effect == Allow && g.lasts() && g.Counted()
}

// Counted reports whether the gate sees each use of what a rule allows. Of what opens a sandbox,
// and of text that is trusted, it sees none.
func (g Rule) Counted() bool {
	if g.Permission == "" {
		return g.Origin == nil
	}
	_, host := g.host()
	_, port := g.port()
	return host || port || g.Permission == Start || g.opened()
}

// Unreadable reports whether this version cannot read the rule's conditions: it allows
// nothing, and else holds always.
func (g Rule) Unreadable() bool { return g.broken }

// placed has a rule hold where its scope says: in the chat and the answer of the request that
// it is made from, or in their project.
func (g *Rule) placed(p Request) {
	switch g.Scope {
	case ThisAnswer, ThisChat:
		g.Conversation, g.Turn = p.Conversation, p.Turn
	case ThisProject:
		g.Project = p.Project
	}
}

// checkIgnored checks that a rule which lets calls ignore origins is about one host, in one chat.
func (g Rule) checkIgnored() error {
	if len(g.Origins) == 0 || g.Effect == Allow && g.Scope == ThisChat && g.Conversation != "" && g.Tool != "*" &&
		g.Permission == "" && len(g.Match) == 1 && g.Match[0].Op == HostIs {
		return nil
	}
	return fault.New(fault.Invalid, "gate.ignored",
		"Only reading from a single host can be allowed while the chat holds untrusted text.",
		"Name the tool, the host and the chat.")
}

// checkTrust checks a rule about an origin.
func (g Rule) checkTrust() error {
	if g.Effect != Allow || g.Scope != ThisChat || g.Conversation == "" || g.Tool != "" || g.Plugin != "" {
		return fault.New(fault.Invalid, "gate.trust", "Text can only be trusted in one chat.", "Name the chat.")
	}
	if g.Origin.Kind == chat.FromMore {
		return fault.New(fault.Invalid, "gate.trust", "Text from places that are not named cannot be trusted.",
			"Begin another chat for what does not need that text.")
	}
	return nil
}

// about reports whether a rule is about calls of a caller, and whether about all of them:
// of AnyMember a rule may be about one.
func (g Rule) about(caller Caller) (some, all bool) {
	if g.Effect != Allow && len(g.Callers) == 0 {
		return true, true
	}
	for _, named := range g.Callers {
		all = all || covers(named, caller)
		some = some || all || caller == AnyMember && named.IsMember()
	}
	return some, all
}

// spent reports whether a rule has ended or is used up.
func (g Rule) spent(now time.Time) bool {
	return !g.Expires.IsZero() && !now.Before(g.Expires) || g.MaxUses > 0 && g.Uses >= g.MaxUses
}

// names returns the hosts that the conditions of a rule about calls name, and whether this
// is one of them.
func (g Rule) names(host string) (hosts []string, holds bool) {
	for i, m := range g.Match {
		if m.Op != HostIs && m.Op != HostSuffix {
			continue
		}
		if i < len(g.conditions) {
			is, known := g.conditions[i].holds(item{text: host, isText: true, known: true})
			holds = holds || is && known
		}
		hosts = append(hosts, m.shownHost())
	}
	return hosts, holds
}

// outlives reports whether the rule holds after a restart. A chat does, so its
// rules do.
func (g Rule) outlives() bool { return g.lasts() || g.Scope == ThisChat }

// lasts reports whether the rule holds in more chats than one, whatever ends.
func (g Rule) lasts() bool { return g.Scope == Always || g.Scope == ThisProject }

// aboutFiles reports whether a rule about files is about this opening. Who may write may
// read; who may not read may not write.
func (g Rule) aboutFiles(call *Call) bool {
	asked := call.asked()
	at, write, ok := g.place()
	if !ok || asked[pathField] == "" {
		return g.Effect != Allow
	}
	path, wants := filepath.Join(asked[pathField], asked[fileField]), asked[accessField] != access(false)
	if g.Effect == Allow {
		return (write || !wants) && place.Inside(at, path)
	}
	return (wants || !write) && place.Holds(at, path) // whichever of its names was asked for
}

// covers reports whether a caller is one of the rule's.
func (g *Rule) covers(caller Caller) bool {
	return slices.ContainsFunc(g.Callers, func(named Caller) bool { return covers(named, caller) })
}

// covers reports whether the caller a rule names is this one; AnyMember names
// every member.
func covers(named, caller Caller) bool {
	kind, id, ok := strings.Cut(string(named), ":")
	return named == caller || ok && id == "*" && strings.HasPrefix(string(caller), kind+":")
}

// holdsIn reports whether a rule holds where a call is made.
func (g *Rule) holdsIn(call *Call) bool {
	switch g.Scope {
	case ThisChat:
		return g.Conversation != "" && g.Conversation == call.Conversation
	case ThisProject:
		return g.Project != "" && g.Project == call.project
	case ThisAnswer:
		return g.Turn != "" && g.Turn == call.Turn
	}
	return true
}

// Sentence returns what a plugin may do there: “read files in /home/me/Notes”.
func (f Folder) Sentence() string {
	if f.Write {
		return "read and write files in " + f.Path
	}
	return "read files in " + f.Path
}

func access(write bool) string {
	if write {
		return "write"
	}
	return "read"
}

func newID(prefix string) string { return prefix + "_" + strings.ToLower(rand.Text()) }

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
