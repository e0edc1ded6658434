package window

import "conclave/app/gate"

// PermissionRequestView is a request that waits for a person.
type PermissionRequestView struct {
	ID           string    `json:"id"`
	Nonce        string    `json:"nonce"` // must come back with the answer
	Kind         gate.Kind `json:"kind"`
	Caller       string    `json:"caller"`
	Plugin       string    `json:"plugin"`
	PluginName   string    `json:"plugin_name"`
	Tool         string    `json:"tool"`
	Title        string    `json:"title"` // “gpt-test wants to save a note”
	Name         string    `json:"name"`  // of the tool, as a person reads it; "" when kind is not call
	Capabilities []string  `json:"capabilities"`
	Arguments    string    `json:"arguments"` // indented JSON; "" when the call has none
	// What hooks made the call of: what its caller asked for. null where they left it alone.
	Original *OriginalView `json:"original"`
	// What it would change or send, as far as that is known before. null where nothing is.
	Preview      *PreviewView `json:"preview"`
	Reach        string       `json:"reach"`
	Care         string       `json:"care"` // what could be taken back, and what cannot be shown before; or ""
	Reason       string       `json:"reason"`
	History      string       `json:"history"`
	Folder       string       `json:"folder"` // in which the file lies that it names; or ""
	Conversation string       `json:"conversation"`
	ChatTitle    string       `json:"chat_title"` // of the conversation; "" where there is none
	Project      string       `json:"project"`    // the folder that its chat is about; or ""
	Seq          uint64       `json:"seq"`        // Entry.seq the card belongs under; 0 when there is none
	Call         string       `json:"call"`       // Call.id
	Count        int          `json:"count"`      // identical calls merged into it, at least 1
	Scopes       []gate.Scope `json:"scopes"`     // what may be offered, narrowest first
	Only         []string     `json:"only"`       // conditions to always allow it under: “only in /home/me/Notes”
	Trust        string       `json:"trust"`      // what an answer can trust in this chat: “text from example.org”; or ""
	// What can be allowed in this chat though it holds text: “in this chat, only to …”; or ""
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
	Marks []gate.Mark `json:"marks"`
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
	Effect    gate.Effect `json:"effect"`    // allow or deny
	Scope     gate.Scope  `json:"scope"`     // deny with always is “Never for this tool”
	Arguments string      `json:"arguments"` // edited arguments as JSON text; "" = as asked
	Reason    string      `json:"reason"`    // what the model is told of a refusal; "" = nothing
	Only      int         `json:"only"`      // which of the request's only, counted from 1; 0 = none
	Trust     bool        `json:"trust"`     // trusts what the request's trust names
	Here      bool        `json:"here"`      // allows what the request's here says, in place of scope
	Council   bool        `json:"council"`   // also when other members of the council ask; an answer that lasts
	Lasting   bool        `json:"lasting"`   // allows what the request's lasting says, in place of scope, only and trust
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
	ID         string      `json:"id"`
	Effect     gate.Effect `json:"effect"`
	Plugin     string      `json:"plugin"`
	PluginName string      `json:"plugin_name"`
	Tool       string      `json:"tool"` // own name of the tool, or "*"
	Scope      gate.Scope  `json:"scope"`
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
	Mode     gate.Mode       `json:"mode"`
	Columns  []string        `json:"columns"` // capabilities that any of them has
	Rows     []MatrixRowView `json:"rows"`    // by name
}

// MatrixRowView is one plugin.
type MatrixRowView struct {
	Plugin   string           `json:"plugin"`
	Name     string           `json:"name"`
	Standing gate.Standing    `json:"standing"`
	Cells    []MatrixCellView `json:"cells"`
	// In place of cells: nothing isolates it, so it can do what its person can.
	All      *MatrixCellView `json:"all"`
	LastUsed string          `json:"last_used"`
	Unused   bool            `json:"unused"` // it was allowed something, and not used for 90 days
	// A newer version waits for approval; the cells are of the one that is used.
	Waits bool `json:"waits"`
}

// MatrixCellView says what becomes of calls that can do one thing.
type MatrixCellView struct {
	Capability string      `json:"capability"`
	Tools      int         `json:"tools"` // how many tools can
	Main       gate.Access `json:"main"`
	Council    gate.Access `json:"council"`
}

// ToolAccessView says what becomes of a call of one tool.
type ToolAccessView struct {
	Tool         string      `json:"tool"` // own name
	Name         string      `json:"name"`
	Capabilities []string    `json:"capabilities"`
	Main         gate.Effect `json:"main"`
	MainWhy      string      `json:"main_why"`
	Council      gate.Effect `json:"council"`
	CouncilWhy   string      `json:"council_why"`
}

// RuleDraft is a rule as a person writes it on the page.
type RuleDraft struct {
	Effect  gate.Effect  `json:"effect"`
	Plugin  string       `json:"plugin"`
	Tool    string       `json:"tool"`    // own name, or "*"
	Council bool         `json:"council"` // when members of a council ask, instead of the main model
	Match   []MatchDraft `json:"match"`   // all of what must hold
	Project string       `json:"project"` // only in chats of this folder; "" is in all
	Uses    int          `json:"uses"`    // it is used up after so many calls; 0 is no bound
	Until   string       `json:"until"`   // the day with which it ends, 2026-12-24; "" is none
}

// MatchDraft is a condition of a rule as a person writes it on the page.
type MatchDraft struct {
	Field string  `json:"field"` // an argument that the rule depends on; "" is no condition
	Op    gate.Op `json:"op"`
	Value string  `json:"value"` // of one among several, one a line
}

// TrialView says what a rule or a mode would have made of the calls of the last 7 days.
type TrialView struct {
	Sentence string          `json:"sentence"`
	Rule     string          `json:"rule"`  // the rule as a sentence
	Calls    []TrialCallView `json:"calls"` // that would have been decided differently, the newest first
	More     int             `json:"more"`  // how many more
}

// TrialCallView is one such call.
type TrialCallView struct {
	Title  string      `json:"title"`
	Plugin string      `json:"plugin"`
	Time   string      `json:"time"`
	Who    string      `json:"who"`
	Before gate.Effect `json:"before"`
	After  gate.Effect `json:"after"`
	Why    string      `json:"why"`
}

// RuleList holds all rules.
type RuleList struct {
	Revision uint64     `json:"revision"`
	Rules    []RuleView `json:"grants"`
}
