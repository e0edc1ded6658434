package mcp

import (
	"embed"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// Name is the name of this dialect.
const Name = "mcp"

// FileName is the file of a folder that holds servers.
const FileName = "mcp.json"

// ending is that of a file with servers right in the plugins folder.
const ending = "." + FileName

// templates holds a folder for each kind of server that a person can begin with.
//
//go:embed all:templates
var templates embed.FS

// idle is the time after which a server that nobody uses is ended.
const idle = 15 * time.Minute

// rests are the times after which a server that keeps dying may be started again; then only a person does.
var rests = []time.Duration{time.Minute, 5 * time.Minute, 30 * time.Minute}

// Facts implements plugin.Dialect.
func (*Dialect) Facts() plugin.Facts {
	return plugin.Facts{
		Name: Name,
		Layouts: []plugin.Layout{
			{Entry: "NAME/ with mcp.json", What: "MCP servers", Page: "MCP.md"},
			{Entry: "NAME.mcp.json", What: "MCP servers in one file", Page: "MCP.md"},
			{Entry: "NAME.mcpb or .dxt", What: "an MCP server as a bundle", Page: "MCP.md"},
		},
		Endings:    append([]string{ending}, bundleEndings...),
		Convention: tool.Convention{},
		Templates: []plugin.Template{
			{
				Kind: "mcp", Title: "MCP server in Python",
				Sentence: "Any program that speaks MCP can use it; no library.", File: "NAME/", Order: 11, Files: templates,
			},
			{
				Kind: "mcp-node", Title: "MCP server in Node", Sentence: "The same in JavaScript, for Node.js.",
				File: "NAME/", Order: 12, Files: templates,
			},
		},
		Idle:      idle,
		Rests:     rests,
		Announced: []string{gate.Generation}, // a capability of the handshake
		Shares:    true,
	}
}
