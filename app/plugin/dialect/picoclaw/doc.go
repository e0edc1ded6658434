// Package picoclaw is the dialect of PicoClaw's hook processes: a folder with a
// hook.json, whose command is a program that answers hook.* requests, one JSON object
// per line on its standard streams (contracts/picoclaw-hooks).
//
//	the host ── plugin.Backend ── connection ── client ── lines ── the hook's process
//	a turn ──── Source ────────────────┘
//
// The process is the host's: it starts in the sandbox of every plugin, rests after
// deaths, and is called off like others. [Dialect.Adapt] makes it the
// backend of its plugin. What a turn and a call ask of hooks comes past that, from [Source], which
// borrows the connection.
//
// hook.json is config.go; the process to start launch.go; the protocol client.go; what
// the host gets connection.go; what goes over the wire shapes.go.
package picoclaw
