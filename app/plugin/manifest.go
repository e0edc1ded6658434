package plugin

import (
	"encoding/json"

	"conclave/app/tool"
)

// Manifest holds what a dialect read about a plugin, before any of it has run.
type Manifest struct {
	Dialect     string   `json:"contract"` // functions, spindle …
	Name        string   `json:"name"`     // display name
	Version     string   `json:"version"`
	Description string   `json:"description,omitempty"`
	Author      string   `json:"author,omitempty"`
	Homepage    string   `json:"homepage,omitempty"`
	Entry       string   `json:"entry"`           // what is loaded, relative to the plugin's folder
	Permissions []string `json:"permissions"`     // what it asks for, in its own ecosystem's words
	Files       []string `json:"files,omitempty"` // the source files, relative; nil means every file that is not ignored

	// Identity holds what the plugin calls itself, where its ecosystem lets no two
	// have one name; Add names its folder so. Empty otherwise.
	Identity string `json:"identity,omitempty"`
	// Hidden counts the characters that were removed from its texts because nobody
	// sees them (manifest.go).
	Hidden int `json:"hidden,omitempty"`
	// Marked holds the lines of which they were removed, as tool.Marked returns them.
	Marked []string `json:"marked,omitempty"`
	// Notices are sentences that a person should read: what of it does not run.
	Notices []string `json:"notices,omitempty"`
	// Panel is its part for its own window, which is not run; empty without.
	Panel string `json:"panel,omitempty"`
	// Seeds are copied into its storage, once for each version that runs.
	Seeds []Seed `json:"seeds,omitempty"`
	// Detail holds what else its dialect read, for itself: an object, or nil.
	Detail json.RawMessage `json:"detail,omitempty"`
	// WorkingCopy says that its author works in the folder, so that it is not
	// replaced by what it came from.
	WorkingCopy bool `json:"working_copy,omitempty"`
	// Off says that its own files switch it off, and how to change that; nil when they do
	// not.
	Off *Problem `json:"off,omitempty"`
}

// Listing holds what reading a plugin tells about its tools.
type Listing struct {
	Known   bool        `json:"known"` // whether Tools is complete; false when only running can tell
	Tools   []tool.Tool `json:"tools"` // Name, Description, Line and, where known, Parameters
	Imports []string    `json:"imports"`
	// Home holds the names that the sources have for files of a home folder, as ~/name; “~” alone where reading
	// does not tell them.
	Home []string `json:"home,omitempty"`
	// Data holds the files and folders that its configuration names for it to work on: absolute paths.
	Data []string `json:"data,omitempty"`
	// Wants are the permissions that its sources show it will want, in permit's words.
	Wants []string `json:"wants,omitempty"`
	// Options is the JSON Schema of what a person may set (options.go); nil when
	// that is nothing, or when only running can tell.
	Options json.RawMessage `json:"options,omitempty"`
}

// Seed is a file or folder of a plugin that the host copies into the plugin's storage
// as its first data. Both paths are relative, with slashes, and local; a folder is
// copied with its content.
type Seed struct {
	From      string `json:"from"` // below the plugin's folder
	To        string `json:"to"`   // below its storage; "." is the storage itself
	Overwrite bool   `json:"overwrite,omitempty"`
	Required  bool   `json:"required,omitempty"` // the plugin does not run without it
}
