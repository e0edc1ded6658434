package spindle

import (
	"embed"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "spindle"

// templates holds a folder for each kind of plugin that a person can begin with.
//
//go:embed all:templates
var templates embed.FS

// greet registers the tool of the templates.
//
//go:embed templates/greet.js
var greet string

// types describes the spindle object for editors.
const types = "spindle.d.ts"

// Facts implements plugin.Dialect.
func (d *Dialect) Facts() plugin.Facts { return d.facts }

// facts are those of a dialect whose workers keep what they built by the service build.keep.
func facts(keep plugin.Service) plugin.Facts {
	return plugin.Facts{
		Name: Name,
		Layouts: []plugin.Layout{
			{Entry: "NAME.js, .mjs or .ts", What: "a script that registers tools", Page: "SPINDLE.md"},
			{Entry: "NAME/ with spindle.json", What: "a Spindle extension", Page: "SPINDLE.md"},
		},
		Endings:   []string{".js", ".mjs", ".ts"},
		Registers: true,
		Templates: []plugin.Template{
			{
				Kind: "js", Title: "JavaScript", File: "NAME.js", Common: true, Order: 3, Files: templates, Shared: greet,
				Types:    types,
				Sentence: "One script that registers its tools.",
			},
			{
				Kind: "ts", Title: "TypeScript", File: "NAME.ts", Common: true, Order: 4, Files: templates, Shared: greet,
				Types:    types,
				Sentence: "The same with types, built when it is loaded.",
			},
			{
				Kind: "spindle", Title: "Spindle extension", File: "NAME/", Order: 5, Files: templates, Shared: greet,
				Types:    types,
				Sentence: "A folder with a manifest that asks for permissions.",
			},
			{
				Kind: "spindle-ts", Title: "Spindle extension in TypeScript", File: "NAME/", Order: 6, Files: templates,
				Types:    types,
				Sentence: "The same with types, built when it is loaded.",
			},
		},
		// Each call of the main model has the chat in args.context; the user's id never
		// reaches a tool (contracts/spindle, sections 7 and 7.2). Nothing is checked there
		// (section 6.2); what a script of one file registers is checked all the same.
		Convention: tool.Convention{
			Loose: true, Chat: true, Council: true, Ignored: []string{"userId", "__userId", "__user_id"},
		},
		Sealed: gate.Sealed{
			Why: "a Spindle extension runs in an engine that has no sockets, no programs and no files",
			Instead: map[string]string{
				gate.Network:    "It reaches the web through Conclave, with the permission cors_proxy.",
				gate.Programs:   "No extension can start programs.",
				gate.Listen:     "No extension can listen on a port.",
				gate.Filesystem: "It keeps files in its own storage.",
			},
		},
		Services:        map[string]plugin.Service{"build.keep": keep},
		ToolsPermission: "tools", // contracts/spindle, section 6.10 and SP-19 to SP-21
		OptIn:           true,    // section 6.7: neither inline nor for the council
		Qualified:       true,    // section 8.2: prompts look for a function that ends in "__NAME"
	}
}
