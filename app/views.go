package app

import (
	"time"

	"conclave/app/transcript"
)

// Failure is a fault as the page shows it.
type Failure = transcript.Failure

// Undo is what can be taken back with Window.Undo.
type Undo struct {
	Token    string `json:"token"`
	Sentence string `json:"sentence"`
}

// ChatQuery says which chats to list.
type ChatQuery struct {
	Text     string `json:"text"`
	Archived bool   `json:"archived"`
}

// ChatRow is one chat of the list.
type ChatRow struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Updated  string   `json:"updated"`
	Pinned   bool     `json:"pinned"`
	Archived bool     `json:"archived"`
	Demo     bool     `json:"demo"`
	State    string   `json:"state"` // idle, running, waiting
	Unread   bool     `json:"unread"`
	Excerpt  *Excerpt `json:"excerpt"`
}

// Excerpt is a find with its surroundings, as plain text.
type Excerpt struct {
	Before string `json:"before"`
	Match  string `json:"match"`
	After  string `json:"after"`
}

// ChatGroup is one heading of the list.
type ChatGroup struct {
	Key   string `json:"key"` // pinned, a day, a month, found
	Count int    `json:"count"`
}

// ChatList is a stretch of the list.
type ChatList struct {
	Revision uint64      `json:"revision"`
	Total    int         `json:"total"`
	Groups   []ChatGroup `json:"groups"`
	Offset   int         `json:"offset"`
	Rows     []ChatRow   `json:"rows"`
	// Searched is how much of what was said a query has searched so far, in
	// percent: less than 100 while the index is being made. The list then has a new
	// revision when more of it is.
	Searched int `json:"searched"`
}

// Draft is a half-written message.
type Draft struct {
	Text        string             `json:"text"`
	Cursor      int                `json:"cursor"` // UTF-16 units
	Attachments []transcript.Media `json:"attachments"`
	Queued      []Queued           `json:"queued"` // messages that go out after the running answer
}

// Queued is a message that was written while an answer streamed.
type Queued struct {
	Text        string             `json:"text"`
	Attachments []transcript.Media `json:"attachments"`
	NoTools     bool               `json:"no_tools"`
}

// CallDetail is everything about one call.
type CallDetail struct {
	ID            string             `json:"id"`
	Arguments     string             `json:"arguments"`
	RawArguments  string             `json:"raw_arguments"`
	Result        string             `json:"result"`
	ResultJSON    string             `json:"result_json"`
	ResultCut     int                `json:"result_cut"`
	HiddenRemoved int                `json:"hidden_removed"`
	ResultMarked  string             `json:"result_marked"`
	Media         []transcript.Media `json:"media"`
	Error         string             `json:"error"`
	ErrorType     string             `json:"error_type"`
	Traceback     string             `json:"traceback"`
	Printed       string             `json:"printed"`
	Started       string             `json:"started"`
	Ended         string             `json:"ended"`
	MS            int64              `json:"ms"`
	Caller        string             `json:"caller"`
	Digest        string             `json:"digest"`
	Why           []string           `json:"why"`
}

// MessageInfo is the exact requests behind one answer.
type MessageInfo struct {
	Requests []RequestInfo    `json:"requests"`
	Usage    transcript.Usage `json:"usage"`
	MS       int64            `json:"ms"`
}

// RequestInfo is one request to a model.
type RequestInfo struct {
	Model string           `json:"model"`
	Sent  string           `json:"sent"`
	MS    int64            `json:"ms"`
	Body  string           `json:"body"`
	Usage transcript.Usage `json:"usage"`
}

// Find is one message that holds the words searched for.
type Find struct {
	Seq     uint64  `json:"seq"`
	Index   int     `json:"index"`
	Excerpt Excerpt `json:"excerpt"`
}

// Outgoing is a message to send.
type Outgoing struct {
	Text        string   `json:"text"`
	Attachments []string `json:"attachments"`
	Model       string   `json:"model"`
	NoTools     bool     `json:"no_tools"`
}

