// Package plugins holds the plugins that come with Conclave, as examples to read
// and to start from. They are copied into a new person's plugins folder; README.md
// beside them tells how to write one's own.
package plugins

import "embed"

// Files holds the shipped plugins with their recorded calls.
//
//go:embed *.py *.js all:*.tests
var Files embed.FS
