package app

import (
	"conclave/app/activity"
	"conclave/app/chat"
	"conclave/app/cost"
	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/settings"
	"conclave/app/tool"
	"conclave/app/transcript"
)

// Failure is a fault as the page shows it.
type Failure = transcript.Failure

// Undo names what can be taken back. Every destructive method returns one.
type Undo struct {
	Token string `json:"token"` // for Window.Undo
	// What was done, for the toast: "“Trip to Lyon” was deleted."
	Sentence string `json:"sentence"`
}

// ChatQuery says which chats to list.
type ChatQuery struct {
	// Words to look for in titles and message text; "" lists all.
	Text     string `json:"text"`
	Archived bool   `json:"archived"` // true lists the archive instead of the chats in use
}

// ChatState says what a chat is doing.
type ChatState string

// The states of a chat.
const (
	ChatIdle    ChatState = "idle"
	ChatRunning ChatState = "running"
	ChatWaiting ChatState = "waiting" // for a person, who is asked for a permission
)

// ChatRow is one chat of the list.
type ChatRow struct {
	ID string `json:"id"`
	// "" until the first message named it; the window then says “New chat”.
	Title    string    `json:"title"`
	Updated  string    `json:"updated"`
	Pinned   bool      `json:"pinned"`
	Archived bool      `json:"archived"`
	Demo     bool      `json:"demo"` // talked to Demo guide only
	State    ChatState `json:"state"`
	// An answer ended while the chat was not looked at (see Chats.Seen).
	Unread bool `json:"unread"`
	// Where the words of ChatQuery.text were found in a message, else null.
	Excerpt *chat.Excerpt `json:"excerpt"`
}

// ChatGroup is one heading of the list and how many rows are below it. Groups and
// rows are in the same order.
type ChatGroup struct {
	// "pinned"; "2026-11-21" for each of the last seven days, local time; "2026-10" for
	// everything older; "found" for all results of a text query.
	Key   string `json:"key"`
	Count int    `json:"count"`
}

// ChatList is a stretch of the list.
type ChatList struct {
	Revision uint64 `json:"revision"`
	Total    int    `json:"total"` // how many chats match in all
	// All groups, so that the whole list can be laid out; counts sum to total.
	Groups []ChatGroup `json:"groups"`
	Offset int         `json:"offset"` // index of rows[0] in the whole list
	Rows   []ChatRow   `json:"rows"`
	// How much of what was said a query has searched so far, in percent: less than
	// 100 while the index is being made. The list then has a new revision when more
	// of it is.
	Searched int `json:"searched"`
}

// Draft is a half-written message, kept across crashes and restarts.
type Draft struct {
	Text        string             `json:"text"`
	Cursor      int                `json:"cursor"` // the caret's position in UTF-16 units
	Attachments []transcript.Media `json:"attachments"`
	Queued      []Queued           `json:"queued"` // go out, one after the other, after the running answer
}

// Queued is a message that was written while an answer streamed.
type Queued struct {
	Text        string             `json:"text"`
	Attachments []transcript.Media `json:"attachments"`
	NoTools     bool               `json:"no_tools"`
}

// CallDetail is everything about one call, for the opened card. Its texts are
// cleaned, and cut at 200,000 characters.
type CallDetail struct {
	ID string `json:"id"`
	// Arguments as indented JSON; edited ones if the person edited them.
	Arguments    string `json:"arguments"`
	RawArguments string `json:"raw_arguments"` // what the model wrote, when it was not a JSON object
	Result       string `json:"result"`        // what the tool answered, as plain text
	// The typed value as indented JSON; "" when the text is all of it.
	ResultJSON string `json:"result_json"`
	ResultCut  int    `json:"result_cut"` // how many more characters the result has than are shown
	// Hidden characters (ANSI, bidi, zero-width, Unicode tags) removed from the result.
	HiddenRemoved int `json:"hidden_removed"`
	// The result with those characters made visible (‹U+200B›); "" when none.
	ResultMarked string             `json:"result_marked"`
	Media        []transcript.Media `json:"media"`
	Error        string             `json:"error"`
	ErrorType    string             `json:"error_type"`
	Traceback    string             `json:"traceback"`
	Printed      string             `json:"printed"` // what the call printed, its last 8 KiB
	Started      string             `json:"started"`
	Ended        string             `json:"ended"`
	MS           int64              `json:"ms"`
	Caller       string             `json:"caller"` // as a person reads it: “Ada (council)”
	Digest       string             `json:"digest"` // digest of the definition in hex
	// “Why was this allowed?”: the rule path in words, one step per line.
	Why []string `json:"why"`
	// What hooks did to it; [] where none looked at it.
	Hooks []HookStepView `json:"hooks"`
}

