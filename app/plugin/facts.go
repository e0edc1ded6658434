package plugin

import (
	"io/fs"
	"slices"
	"time"

	"conclave/app/gate"
	"conclave/app/tool"
)

// Facts say what is special about the plugins of one dialect, as far as other packages
// act on it. They ask the facts of a plugin's dialect, never which dialect it is. The
// zero value of each field is for plugins whose tools models see, whose arguments are
// checked against their schema, and whose sandbox opens for the permissions that the
// person granted.
type Facts struct {
	Name    string   // the name of the dialect in records and in JSON; it never changes
	Layouts []Layout // what its plugins look like in the plugins folder
	Endings []string // of the files that are plugins by themselves: ".py"

	Convention tool.Convention // how its tools are called
	Sealed     gate.Sealed     // why no permission opens the sandbox of its processes

	// Templates are the kinds of plugins that New can make.
	Templates []Template
	// Services holds what its workers alone may ask Conclave for, by name.
	Services map[string]Service

	// ToolsPermission is the permission without which a plugin offers no tools;
	// empty where offering them needs none.
	ToolsPermission string
	// OptIn says that a tool of a folder is off until the person turns it on, unless
	// its plugin says that it is for chats.
	OptIn bool
	// Qualified says that a model sees the tools of a folder under names that always
	// begin with the plugin.
	Qualified bool
	// Injects says that models are offered its tools in those turns only in which it
	// injects them.
	Injects bool
	// Packages says that its plugins may want packages of Python's.
	Packages bool
	// NeedsDeclared says that a plugin which lacks a package that it declares is not
	// started, even where its code would load without it.
	NeedsDeclared bool
	// Registers says that all its plugins do is what they register when they run: tools, hooks
	// and events.
	Registers bool
	// Idle is the time after which the backend of a plugin that nobody uses is ended, until the next call; 0 is
	// never.
	Idle time.Duration
	// Rests are the times after which a plugin that kept dying serves again: the first time, the second, and so on.
	// After the last one, only a person starts it. Without any, that holds from the first time on.
	Rests []time.Duration
	// Announced are permissions that a plugin hears of when it starts and not again: one that changed has its process
	// start again.
	Announced []string
	// Shares says that its plugins may have resources and prompts for the person (Sharer).
	Shares bool
	// Toolboxes says that each object among a plugin's settings sets up the toolbox
	// of that name.
	Toolboxes bool
}

// Template is a kind of plugin of the dialect that a person can begin with.
type Template struct {
	Kind     string // the word of the command line
	Title    string
	Sentence string // what it is good for
	File     string // what it makes in the plugins folder; NAME stands for the name, a / at the end for a folder
	Common   bool   // one of the first that a newcomer is offered
	// Program says that it is no plugin but a program that registers tools while it runs:
	// it is made where the person is, and not in the plugins folder.
	Program bool
	Order   int // its place in menus

	// Files holds what is made, in templates/KIND. NAME in paths and texts becomes
	// the new plugin's name, and the line SHARED becomes Shared.
	Files  fs.FS
	Shared string // what several kinds have in common
	// Types is a file in templates/ that describes Conclave to editors, which nothing
	// loads; empty without. It comes to lie in the folder of a plugin that is one, and
	// next to those that are files, which share it.
	Types string
}

// Templates lists the kinds of all dialects, in the order a menu shows them.
func Templates(dialects []Dialect) []Template {
	var all []Template
	for _, d := range dialects {
		all = append(all, d.Facts().Templates...)
	}
	slices.SortStableFunc(all, func(a, b Template) int { return a.Order - b.Order })
	return all
}

// Layout is one form that a dialect's plugins have in the plugins folder. The sentence
// about an entry that is no plugin and the table of docs/PLUGINS.md list all of them.
type Layout struct {
	Entry string // what lies there: "NAME.py"
	What  string // what that is: "a file of functions"
	Page  string // the page of docs/ about it: "PYTHON.md"
}
