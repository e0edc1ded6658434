// Package spindle is the dialect of Spindle extensions: a script that calls
// spindle.registerTool, or a folder with a spindle.json (contracts/spindle: Lumiverse
// Spindle). It recognises them, reads their tools as far as that is possible without
// running them, and describes the worker process that runs them.
//
// It never runs or builds anything: that is package engine, which only
// conclave-worker imports. What both need to know is in package job. Read
// [Dialect] first, then manifest.
package spindle
