package maibot

import (
	"embed"

	"conclave/app/plugin"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "maibot"

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
		Layouts:    []plugin.Layout{{Entry: "NAME/ with _manifest.json", What: "a MaiBot plugin", Page: "MAIBOT.md"}},
		Convention: tool.Convention{Loose: true}, // there, nothing is checked (contracts/maibot, section 7.1)
		Packages:   true,
		Services:   map[string]plugin.Service{"toml.read": {Pure: true, Do: readTOML}},
		Templates: []plugin.Template{{
			Kind: "maibot", Title: "MaiBot plugin",
			Sentence: "A folder with a manifest, settings and tools that MaiBot runs too.",
			File:     "NAME/", Order: 7, Files: templates,
		}},
	}
}