// MessageInfo holds the exact requests behind one answer.
type MessageInfo struct {
	Requests []RequestInfo    `json:"requests"`
	Usage    transcript.Usage `json:"usage"`
	MS       int64            `json:"ms"` // whole time of the turn
}

// RequestInfo is one request to a model.
type RequestInfo struct {
	Model string           `json:"model"`
	Sent  string           `json:"sent"`
	MS    int64            `json:"ms"`
	Body  string           `json:"body"` // what was sent, as indented JSON without any secret
	Usage transcript.Usage `json:"usage"`
}

// Find is one message that holds the words searched for.
type Find struct {
	Seq     uint64       `json:"seq"`
	Index   int          `json:"index"` // place in the outline
	Excerpt chat.Excerpt `json:"excerpt"`
}

// Outgoing is a message to send with Chats.Send.
type Outgoing struct {
	Text        string   `json:"text"`
	Attachments []string `json:"attachments"` // Media.id of each attachment
	// "connection/model" that the window shows; "" = the conversation's, or the default.
	Model   string `json:"model"`
	NoTools bool   `json:"no_tools"` // offer the model no tools this time
	// Answer without the chat's council this time.
	CouncilSkip bool `json:"council_skip,omitempty"`
	// Ask this member of the council alone, by id; "" is all, unless the text begins with
	// “@name ” of one.
	CouncilOnly string `json:"council_only,omitempty"`
}

// Sent names what was started.
type Sent struct {
	Conversation string `json:"conversation"`
	Turn         string `json:"turn"` // "" when nothing runs (an edit that was only saved)
	Seq          uint64 `json:"seq"`  // the user message's sequence number
}

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
	// When the version that still serves was loaded, while problem is set; "" = none serves.
	ServingSince string                 `json:"serving_since"`
	Tools        []string               `json:"tools"` // tool ids that are callable now
	Permissions  []PluginPermissionView `json:"permissions"`
	Folders      []PluginFolderView     `json:"folders"`      // what it may reach outside of its own
	Refused      []PluginRefusalView    `json:"refused"`      // what it reached for and may not have, newest last
	Capabilities []string               `json:"capabilities"` // what it may do, in permit.Capability's words
	Isolation    string                 `json:"isolation"`    // process+landlock · process · none
	// “Runs as you, not isolated.” when the sandbox is not the best; else "".
	IsolationNote string   `json:"isolation_note"`
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
	Risk      permit.Risk     `json:"risk"`
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
	// false: the tools are what reading the files tells; running may add more.
	Listed        bool            `json:"listed"`
	Files         []string        `json:"files"`
	Imports       []string        `json:"imports"`
	Changes       []permit.Change `json:"changes"`        // quarantined: what differs from what was approved
	HiddenRemoved int             `json:"hidden_removed"` // hidden characters removed from its texts
	// Where those stood.
	Marks []permit.Mark `json:"marks"`
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

