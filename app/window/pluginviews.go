package window

import (
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// ProblemView is why a plugin did not load.
type ProblemView struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message"`
	Type    string   `json:"type"`
	File    string   `json:"file"`
	Line    int      `json:"line"` // from 1; 0 when there is no place
	Column  int      `json:"column"`
	Frame   string   `json:"frame"` // a few lines of source with the place marked
	Hint    string   `json:"hint"`
	Missing []string `json:"missing"` // packages that are not installed
	Stderr  string   `json:"stderr"`
}

// PluginView is one plugin's card.
type PluginView struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Version     string `json:"version"`
	Description string `json:"description"`
	Author      string `json:"author"`
	Homepage    string `json:"homepage"`
	Dialect     string `json:"contract"`
	Path        string `json:"path"`
	// It is a program that registered its tools: none of it lies here, and path is its address.
	Remote bool `json:"remote"`
	// Where it was added from and can be updated from: an address or a path; "" = not known.
	Origin  string       `json:"origin"`
	State   plugin.State `json:"state"`
	Enabled bool         `json:"enabled"`
	Problem *ProblemView `json:"problem"`
	// When the version that still serves was loaded, while problem is set or a newer one waits;
	// "" = none serves.
	ServingSince string                 `json:"serving_since"`
	Tools        []string               `json:"tools"` // tool ids that are callable now
	Permissions  []PluginPermissionView `json:"permissions"`
	Folders      []PluginFolderView     `json:"folders"`      // what it may reach outside of its own
	Refused      []PluginRefusalView    `json:"refused"`      // what it reached for and may not have, newest last
	Capabilities []string               `json:"capabilities"` // what it may do, in gate.Capability's words
	Isolation    string                 `json:"isolation"`    // process+landlock · process · none
	// “Runs as you, not isolated.” when the sandbox is not the best; else "".
	IsolationNote string   `json:"isolation_note"`
	FoundNote     string   `json:"found_note"` // what it can find out of files that it may not read; "" = nothing
	LoadMS        float64  `json:"load_ms"`
	Generation    uint64   `json:"generation"`
	Loaded        string   `json:"loaded"`
	Calls         uint64   `json:"calls"`
	Errors        uint64   `json:"errors"`
	LastUsed      string   `json:"last_used"`
	Warnings      []string `json:"warnings"`
	Developing    bool     `json:"developing"` // “I am developing this”: own edits keep their approval
	Shipped       bool     `json:"shipped"`    // comes with Conclave
	Running       bool     `json:"running"`
	// Of its process, in bytes; 0 when it does not run or the system does not say.
	Memory   int64         `json:"memory"`
	Digest   string        `json:"digest"`   // what an approval pins; Plugins.Approve must name it
	Packages *PackagesView `json:"packages"` // what it wants of the world's packages; null when nothing
	Settings bool          `json:"settings"` // whether there is something to set: Plugins.Settings
}

// PermissionState says whether the person granted a permission of a plugin.
type PermissionState string

// The states of a permission.
const (
	PermissionAsked   PermissionState = "asked"
	PermissionGranted PermissionState = "granted"
	PermissionDenied  PermissionState = "denied"
)

// PluginPermissionView is one permission that a plugin asks for, has, or was denied.
type PluginPermissionView struct {
	Name      string          `json:"name"`
	Sentence  string          `json:"sentence"` // what the plugin may do with it
	Without   string          `json:"without"`  // what stops working without it; "" = nothing
	Risk      gate.Risk       `json:"risk"`
	Supported bool            `json:"supported"` // whether Conclave has what it is about
	State     PermissionState `json:"state"`
	ByHand    bool            `json:"by_hand"` // approving the plugin does not grant it
}

// PluginFolderView is a folder or file outside of its own that a plugin was given.
type PluginFolderView struct {
	Path    string `json:"path"`
	Write   bool   `json:"write"`
	Setting string `json:"setting"` // the setting that named it; "" when it was granted by itself
}

