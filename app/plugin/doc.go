// Package plugin holds the words of plugins: what one is as it lies in the plugins
// folder, what reading it tells, how it stands, and what it may ask for. The host
// (plugin/host), the dialects (one package per ecosystem below this folder), the
// services that plugins use, the window and the terminal agree on these. Nothing
// here runs, waits or remembers.
//
// Read Source, Manifest, Dialect and Status first.
package plugin
