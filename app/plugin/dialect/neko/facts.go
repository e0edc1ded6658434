package neko

import (
	"embed"

	"conclave/app/plugin"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "neko"

// templates holds a folder for each kind of plugin that a person can begin with.
//
//go:embed all:templates
var templates embed.FS

// shim holds the modules that plugins import, as package python unpacks them.
//
//go:embed all:shim
var shim embed.FS

// Facts implements plugin.Dialect.
func (d *Dialect) Facts() plugin.Facts {
	return plugin.Facts{
		Name:       Name,
		Layouts:    []plugin.Layout{{Entry: "NAME/ with plugin.toml", What: "an N.E.K.O plugin", Page: "NEKO.md"}},
		Convention: tool.Convention{Loose: true}, // plugins have their own answers for what is out of range
		Packages:   true, NeedsDeclared: true,    // contracts/neko, item 8
		Templates: []plugin.Template{{
			Kind: "neko", Title: "N.E.K.O plugin",
			Sentence: "A folder with a manifest and a class of tools that N.E.K.O runs too.",
			File:     "NAME/", Order: 8, Files: templates,
		}, {
			Kind: "http", Title: "HTTP service", Program: true,
			Sentence: "Your own program that registers its tools while it runs.",
			File:     "NAME/", Order: 10, Files: templates,
		}},
	}
}
