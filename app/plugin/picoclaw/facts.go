package picoclaw

import (
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "picoclaw"

// Facts implements plugin.Dialect.
func (*Dialect) Facts() plugin.Facts {
	return plugin.Facts{
		Name:       Name,
		Layouts:    []plugin.Layout{{Entry: "NAME/ with hook.json", What: "a PicoClaw hook process", Page: "HOOKS.md"}},
		Convention: tool.Convention{Loose: true}, // nothing is checked there (contracts/picoclaw-hooks, section 9)
		Qualified:  true,                         // in a turn a tool has the name that its hook gives it
	}
}
