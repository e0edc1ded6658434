package plugin

import (
	"conclave/app/permit"
	"conclave/app/tool"
)

// Facts say what is special about the plugins of one dialect, as far as anything
// outside of the dialect's folder acts on it. Whoever has a plugin before them asks
// its dialect's facts, never which dialect it is. The zero value of each field is
// for plugins whose tools are all offered, whose arguments are checked by their
// schema and whose walls the person's permissions open.
type Facts struct {
	Contract string   // the name of the dialect in records and in JSON; it never changes
	Layouts  []Layout // what its plugins look like in the plugins folder
	Endings  []string // of the files that are plugins by themselves: ".py"

	Convention tool.Convention // how its tools are called
	Sealed     permit.Sealed   // why no permission opens the walls of its processes

	// Services are what its workers alone may ask Conclave for, by capability.
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
	// Toolboxes says that each object among a plugin's settings sets up the toolbox
	// of that name.
	Toolboxes bool
}

// Layout is one way in which a dialect's plugins lie in the plugins folder. The
// sentence for an entry that is no plugin and the table of docs/PLUGINS.md are
// made from all dialects' layouts.
type Layout struct {
	Entry string // what lies there: "NAME.py"
	What  string // what that is: "a file of functions"
	Page  string // the page of docs/ about it: "PYTHON.md"
}
