package chat

import "time"

// Which describes what to do with conversations that have a mark.
type Which int

// The choices. The zero value leaves the mark out of account.
const (
	Any Which = iota
	Only
	Without
)

// Takes reports whether a conversation is taken that has the mark, or has it not.
func (w Which) Takes(marked bool) bool { return w == Any || (w == Only) == marked }

// ListOptions choose a part of the list of conversations.
type ListOptions struct {
	Query    string // every word must be in the title, in any case; empty takes all
	Pinned   Which
	Archived Which
	Offset   int
	Limit    int // 0 takes all
}

// Page is a part of the list of conversations, last changed first.
type Page struct {
	Conversations []Conversation
	Total         int // how many the options take without Offset and Limit
}

// Day counts the conversations of one heading of the list.
type Day struct {
	// Key is "2026-11-21" for each of the last seven days, local time, and
	// "2026-10" for a month before them.
	Key   string
	Count int
}

// SearchResult is a message, or with Seq 0 a title, in which all words stand.
type SearchResult struct {
	Conversation ConversationID
	Updated      time.Time // the conversation
	Seq          MessageSeq
	Title        string // of the conversation
	Role         Role
	Text         string // the text, whole
}

// CallFilter describes which call records to read. The zero value takes all.
type CallFilter struct {
	Conversation ConversationID
	Turn         string
	Tool         string    // wire name, or tool id as in "plugin:name"
	Since        time.Time // asked at or after
	Until        time.Time // asked before
	Errors       bool      // only calls that ended otherwise than well
	Before       uint64    // only ids below, to go on where a page ended; 0 takes all
	Limit        int       // at most so many, the newest; 0 takes all
}
