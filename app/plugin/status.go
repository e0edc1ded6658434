package plugin

import (
	"encoding/json"
	"slices"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// State is the state of a plugin, in the words of the command line.
type State string

// The states of a plugin.
const (
	Ready         State = "ready"          // its tools can be called
	Loading       State = "loading"        // being read or started
	Failed        State = "failed"         // the newest save does not load; an older version may still serve
	Disabled      State = "disabled"       // switched off
	NeedsApproval State = "needs-approval" // read, not run: a person has to look at it first
	Quarantined   State = "quarantined"    // it changed since it was approved, or keeps dying
	NeedsPackages State = "needs-packages" // it does not load without packages that are not installed
	NeedsSettings State = "needs-settings" // it is not started without settings that a person has to fill in
	NeedsSignIn   State = "needs-sign-in"  // a person has to sign in to where it runs
	Installing    State = "installing"     // it is started for the first time, which installs it
)

// Status is a snapshot of a plugin, as the window and the terminal show it.
type Status struct {
	ID          string
	Manifest    Manifest
	Facts       Facts // of its dialect
	Path        string
	Origin      string // where it was added from; empty when that is not known
	State       State
	Problem     *Problem        // why it is not ready; nil when it is
	Tools       []tool.Tool     // serving, or waiting for approval; in the plugin's order
	Enabled     map[string]bool // tool name → offered to models; a missing name is offered
	MainOnly    map[string]bool // tool name → kept from members of councils
	Imports     []string        // what its source imports, when that could be read
	Home        []string        // what its source names of a home folder, as ~/name
	Data        []string        // what its configuration names for it to work on
	Wants       []string        // permissions that its source shows it will want
	Load        time.Duration   // from the noticed save to the published set
	Loaded      time.Time       // when the serving version was published
	Generation  uint64          // grows with each version that was read without a problem
	Serving     bool            // whether its tools can be called now
	LastGood    bool            // the serving version is older than the newest save
	ToolsDenied bool            // it offers no tools: the permission for that was taken away
	Running     bool            // whether its process is up
	Calls       uint64          // since the program started
	Errors      uint64
	Digest      string // of the newest source
	// Shown is the digest of the version that waits for approval: its files, its permissions and its
	// tools (gate.PluginVersion.Digest). A decision names it. Empty while none waits.
	Shown      string
	OwnFiles   bool // it consists of files, which a person can edit
	Developing bool // the person said that they edit it
	AtOnce     int  // how many of its calls run at once
	AtOnceSet  bool // by the person; else it is the default
	// KeepRunning says that it is not ended when nobody has used it for Facts.Idle.
	KeepRunning bool
	// OnlyWords says that what waits differs from what was approved in words for models alone, and KeepWords that models
	// get those that were approved, whatever the plugin says now.
	OnlyWords, KeepWords bool
	Isolation            sandbox.Confinement
	Granted              []string
	Denied               []string
	Folders              []gate.Folder // what it may reach outside its folders
	Hosts                []string      // the rules about hosts that it may or may not connect to, as sentences
	Ports                []string      // the rules about ports on which it may or may not listen, as sentences
	Programs             []string      // the files of those that it may start, where these are not all
	Refused              []Refusal     // what it reached for since it was loaded and may not have, as it stands now
	Changes              []gate.Change // quarantined by a change: what differs
	Usage                sandbox.Usage
	Listed               bool            // Tools come from running it, not from reading it
	LastUsed             time.Time       // when one of its tools was called last, since the program started
	Options              json.RawMessage // JSON Schema of what may be set; nil when that is nothing
	About                []Fact          // what its dialect says of it
	Notes                []string        // sentences of the plugin about itself: settings it needs, what of it is not used

	SignedIn   string // the service where the person is signed in for it; empty: none
	SignInPage string // the page of a sign-in that waits for the person; empty: none does
	// SignInServices are those that the person chooses from to sign in; none where there is nothing to choose.
	SignInServices []string

	Packages    *Packages    // what it wants of the world's packages; nil when nothing
	PackageWork *PackageWork // installing them; nil when that was not done since the program started
}

// Disclosure returns what each call of the plugin's tools gets besides its arguments, as
// a sentence for a person; empty when that is nothing.
func (s Status) Disclosure() string {
	offers := len(s.Tools) > 0 || slices.Contains(s.Manifest.Permissions, s.Facts.ToolsPermission)
	if offers && s.Facts.Convention.Chat {
		return tool.ChatNotice
	}
	return ""
}

// Update is one reload, as `conclave plugins watch` prints it.
type Update struct {
	Plugin     string
	Generation uint64
	State      State
	Tools      []string // tool ids
	Took       time.Duration
	Problem    *Problem
	Removed    bool
}

// Enlisted is a plugin that has been approved and is switched on, as who lends its
// process sees it.
type Enlisted struct {
	ID       string
	Manifest Manifest // of the version in service, or of the newest save where none is
	Granted  []string // the permissions that the person granted
	Broken   *Problem // why it is not in service although it should be; nil when it is
}

// LogLine is one line of a plugin's log.
type LogLine struct {
	N     uint64    `json:"-"` // growing within one start of Conclave
	Time  time.Time `json:"time"`
	Level string    `json:"level"` // debug, info, warn, error
	// of one or more lines, without control characters and the plugin's secrets, at most 4 KiB
	Text string `json:"text"`
	Call string `json:"call,omitempty"`
}

// IsolationNote returns what does not hold the plugin that a person could expect to; empty where
// nothing is to be said.
func (s Status) IsolationNote() string {
	return s.Isolation.Note(slices.Contains(s.Granted, gate.Network), slices.Contains(s.Granted, gate.Listen))
}

// FoundNote returns what the plugin can find out of files that it may not read, which holds of every
// plugin of its kind; empty where that is nothing.
func (s Status) FoundNote() string {
	if s.Facts.Sealed.Why != "" { // its engine has nothing that looks for files
		return ""
	}
	return s.Isolation.Found
}