// PermissionRequestView is a request that waits for a person.
type PermissionRequestView struct {
	ID           string      `json:"id"`
	Nonce        string      `json:"nonce"` // must come back with the answer
	Kind         permit.Kind `json:"kind"`
	Caller       string      `json:"caller"`
	Plugin       string      `json:"plugin"`
	PluginName   string      `json:"plugin_name"`
	Tool         string      `json:"tool"`
	Title        string      `json:"title"` // “gpt-test wants to save a note”
	Name         string      `json:"name"`  // of the tool, as a person reads it; "" when kind is not call
	Capabilities []string    `json:"capabilities"`
	Arguments    string      `json:"arguments"` // indented JSON; "" when the call has none
	// What hooks made the call of: what its caller asked for. null where they left it alone.
	Original *OriginalView `json:"original"`
	// What it would change or send, as far as that is known before. null where nothing is.
	Preview      *PreviewView   `json:"preview"`
	Reach        string         `json:"reach"`
	Care         string         `json:"care"` // what could be taken back, and what cannot be shown before; or ""
	Reason       string         `json:"reason"`
	History      string         `json:"history"`
	Folder       string         `json:"folder"` // in which the file lies that it names; or ""
	Conversation string         `json:"conversation"`
	ChatTitle    string         `json:"chat_title"` // of the conversation; "" where there is none
	Project      string         `json:"project"`    // the folder that its chat is about; or ""
	Seq          uint64         `json:"seq"`        // Entry.seq the card belongs under; 0 when there is none
	Call         string         `json:"call"`       // Call.id
	Count        int            `json:"count"`      // identical calls merged into it, at least 1
	Scopes       []permit.Scope `json:"scopes"`     // what may be offered, narrowest first
	Only         []string       `json:"only"`       // conditions to always allow it under: “only in /home/me/Notes”
	Trust        string         `json:"trust"`      // for what an answer can vouch in this chat: “text from example.org”; or ""
	// What can be allowed for this chat in spite of its text: “for this chat, only to …”; or ""
	Here    string `json:"here"`
	Lasting string `json:"lasting"` // the narrowest answer that lasts, after “Allow”; or ""
	Fixed   bool   `json:"fixed"`   // its arguments cannot be edited
	Hurried bool   `json:"hurried"` // offers lasting first: five in a row were allowed within a second each
	Reads   bool   `json:"reads"`   // it only reads, on this computer
	Council bool   `json:"council"` // an answer that lasts may be for all members of the council
	Asked   string `json:"asked"`
	Expires string `json:"expires"`
	Hidden  int    `json:"hidden"` // hidden characters removed from what is shown
	// Where those stood, and letters that are taken for others.
	Marks []permit.Mark `json:"marks"`
	// What a list of its arguments alone would not show: a name that stands twice.
	Warnings []string `json:"warnings"`
}

// OriginalView is a call as its caller asked for it, before hooks changed it.
type OriginalView struct {
	Tool   string `json:"tool"`   // its name, where hooks chose another tool; else ""
	Before string `json:"before"` // its arguments as indented JSON, in a form to compare
	After  string `json:"after"`  // those that the call has now, in the same form
}

// PreviewView says what a call would change or send.
type PreviewView struct {
	Words string     `json:"words"` // what the lines are, or all that is known
	Lines []DiffLine `json:"lines"`
	Left  int        `json:"left"` // how many lines are not among them
}

// AnswerView is a person's answer to a request.
type AnswerView struct {
	Effect    permit.Effect `json:"effect"`    // allow or deny
	Scope     permit.Scope  `json:"scope"`     // deny with always is “Never for this tool”
	Arguments string        `json:"arguments"` // edited arguments as JSON text; "" = as asked
	Reason    string        `json:"reason"`    // what the model is told of a refusal; "" = nothing
	Only      int           `json:"only"`      // which of the request's only, counted from 1; 0 = none
	Trust     bool          `json:"trust"`     // vouches for what the request's trust says
	Here      bool          `json:"here"`      // allows what the request's here says, in place of scope
	Council   bool          `json:"council"`   // also when other members of the council ask; an answer that lasts
	Lasting   bool          `json:"lasting"`   // allows what the request's lasting says, in place of scope, only and trust
}

// OriginView says where text in a chat came from that neither the person nor its model
// wrote.
type OriginView struct {
	Source string `json:"source"` // “text from example.org”
	Rule   string `json:"rule"`   // by which it is trusted in this chat; or ""
	Named  bool   `json:"named"`  // it can be trusted
}

// PermissionRequestList holds all requests that wait.
type PermissionRequestList struct {
	Revision uint64 `json:"revision"`
	// Oldest first. Plugin approvals are in it too and lead to the Plugins tab.
	Requests []PermissionRequestView `json:"requests"`
	Paused   bool                    `json:"paused"` // all tools are paused

	Unattended *UnattendedView `json:"unattended"` // null while tools ask
}

// UnattendedView holds what is left of the time in which tools run without asking.
type UnattendedView struct {
	Until string  `json:"until"`
	Calls int     `json:"calls"`
	Spend float64 `json:"spend"` // US dollars
}

