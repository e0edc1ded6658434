package window

import (
	"conclave/app/chat"
	"conclave/app/chat/transcript"
	"conclave/app/view"
)

// ChatQuery describes which chats to list.
type ChatQuery struct {
	// Words to look for in titles and message text, with filters such as pinned: and model:NAME; "" lists all.
	Text     string `json:"text"`
	Archived bool   `json:"archived"` // true lists the archive instead of the chats in use
	Projects bool   `json:"projects"` // true groups by project instead of by day
}

// ChatState describes what a chat is doing.
type ChatState string

// The states of a chat.
const (
	ChatIdle    ChatState = "idle"
	ChatRunning ChatState = "running"
	ChatWaiting ChatState = "waiting" // for a person, who is asked for a permission
)

// ChatRow is one chat of the list.
type ChatRow struct {
	view.ChatHeader
	State ChatState `json:"state"`
	// An answer ended while the chat was not looked at (see Chats.Seen).
	Unread bool `json:"unread"`
	// Where the words of ChatQuery.text were found in a message, else null.
	Excerpt *chat.Excerpt `json:"excerpt"`
	// The message that excerpt is of; 0 where there is none.
	FoundIn uint64 `json:"found_in"`
}

// ChatGroup is one heading of the list and how many rows are below it. Groups and
// rows are in the same order.
type ChatGroup struct {
	// "pinned"; "2026-11-21" for each of the last seven days, local time; "2026-10" for
	// everything older; "found" for all results of a text query. By project,
	// "project:" with the project's folder, or alone for chats that have none.
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
	Text        string     `json:"text"`
	Cursor      int        `json:"cursor"` // the caret's position in UTF-16 units
	Attachments []Attached `json:"attachments"`
	Queued      []Queued   `json:"queued"` // go out, one after the other, after the running answer
}

// Queued is a message that was written while an answer streamed.
type Queued struct {
	Text        string     `json:"text"`
	Attachments []Attached `json:"attachments"`
	NoTools     bool       `json:"no_tools"`
}

// MessageInfo holds the requests behind one answer.
type MessageInfo struct {
	Requests []RequestInfo    `json:"requests"`
	Usage    transcript.Usage `json:"usage"`
	MS       int64            `json:"ms"` // whole time of the turn
}

// RequestInfo is one request to a model.
type RequestInfo struct {
	Model string `json:"model"`
	Sent  string `json:"sent"`
	MS    int64  `json:"ms"`
	// What was sent, as indented JSON without any secret; of each picture its size and digest.
	Body string `json:"body"`
	// It was not kept, so the body is made from the chat, and may differ from what was sent.
	Rebuilt bool             `json:"rebuilt"`
	Usage   transcript.Usage `json:"usage"`
}

// Find is a place where the words stand that are searched for.
type Find struct {
	Seq  uint64          `json:"seq"`
	Spot transcript.Spot `json:"spot"`
	Nth  int             `json:"nth"` // how many of them stand before it in its block
}

// Outgoing is a message to send with Chats.Send.
type Outgoing struct {
	Text        string   `json:"text"`
	Attachments []string `json:"attachments"` // Media.id of each attachment
	// "connection/model" that the window shows; "" = the conversation's, or the default.
	Model string `json:"model"`
	// Of a chat that the message begins: how its model is asked, its system text, and its folder.
	Asking  chat.Asking `json:"asking,omitzero"`
	System  string      `json:"system,omitempty"`
	Project string      `json:"project,omitempty"`
	NoTools bool        `json:"no_tools"` // offer the model no tools this time
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
