package picoclaw

import (
	"embed"

	"conclave/app/plugin"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "picoclaw"

// templates holds a folder for each kind of plugin that a person can begin with.
//
//go:embed all:templates
var templates embed.FS

// Facts implements plugin.Dialect.
func (*Dialect) Facts() plugin.Facts {
	return plugin.Facts{
		Name:       Name,
		Layouts:    []plugin.Layout{{Entry: "NAME/ with hook.json", What: "a PicoClaw hook process", Page: "HOOKS.md"}},
		Convention: tool.Convention{Loose: true}, // nothing is checked there (contracts/picoclaw-hooks, section 9)
		Qualified:  true,                         // in a turn a tool has the name that its hook gives it
		Injects:    true,
		Templates: []plugin.Template{{
			Kind: "hook", Title: "Hook",
			Sentence: "A program that is asked about each request and each call, as PicoClaw's hooks are.",
			File:     "NAME/", Order: 9, Files: templates,
		}},
	}
}
