package functions

import (
	"embed"

	"conclave/app/plugin"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "functions"

// templates holds a folder for each kind of plugin that a person can begin with.
//
//go:embed all:templates
var templates embed.FS

// shim holds the modules that plugins import, as package python unpacks them.
//
//go:embed all:shim
var shim embed.FS

// Facts implements plugin.Dialect.
func (d *Dialect) Facts() plugin.Facts { return d.facts }

func facts() plugin.Facts {
	return plugin.Facts{
		Name: Name,
		Layouts: []plugin.Layout{
			{Entry: "NAME.py", What: "a file of functions", Page: "PYTHON.md"},
			{Entry: "NAME/ with NAME.py or __init__.py", What: "a folder of functions", Page: "PYTHON.md"},
			{
				Entry: "NAME/ with pyproject.toml and entry points for llm", What: "a tool plugin of the llm program",
				Page: "PYTHON.md",
			},
		},
		Endings:    []string{".py"},
		Convention: tool.Convention{Loose: true}, // "5" fits an integer (contracts/llm-functions, section 6.3)
		Packages:   true,
		Templates: []plugin.Template{
			{
				Kind: "python", Title: "Python functions", File: "NAME.py", Common: true, Order: 1, Files: templates,
				Sentence: "Each function of a file becomes a tool.",
			},
			{
				Kind: "toolbox", Title: "Python toolbox", File: "NAME.py", Order: 2, Files: templates,
				Sentence: "Methods of a class that share a state and take settings.",
			},
		},
		Toolboxes: true,
	}
}
