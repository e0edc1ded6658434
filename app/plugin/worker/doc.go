// Package worker starts, watches and ends the processes of plugins: it is the
// sandbox.Launcher of a real machine. It knows pipes, limits and signals; what is
// said over the pipes is plugin/wire's, and what a plugin is, plugin's.
//
// Every process begins as conclave-worker and is one of three: the JavaScript
// engine, the reader of PDFs, or a command that it turns into behind its walls. All
// are told what they are by a sandbox.Spec on a pipe of its own, and put up the walls
// themselves, with plugin/worker/confine.
//
// Read [Launcher] first, then [Process]. Both end what they started: a process
// dies with its launcher, also when Conclave itself is killed.
package worker