// Sent is what was started.
type Sent struct {
	Conversation string `json:"conversation"`
	Turn         string `json:"turn"`
	Seq          uint64 `json:"seq"`
}

// ProblemView is why a plugin did not load.
type ProblemView struct {
	Kind    string   `json:"kind"`
	Message string   `json:"message"`
	Type    string   `json:"type"`
	File    string   `json:"file"`
	Line    int      `json:"line"`
	Column  int      `json:"column"`
	Frame   string   `json:"frame"`
	Hint    string   `json:"hint"`
	Missing []string `json:"missing"`
	Stderr  string   `json:"stderr"`
}

// PluginView is one plugin's card.
type PluginView struct {
	ID            string           `json:"id"`
	Name          string           `json:"name"`
	Version       string           `json:"version"`
	Description   string           `json:"description"`
	Author        string           `json:"author"`
	Homepage      string           `json:"homepage"`
	Contract      string           `json:"contract"`
	Path          string           `json:"path"`
	Origin        string           `json:"origin"`
	State         string           `json:"state"`
	Enabled       bool             `json:"enabled"`
	Problem       *ProblemView     `json:"problem"`
	ServingSince  string           `json:"serving_since"`
	Tools         []string         `json:"tools"`
	Permissions   []PermissionView `json:"permissions"`
	Folders       []FolderView     `json:"folders"` // what it may reach outside of its own
	Refused       []RefusalView    `json:"refused"` // what it reached for and may not have, newest last
	Capabilities  []string         `json:"capabilities"`
	Isolation     string           `json:"isolation"`
	IsolationNote string           `json:"isolation_note"`
	LoadMS        float64          `json:"load_ms"`
	Generation    uint64           `json:"generation"`
	Loaded        string           `json:"loaded"`
	Calls         uint64           `json:"calls"`
	Errors        uint64           `json:"errors"`
	LastUsed      string           `json:"last_used"`
	Warnings      []string         `json:"warnings"`
	Developing    bool             `json:"developing"`
	Shipped       bool             `json:"shipped"`
	Running       bool             `json:"running"`
	Memory        int64            `json:"memory"`
	Digest        string           `json:"digest"`
	Packages      *PackagesView    `json:"packages"`
	Settings      bool             `json:"settings"`
}

// PermissionView is one permission that a plugin asks for, has, or was denied.
type PermissionView struct {
	Name      string `json:"name"`
	Sentence  string `json:"sentence"`
	Without   string `json:"without"`
	Risk      string `json:"risk"`
	Supported bool   `json:"supported"`
	State     string `json:"state"` // asked, granted or denied
	ByHand    bool   `json:"by_hand"`
}

// FolderView is a folder or file that a plugin was given.
type FolderView struct {
	Path    string `json:"path"`
	Write   bool   `json:"write"`
	Setting string `json:"setting"` // the setting that named it; "" when it was granted by itself
}

// RefusalView is something that a plugin may not have, which a grant would allow. Its
// word is the plugin's: the person decides about what is shown.
type RefusalView struct {
	Permission string `json:"permission"`
	Path       string `json:"path"` // of filesystem: the folder
	Write      bool   `json:"write"`
	Command    string `json:"command"` // that allows it
}

// PluginList is all plugins.
type PluginList struct {
	Revision uint64       `json:"revision"`
	Folder   string       `json:"folder"`
	Problem  *Failure     `json:"problem"`
	Plugins  []PluginView `json:"plugins"`
}

// PluginDetail is what a person reads before approving.
type PluginDetail struct {
	Plugin        PluginView   `json:"plugin"`
	Tools         []ToolView   `json:"tools"`
	Listed        bool         `json:"listed"`
	Files         []string     `json:"files"`
	Imports       []string     `json:"imports"`
	Changes       []ChangeView `json:"changes"`
	HiddenRemoved int          `json:"hidden_removed"`
}

// ChangeView is one difference from what was approved.
type ChangeView struct {
	Tool   string `json:"tool"`
	Field  string `json:"field"`
	Before string `json:"before"`
	After  string `json:"after"`
	Diff   string `json:"diff,omitempty"` // code: the lines that differ
}

