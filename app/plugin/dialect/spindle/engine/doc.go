// Package engine runs one Spindle plugin inside a worker process: the JavaScript
// engine (QuickJS in pure Go), the loader that reads the plugin's modules and
// strips types with esbuild, the prelude that makes the globals a plugin sees,
// and the MCP server that answers Conclave over standard input and output
// (docs/WIRE.md).
//
// Read [Serve] first, then worker (what happens to a call), loop (who owns the
// engine) and vm (the six methods an engine needs). The prelude is JavaScript in
// prelude/, one file for each idea; a new namespace of the spindle global is a
// new file in prelude/spindle and, if it needs one, an operation in ops.go.
//
// What belongs to the web platform and not to every plugin is in prelude/lazy: a
// part is evaluated when one of its names is first read (lazy.js, and decision 11
// in docs/adr). It may meet prototypes a plugin changed, so nothing on the way of
// a call or an answer lies there. Parts can be made of libraries of other authors, which
// prelude/library holds as they were released: change the version in its package.json, and
// make libraries copies the files.
//
// Only conclave-worker may import this package: neither the engine nor the bundler
// belongs in the process of the window or the terminal. What the host knows of a plugin is in
// the parent package, and what it tells a worker in package job; neither imports
// this one.
package engine