// RuleView is a rule that a person made.
type RuleView struct {
	ID         string        `json:"id"`
	Effect     permit.Effect `json:"effect"`
	Plugin     string        `json:"plugin"`
	PluginName string        `json:"plugin_name"`
	Tool       string        `json:"tool"` // own name of the tool, or "*"
	Scope      permit.Scope  `json:"scope"`
	// “Notes may run write_note, when I ask, until Conclave quits.”
	Sentence   string `json:"sentence"`
	Made       string `json:"made"`
	LastUsed   string `json:"last_used"`
	Uses       int    `json:"uses"`
	Unused     bool   `json:"unused"`     // for 90 days, so that it asks again
	Unreadable bool   `json:"unreadable"` // the rule could not be read and counts as not allowed
}

// MatrixView says what each plugin may do, by capability and by who calls.
type MatrixView struct {
	Revision uint64          `json:"revision"`
	Mode     permit.Mode     `json:"mode"`
	Columns  []string        `json:"columns"` // capabilities that any of them has
	Rows     []MatrixRowView `json:"rows"`    // by name
}

// MatrixRowView is one plugin.
type MatrixRowView struct {
	Plugin   string           `json:"plugin"`
	Name     string           `json:"name"`
	Standing permit.Standing  `json:"standing"`
	Cells    []MatrixCellView `json:"cells"`
	// In place of cells: nothing isolates it, so it can do what its person can.
	All      *MatrixCellView `json:"all"`
	LastUsed string          `json:"last_used"`
	Unused   bool            `json:"unused"` // it was allowed something, and not used for 90 days
}

// MatrixCellView says what becomes of calls that can do one thing.
type MatrixCellView struct {
	Capability string        `json:"capability"`
	Tools      int           `json:"tools"` // how many tools can
	Main       permit.Access `json:"main"`
	Council    permit.Access `json:"council"`
}

// ToolAccessView says what becomes of a call of one tool.
type ToolAccessView struct {
	Tool         string        `json:"tool"` // own name
	Name         string        `json:"name"`
	Capabilities []string      `json:"capabilities"`
	Main         permit.Effect `json:"main"`
	MainWhy      string        `json:"main_why"`
	Council      permit.Effect `json:"council"`
	CouncilWhy   string        `json:"council_why"`
}

// RuleDraft is a rule as a person writes it on the page.
type RuleDraft struct {
	Effect  permit.Effect `json:"effect"`
	Plugin  string        `json:"plugin"`
	Tool    string        `json:"tool"`    // own name, or "*"
	Council bool          `json:"council"` // when members of a council ask, instead of the main model
	Match   []MatchDraft  `json:"match"`   // all of what must hold
	Project string        `json:"project"` // only in chats of this folder; "" is in all
	Uses    int           `json:"uses"`    // it is used up after so many calls; 0 is no bound
	Until   string        `json:"until"`   // the day with which it ends, 2026-12-24; "" is none
}

// MatchDraft is a condition of a rule as a person writes it on the page.
type MatchDraft struct {
	Field string    `json:"field"` // an argument that the rule depends on; "" is no condition
	Op    permit.Op `json:"op"`
	Value string    `json:"value"` // of one among several, one a line
}

// TrialView says what a rule or a mode would have made of the calls of the last 7 days.
type TrialView struct {
	Sentence string          `json:"sentence"`
	Rule     string          `json:"rule"`  // the rule as a sentence
	Calls    []TrialCallView `json:"calls"` // that would have gone otherwise, the newest first
	More     int             `json:"more"`  // how many more
}

// TrialCallView is one such call.
type TrialCallView struct {
	Title  string        `json:"title"`
	Plugin string        `json:"plugin"`
	Time   string        `json:"time"`
	Who    string        `json:"who"`
	Before permit.Effect `json:"before"`
	After  permit.Effect `json:"after"`
	Why    string        `json:"why"`
}

// RuleList holds all rules.
type RuleList struct {
	Revision uint64     `json:"revision"`
	Rules    []RuleView `json:"grants"`
}

// ConnectionState says how the last test of a connection went.
type ConnectionState string

// The states of a connection.
const (
	ConnectionUnknown ConnectionState = "unknown" // not asked yet
	ConnectionAsking  ConnectionState = "asking"  // a test runs
	ConnectionOK      ConnectionState = "ok"
	ConnectionFailed  ConnectionState = "failed"
)

