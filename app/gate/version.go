package gate

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"conclave/app/tool"
)

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
	// ToolsToo says that the person approved the start and, with it, the tools that it lists first.
	ToolsToo bool `json:"tools_too,omitempty"`
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
	Marked      []string    // the lines they were removed from, as tool.Marked returns them
	Permissions []string
	Imports     []string
	Isolation   string // what holds it, in words

	Convention tool.Convention // of its dialect
	Sealed     Sealed          // of its dialect
}

// Sealed is set for dialects whose sandbox no permission opens, with the reason. The zero
// value is for dialects whose sandbox the permissions do open.
type Sealed struct {
	Why     string            // what such a plugin is and has: "a script runs in an engine that has no files"
	Instead map[string]string // by the permission that opens the sandbox, a sentence that says what there is instead
}

// normalVersion normalizes the tools, so that they can be compared, and drops
// permissions that do not exist.
func normalVersion(c PluginVersion) PluginVersion {
	c.Permissions = Requestable(c.Permissions)
	c.Tools = slices.Clone(c.Tools)
	for i := range c.Tools {
		c.Tools[i].Plugin = c.Plugin
		c.Tools[i] = tool.Normal(c.Tools[i])
	}
	return c
}

// key identifies the version among those that a person rejected.
func (c PluginVersion) key() string {
	if c.Listed {
		return c.Code + "/" + tool.SetDigest(c.Tools)
	}
	return c.Code
}

// Digest identifies what a person decides about when they are shown the version: its files, its
// permissions, and every word of its tools that is known. A version with another digest is
// another question.
func (c PluginVersion) Digest() string {
	c = normalVersion(c)
	shown := struct {
		Plugin, Name, Dialect, Code, Settings, Permissions string
		Listed                                             bool
		Tools                                              [][3]string
	}{
		Plugin: c.Plugin, Name: c.Name, Dialect: c.Dialect, Code: c.Code, Settings: c.Settings,
		Permissions: listedSorted(c.Permissions), Listed: c.Listed,
	}
	for _, t := range c.Tools {
		shown.Tools = append(shown.Tools, [3]string{t.Name, t.Digest, ToolText(t)})
	}
	raw, err := json.Marshal(shown)
	if err != nil {
		panic(err) // it holds texts alone
	}
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:])
}

// past returns the index among the versions approved earlier of this one, or -1. One
// that has listed its tools must list those that were approved with it.
func (a Approval) past(c PluginVersion) int {
	return slices.IndexFunc(a.Past, func(p PastApproval) bool {
		return p.Code == c.Code && (!c.Listed || p.Set != "" && p.Set == tool.SetDigest(c.Tools))
	})
}

// superseded returns the versions approved earlier, this one included, once the person
// approves by.
func (a Approval) superseded(by Approval) []PastApproval {
	past := slices.Clone(a.Past)
	if a.Effect == Allow && a.Code != "" {
		p := PastApproval{Code: a.Code, Permissions: a.Permissions, Settings: a.Settings}
		if !a.Unlisted {
			p.Set = a.Set
		}
		past = append(past, p)
	}
	kept := past[:0]
	for i, p := range past {
		again := slices.ContainsFunc(past[i+1:], func(q PastApproval) bool { return q.Code == p.Code && q.Set == p.Set })
		if !again && (p.Code != by.Code || p.Set != by.Set) {
			kept = append(kept, p)
		}
	}
	return kept[max(0, len(kept)-maxPast):]
}

// readAs writes what reading showed of a version into the approval. Definitions
// that were approved with the version before stay approved.
func (a *Approval) readAs(c PluginVersion, old Approval) {
	a.Unlisted, a.ReadAll, a.Read = true, c.ReadAll, map[string]string{}
	for _, t := range c.Tools {
		a.Read[t.Name] = ToolText(t)
	}
	if old.Effect == Allow {
		a.Set, a.Tools, a.Texts, a.Titles, a.Schemas = old.Set, old.Tools, old.Texts, old.Titles, old.Schemas
	}
}

// pin writes the definitions of a listed version into the approval.
func (a *Approval) pin(c PluginVersion) {
	a.Unlisted, a.ReadAll, a.Read, a.ToolsToo, a.Settings = false, false, nil, false, c.Settings
	a.Set = tool.SetDigest(c.Tools)
	a.Tools, a.Texts, a.Titles, a.Schemas = map[string]string{}, map[string]string{}, map[string]string{},
		map[string]json.RawMessage{}
	for _, t := range c.Tools {
		a.Tools[t.Name], a.Texts[t.Name], a.Titles[t.Name], a.Schemas[t.Name] = t.Digest, t.Description, t.Title, t.Parameters
	}
}

// pinned reports whether the approval's definitions are those of a listed version.
func (a *Approval) pinned(c PluginVersion) bool {
	return len(a.Tools) == len(c.Tools) && !slices.ContainsFunc(c.Tools,
		func(t tool.Tool) bool { return a.Tools[t.Name] != t.Digest })
}

// adopted reports whether the approval is of this version, with its definitions if it has listed them.
func (a *Approval) adopted(c PluginVersion) bool {
	return a.Code == c.Code && (!c.Listed || !a.Unlisted && a.Settings == c.Settings && a.pinned(c))
}

// pluginBook holds what the gate knows of plugins. It has no lock: whoever has it guards it.
type pluginBook struct {
	approvals map[string]Approval
	known     map[string]PluginVersion // the newest that asked, by plugin
	served    map[string]PluginVersion // the newest of those that models may see, by plugin
	released  map[string]bool          // "plugin:tool digest" of definitions approved in this run
}

// pluginName returns the display name of a plugin.
func (b *pluginBook) pluginName(id string) string {
	if id == BuiltIn {
		return "Conclave"
	}
	return cmp.Or(b.known[id].Name, id)
}

// status returns whether a version may run or its tools may be shown to models, and how it differs
// from the approved one.
func (b *pluginBook) status(c PluginVersion) (ApprovalStatus, []Change) {
	a, ok := b.approvals[c.Plugin]
	switch {
	case !ok || a.Effect == "":
		return Waiting, nil
	case a.Effect != Allow:
		return Refused, nil
	}
	changes, wider := a.changes(c)
	if len(changes) == 0 || a.Developing && !wider || a.past(c) >= 0 {
		return Approved, nil
	}
	return Waiting, changes
}

// tools returns the tools of a plugin that can be called: of the newest version, or while that
// waits, of the approved one that serves until then.
func (b *pluginBook) tools(known PluginVersion) (tools []tool.Tool, waits bool) {
	served, there := b.served[known.Plugin]
	status, _ := b.status(known)
	if a := b.approvals[known.Plugin]; !there || a.Effect != Allow || status != Waiting {
		return known.Tools, false
	}
	return served.Tools, true
}

// maxRejected bounds the versions remembered as not approved, and maxPast those
// that were approved earlier.
const (
	maxRejected = 16
	maxPast     = 16
)

// ApprovalStatus reports whether a person approved a version of a plugin.
type ApprovalStatus string

// The verdicts.
const (
	Approved ApprovalStatus = "approved" // may run (not Listed), or its tools may reach a model (Listed)
	Waiting  ApprovalStatus = "waiting"  // a person has to look at it first
	Refused  ApprovalStatus = "refused"  // the person turned it off
)
