// Package host keeps plugins: it loads what is in the plugins folder or registers, has it approved,
// keeps each running plugin in one process, publishes its tools, and replaces the
// process when a file is saved, without losing a call.
//
// A [plugin.Dialect] reads a plugin and describes how to run it; a [sandbox.Launcher]
// (plugin/worker) starts the process; the host talks to it by MCP over plugin/wire,
// described in docs/WIRE.md. gate.Gate decides about a call before the host gets it.
// Package plugin/library changes the plugins folder. Read [Host] first.
package host