// PluginRefusalView is something that a plugin may not have, which a grant would
// allow. Its word is the plugin's: the person decides about what is shown.
type PluginRefusalView struct {
	Permission string `json:"permission"`
	Path       string `json:"path"` // of filesystem: the folder, for Plugins.GrantFolder
	Write      bool   `json:"write"`
	Command    string `json:"command"` // that allows it
}

// PluginList is all plugins.
type PluginList struct {
	Revision uint64       `json:"revision"`
	Folder   string       `json:"folder"`  // the watched folder
	Problem  *Failure     `json:"problem"` // why the folder cannot be watched, else null
	Plugins  []PluginView `json:"plugins"` // sorted by name
}

// PluginDetail holds what a person reads before approving.
type PluginDetail struct {
	Plugin PluginView `json:"plugin"`
	// As they would reach a model: whole descriptions, hidden characters removed.
	Tools []ToolView `json:"tools"`
	// false: reading the files told the tools; running may add more.
	Listed        bool          `json:"listed"`
	Files         []string      `json:"files"`
	Imports       []string      `json:"imports"`
	Changes       []gate.Change `json:"changes"`        // quarantined: what differs from what was approved
	HiddenRemoved int           `json:"hidden_removed"` // hidden characters removed from its texts
	// Where those stood.
	Marks []gate.Mark `json:"marks"`
}

// TemplateView is a kind of plugin that Plugins.New can make.
type TemplateView struct {
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	Sentence string `json:"sentence"` // one line: what it is good for
	// What it makes in the plugins folder; NAME stands for the name, a / at the end for a folder.
	File   string `json:"file"`
	Common bool   `json:"common"` // one of the first three a newcomer is offered
}

// LogLevel says how much a line of a log matters.
type LogLevel string

// The levels of a log.
const (
	LogDebug LogLevel = "debug"
	LogInfo  LogLevel = "info"
	LogWarn  LogLevel = "warn"
	LogError LogLevel = "error"
)

// LogLineView is one line of a plugin's log.
type LogLineView struct {
	N     uint64   `json:"n"`
	Time  string   `json:"time"`
	Level LogLevel `json:"level"`
	Text  string   `json:"text"`
}

// PluginLog is a stretch of a plugin's log.
type PluginLog struct {
	Revision uint64 `json:"revision"`
	// Lines after the one asked for, oldest first, at most 2,000.
	Lines   []LogLineView `json:"lines"`
	Dropped uint64        `json:"dropped"` // how many older lines are no longer kept
}

// ToolView is one tool as `conclave tools list --json` prints it, and what the dock
// shows besides.
type ToolView struct {
	ID           string          `json:"id"`
	Plugin       string          `json:"plugin"`
	PluginName   string          `json:"plugin_name"`
	Name         string          `json:"name"`
	WireName     string          `json:"wire_name"`
	Title        string          `json:"title"`
	Description  string          `json:"description"`
	Parameters   string          `json:"parameters"` // JSON Schema as indented text
	Visibility   tool.Visibility `json:"visibility"`
	Enabled      bool            `json:"enabled"`
	Offered      bool            `json:"offered"` // to the main model, not to members of a council alone
	Dialect      string          `json:"contract"`
	Digest       string          `json:"digest"`
	Status       string          `json:"status"` // ready, or why it cannot be called, in a few words
	TimeoutMS    int64           `json:"timeout_ms"`
	Tokens       int             `json:"tokens"` // about how many tokens its definition costs a request
	Capabilities []string        `json:"capabilities"`
	LastUsed     string          `json:"last_used"`
	// What the rules say of it: “Asks each time”, “Always allowed”.
	Rule     string   `json:"rule"`
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Warnings []string `json:"warnings"`
}

// ToolList is all tools.
type ToolList struct {
	Revision      uint64     `json:"revision"`
	Tools         []ToolView `json:"tools"`          // sorted by plugin, then name
	Tokens        int        `json:"tokens"`         // sum of the enabled ones
	ContextTokens int64      `json:"context_tokens"` // the default model's window in tokens; 0 = not known
}