// TemplateView is a kind of plugin that Plugins.New can make.
type TemplateView struct {
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	Sentence string `json:"sentence"`
	File     string `json:"file"`
	Common   bool   `json:"common"`
}

// LogLineView is one line of a plugin's log.
type LogLineView struct {
	N     uint64 `json:"n"`
	Time  string `json:"time"`
	Level string `json:"level"`
	Text  string `json:"text"`
}

// PluginLog is a stretch of a plugin's log.
type PluginLog struct {
	Revision uint64        `json:"revision"`
	Lines    []LogLineView `json:"lines"`
	Dropped  uint64        `json:"dropped"`
}

// ToolView is one tool of the dock.
type ToolView struct {
	ID           string   `json:"id"`
	Plugin       string   `json:"plugin"`
	PluginName   string   `json:"plugin_name"`
	Name         string   `json:"name"`
	WireName     string   `json:"wire_name"`
	Title        string   `json:"title"`
	Description  string   `json:"description"`
	Parameters   string   `json:"parameters"`
	Visibility   string   `json:"visibility"`
	Enabled      bool     `json:"enabled"`
	Contract     string   `json:"contract"`
	Digest       string   `json:"digest"`
	Status       string   `json:"status"`
	TimeoutMS    int64    `json:"timeout_ms"`
	Tokens       int      `json:"tokens"`
	Capabilities []string `json:"capabilities"`
	LastUsed     string   `json:"last_used"`
	Rule         string   `json:"rule"`
	File         string   `json:"file"`
	Line         int      `json:"line"`
	Warnings     []string `json:"warnings"`
}

// ToolList is all tools.
type ToolList struct {
	Revision      uint64     `json:"revision"`
	Tools         []ToolView `json:"tools"`
	Tokens        int        `json:"tokens"`
	ContextTokens int64      `json:"context_tokens"`
}

// PendingView is a request that waits for a person.
type PendingView struct {
	ID           string   `json:"id"`
	Nonce        string   `json:"nonce"`
	Kind         string   `json:"kind"`
	Caller       string   `json:"caller"`
	Plugin       string   `json:"plugin"`
	PluginName   string   `json:"plugin_name"`
	Tool         string   `json:"tool"`
	Title        string   `json:"title"`
	Name         string   `json:"name"` // of the tool, as a person reads it
	Capabilities []string `json:"capabilities"`
	Arguments    string   `json:"arguments"`
	Reach        string   `json:"reach"`
	Reason       string   `json:"reason"`
	History      string   `json:"history"`
	Conversation string   `json:"conversation"`
	Seq          uint64   `json:"seq"`
	Call         string   `json:"call"`
	Count        int      `json:"count"`
	Scopes       []string `json:"scopes"`
	Asked        string   `json:"asked"`
	Expires      string   `json:"expires"`
	Hidden       int      `json:"hidden"`
}

// AnswerView is what a person said to a request.
type AnswerView struct {
	Effect    string `json:"effect"`
	Scope     string `json:"scope"`
	Arguments string `json:"arguments"`
	Reason    string `json:"reason"`
}

// PendingList is all requests that wait.
type PendingList struct {
	Revision uint64        `json:"revision"`
	Requests []PendingView `json:"requests"`
	Paused   bool          `json:"paused"`
}

// GrantView is a remembered answer.
type GrantView struct {
	ID         string `json:"id"`
	Effect     string `json:"effect"`
	Plugin     string `json:"plugin"`
	PluginName string `json:"plugin_name"`
	Tool       string `json:"tool"`
	Scope      string `json:"scope"`
	Sentence   string `json:"sentence"`
	Made       string `json:"made"`
	LastUsed   string `json:"last_used"`
	Uses       int    `json:"uses"`
	Unreadable bool   `json:"unreadable"`
}

// GrantList is all remembered answers.
type GrantList struct {
	Revision uint64      `json:"revision"`
	Grants   []GrantView `json:"grants"`
}