// ConnectionView is one provider's card.
type ConnectionView struct {
	Name      string          `json:"name"` // left half of "connection/model"
	Kind      string          `json:"kind"`
	Title     string          `json:"title"`
	URL       string          `json:"url"`
	Host      string          `json:"host"` // host asked, for “Asking api.example.org…”
	HasKey    bool            `json:"has_key"`
	BuiltIn   bool            `json:"built_in"` // Demo guide: cannot be changed or removed
	State     ConnectionState `json:"state"`
	Problem   *Failure        `json:"problem"` // state failed
	LatencyMS int64           `json:"latency_ms"`
	Checked   string          `json:"checked"`
	Models    []string        `json:"models"` // model ids added by hand
}

// ModelView is one model that can be chosen.
type ModelView struct {
	Name       string `json:"name"` // "connection/model"
	Connection string `json:"connection"`
	ID         string `json:"id"`
	Title      string `json:"title"`
	Tools      bool   `json:"tools"`
	Vision     bool   `json:"vision"`
	Reasoning  bool   `json:"reasoning"`
	Context    int64  `json:"context_tokens"` // 0 = not known
}

// ProviderView is a kind of connection that can be added.
type ProviderView struct {
	Kind     string `json:"kind"`
	Title    string `json:"title"`
	URL      string `json:"url"` // address to start from; "" = the vendor's own
	NeedsKey bool   `json:"needs_key"`
	AsksURL  bool   `json:"asks_url"` // the address is asked for, too
	KeyPage  string `json:"key_page"` // where a person gets a key; "" = nowhere
	// Beginnings of its keys, to guess the provider from a pasted key.
	KeyPrefixes []string `json:"key_prefixes"`
}

// ModelList is all connections and their models.
type ModelList struct {
	Revision    uint64           `json:"revision"`
	Default     string           `json:"default"` // "connection/model"
	Connections []ConnectionView `json:"connections"`
	Models      []ModelView      `json:"models"` // sorted by connection, then title
	Providers   []ProviderView   `json:"providers"`
	// “Keys are kept in the system keychain.”, or what is used instead.
	KeyStore string `json:"key_store"`
	// KeysLocked says that the keys are in an encrypted file whose passphrase is needed first (Models.Unlock).
	KeysLocked bool `json:"keys_locked"`
	KeysFresh  bool `json:"keys_fresh"` // that passphrase is still to be chosen
}

// PriceTable tells what models cost, in US dollars for a million tokens.
type PriceTable struct {
	Date   string       `json:"date"`   // when the prices were read, “2026-11-20”
	Prices []cost.Price `json:"prices"` // those that Conclave comes with
	Own    []cost.Price `json:"own"`    // the person's own, which come first
}

// ConnectionEdit is a connection as a person writes it. Its key goes to the key
// store and nowhere else.
type ConnectionEdit struct {
	Kind string `json:"kind"`
	// "" lets Go make one from the title. Cannot change in Update.
	Name  string `json:"name"`
	Title string `json:"title"`
	URL   string `json:"url"`
	// "" leaves the key as it is. Travels inwards only.
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
	Connection string `json:"connection"` // name of the connection that already uses it, or ""
}

// SettingsView holds what the page may set.
type SettingsView struct {
	Revision    uint64           `json:"revision"`
	Theme       settings.Theme   `json:"theme"`
	Zoom        int              `json:"zoom"`      // size of everything in percent, 50 to 300
	TextSize    int              `json:"text_size"` // size of message text in px, 13 to 22
	ReadingFont settings.Font    `json:"reading_font"`
	SendKey     settings.SendKey `json:"send_key"`
	// After sending: hold the question at the top, or follow the end.
	Follow      bool `json:"follow"`
	ScanAtStart bool `json:"scan_at_start"` // look for local models at start
	// Command that opens an editor, with {file} and {line}; "" = the system's choice.
	Editor       string `json:"editor"`
	SidebarOpen  bool   `json:"sidebar_open"`
	SidebarWidth int    `json:"sidebar_width"`
	DockOpen     bool   `json:"dock_open"`
	DockWidth    int    `json:"dock_width"`
	DockTab      string `json:"dock_tab"`
	ModelTitles  bool   `json:"model_titles"` // a chat's model names it after its first answer

	// How much each plugin may have models cost in a day, in US dollars, and in tokens of
	// models without a known price.
	PluginSpend  float64 `json:"plugin_spend"`
	PluginTokens int64   `json:"plugin_tokens"`

	// Programs of this computer may register tools, at this port; where they do now, and why
	// they cannot.
	HTTPTools   bool   `json:"http_tools"`
	HTTPPort    int    `json:"http_port"`
	HTTPToken   bool   `json:"http_token"` // they must carry a token
	HTTPAddress string `json:"http_address"`
	HTTPTrouble string `json:"http_trouble"` // why it is not open, or which program was refused

	// Changed shortcuts: command id → chord ("Mod+Shift+P"); commands not named keep theirs.
	Keys map[string]string `json:"keys"`
}

