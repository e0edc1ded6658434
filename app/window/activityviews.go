package window

import (
	"conclave/app/chat"
	"conclave/app/view"
)

// ActivityList holds entries of the record of what tools did.
type ActivityList struct {
	Entries []view.ActivityEntry `json:"entries"` // the newest first
	More    bool                 `json:"more"`    // there are older ones
}

// FileChanges holds what a call changed of the person's files, as far as old versions are kept.
type FileChanges struct {
	Kept     bool              `json:"kept"` // else there is nothing to show, or no longer
	Files    []chat.FileChange `json:"files"`
	More     int               `json:"more"`                // beyond those listed
	Sentence string            `json:"sentence" say:"true"` // “Created 1 file, changed 2 files.”
	Note     string            `json:"note" say:"true"`     // what makes it less than certain; or ""
	Undone   string            `json:"undone"`              // when; or ""
	// Partial: some are as before and some as after; Undo and Redo both go on.
	Partial bool   `json:"partial"`
	Did     string `json:"did" say:"true"` // what undoing it just now did; or ""
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
	Sentence string `json:"sentence" say:"true"`
}