// ConnectionView is one provider's card.
type ConnectionView struct {
	Name      string   `json:"name"`
	Kind      string   `json:"kind"`
	Title     string   `json:"title"`
	URL       string   `json:"url"`
	Host      string   `json:"host"`
	HasKey    bool     `json:"has_key"`
	BuiltIn   bool     `json:"built_in"`
	State     string   `json:"state"`
	Problem   *Failure `json:"problem"`
	LatencyMS int64    `json:"latency_ms"`
	Checked   string   `json:"checked"`
	Models    []string `json:"models"`
}

// ModelView is one model that can be chosen.
type ModelView struct {
	Name       string `json:"name"`
	Connection string `json:"connection"`
	ID         string `json:"id"`
	Title      string `json:"title"`
	Tools      bool   `json:"tools"`
	Vision     bool   `json:"vision"`
	Reasoning  bool   `json:"reasoning"`
	Context    int64  `json:"context_tokens"`
}

// ProviderView is a kind of connection that can be added.
type ProviderView struct {
	Kind        string   `json:"kind"`
	Title       string   `json:"title"`
	URL         string   `json:"url"`
	NeedsKey    bool     `json:"needs_key"`
	AsksURL     bool     `json:"asks_url"` // the address is asked for beside the key
	KeyPage     string   `json:"key_page"`
	KeyPrefixes []string `json:"key_prefixes"`
}

// ModelList is all connections and their models.
type ModelList struct {
	Revision    uint64           `json:"revision"`
	Default     string           `json:"default"`
	Connections []ConnectionView `json:"connections"`
	Models      []ModelView      `json:"models"`
	Providers   []ProviderView   `json:"providers"`
	KeyStore    string           `json:"key_store"`
	// KeysLocked: the encrypted file is used and its passphrase is needed first.
	KeysLocked bool `json:"keys_locked"`
	// KeysFresh: that passphrase is still to be chosen.
	KeysFresh bool `json:"keys_fresh"`
}

// ConnectionEdit is a connection as a person writes it. Its key goes to the key
// store and nowhere else.
type ConnectionEdit struct {
	Kind   string   `json:"kind"`
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	URL    string   `json:"url"`
	Key    string   `json:"key"`
	Models []string `json:"models"`
}

// LocalServer is a model server that answered on this computer.
type LocalServer struct {
	Kind       string `json:"kind"`
	Title      string `json:"title"`
	Version    string `json:"version"`
	URL        string `json:"url"`
	Models     int    `json:"models"`
	Connection string `json:"connection"`
}

// SettingsView is what the page may set.
type SettingsView struct {
	Revision     uint64 `json:"revision"`
	Theme        string `json:"theme"`
	Zoom         int    `json:"zoom"`
	TextSize     int    `json:"text_size"`
	ReadingFont  string `json:"reading_font"`
	SendKey      string `json:"send_key"`
	Follow       bool   `json:"follow"`
	ScanAtStart  bool   `json:"scan_at_start"`
	Editor       string `json:"editor"`
	SidebarOpen  bool   `json:"sidebar_open"`
	SidebarWidth int    `json:"sidebar_width"`
	DockOpen     bool   `json:"dock_open"`
	DockWidth    int    `json:"dock_width"`
	DockTab      string `json:"dock_tab"`
	ModelTitles  bool   `json:"model_titles"`

	Keys map[string]string `json:"keys"` // changed shortcuts: command id → chord
}

// Hello is all that the first paint needs.
type Hello struct {
	Version       string       `json:"version"`
	Platform      string       `json:"platform"`
	FirstRun      bool         `json:"first_run"`
	DataFolder    string       `json:"data_folder"`
	PluginsFolder string       `json:"plugins_folder"`
	LogFolder     string       `json:"log_folder"`
	Isolation     string       `json:"isolation"`
	Licence       string       `json:"licence"`
	Settings      SettingsView `json:"settings"`
	OpenChat      string       `json:"open_chat"`
	Trouble       *Failure     `json:"trouble"`
}

// stamp is a time as the page reads it, or "".
func stamp(t time.Time) string { return transcript.Stamp(t) }

// list returns items, never nil.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
