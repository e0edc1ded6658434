package window

import (
	"conclave/app/chat"
	"conclave/app/record/activity"
)

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
	Partial  bool              `json:"partial"`  // some are as before and some as after; Undo and Redo both go on
	Did      string            `json:"did"`      // what undoing it just now did; or ""
}

// OldVersions describes how much is kept of files that calls changed.
type OldVersions struct {
	Sets   int    `json:"sets"` // calls, and times between them
	Oldest string `json:"oldest"`
	Old    string `json:"old"` // “1.2 MiB” of old versions
	Now    string `json:"now"` // of copies of folders as they are
	Any    bool   `json:"any"` // there is something to remove
	Days   int    `json:"days"`
}

// ActivityReport reports whether the record is as it was written.
type ActivityReport struct {
	OK       bool   `json:"ok"`
	Sentence string `json:"sentence"`
}
