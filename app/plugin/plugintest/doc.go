// Package plugintest helps to test what deals with plugins.
//
// A [World] is a plugin.Dialect and a sandbox.Launcher at once. Its plugins are
// files with a [Script] in JSON, and its processes are goroutines that speak the
// wire (docs/WIRE.md) over pipes in memory, so that a plugin host can be tested
// inside a testing/synctest bubble, where time is free. [Suite] is the other
// half: what every dialect must hold to with real processes.
//
// It is for tests only, and knows no dialect.
package plugintest