// Platform is the system that the window runs on.
type Platform string

// The systems that Conclave is made for.
const (
	Linux   Platform = "linux"
	MacOS   Platform = "darwin"
	Windows Platform = "windows"
)

// Hello is all that the first paint needs.
type Hello struct {
	Version       string       `json:"version"`
	Platform      Platform     `json:"platform"`
	FirstRun      bool         `json:"first_run"` // no model was connected and no chat was kept yet
	DataFolder    string       `json:"data_folder"`
	PluginsFolder string       `json:"plugins_folder"`
	LogFolder     string       `json:"log_folder"`
	Isolation     string       `json:"isolation"` // what holds plugins on this system, one sentence
	Licence       string       `json:"licence"`
	Settings      SettingsView `json:"settings"`
	// The chat to open: the last one looked at; "" = the welcome page.
	OpenChat string `json:"open_chat"`
	// The store was damaged and set aside, or the like; null when all is well.
	Trouble *Failure `json:"trouble"`
}

// ActivityList holds entries of the record of what tools did.
type ActivityList struct {
	Entries []ActivityEntry `json:"entries"` // the newest first
	More    bool            `json:"more"`    // there are older ones
}

// ActivityEntry holds one entry of that record, as a person reads it.
type ActivityEntry struct {
	N          uint64          `json:"n"`
	Time       string          `json:"time"`
	Kind       activity.Kind   `json:"kind"`
	Title      string          `json:"title"`      // “Saved a note”, or what happened to the record
	Chat       string          `json:"chat"`       // its id, or ""
	ChatTitle  string          `json:"chat_title"` // “New chat” where it has none yet; "" where there is no such chat now
	Call       string          `json:"call"`       // its number, for Chats.Call
	Who        string          `json:"who"`
	Tool       string          `json:"tool"` // plugin:name
	Plugin     string          `json:"plugin"`
	PluginName string          `json:"plugin_name"`
	Effect     string          `json:"effect"` // allow, deny, or "" where nothing was decided
	Outcome    chat.CallStatus `json:"outcome"`
	MS         int64           `json:"ms"`
	Size       string          `json:"size"`      // of what it answered
	Sent       []string        `json:"sent"`      // “1 KiB to example.org”
	Why        []string        `json:"why"`       // how it was decided, one step a line
	Arguments  string          `json:"arguments"` // without secrets; "" where they are not kept
	Left       string          `json:"left"`      // why they are not all there
	Digest     string          `json:"digest"`    // of the entry
	Undo       string          `json:"undo"`      // names the old versions of files that it may have changed; or ""
}

// FileChanges holds what a call changed of the person's files, as far as old versions are kept.
type FileChanges struct {
	Kept     bool              `json:"kept"` // else there is nothing to show, or no longer
	Files    []chat.FileChange `json:"files"`
	More     int               `json:"more"`     // beyond those listed
	Sentence string            `json:"sentence"` // “Created 1 file, changed 2 files.”
	Note     string            `json:"note"`     // what makes it less than certain; or ""
	Undone   string            `json:"undone"`   // when; or ""
	Did      string            `json:"did"`      // what undoing it just now did; or ""
}

// OldVersions says how much is kept of files that calls changed.
type OldVersions struct {
	Sets   int    `json:"sets"` // calls, and times between them
	Oldest string `json:"oldest"`
	Old    string `json:"old"` // “1.2 MiB” of old versions
	Now    string `json:"now"` // of copies of folders as they are
	Any    bool   `json:"any"` // there is something to remove
	Days   int    `json:"days"`
}

// ActivityReport says whether the record is as it was written.
type ActivityReport struct {
	OK       bool   `json:"ok"`
	Sentence string `json:"sentence"`
}

// list returns items, never nil.
func list[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
