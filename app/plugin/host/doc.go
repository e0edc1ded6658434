// Package host keeps plugins: it loads what lies in the plugins folder, has it
// approved, keeps each running plugin in one process, publishes its tools, swaps
// them when a file is saved without losing a call, and lets go.
//
// A [plugin.Dialect] reads a plugin and says how to run it; a [sandbox.Launcher]
// (plugin/worker) starts the process; the conversation with it is MCP over
// plugin/wire, described in docs/WIRE.md. What a call may do is decided by
// permit.Gate before the host is asked. What changes the plugins folder is
// plugin/library. Read [Host] first.
package host
