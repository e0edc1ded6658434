// Package worker starts, watches and ends the processes of plugins: it is the
// sandbox.Launcher of a real machine. It knows pipes, limits and signals; what is
// said over the pipes is plugin/wire's, and what a plugin is, plugin's.
//
// Every process is one of three: the JavaScript engine inside the conclave program
// (conclave worker js), the reader of PDFs there (conclave worker pdf), or a command that conclave confine turns into behind its
// walls. Both are told what they are by a sandbox.Spec on a pipe of its own, and
// put up the walls themselves, with plugin/worker/confine.
//
// Read [Launcher] first, then [Process]. Both end what they started: a process
// dies with its launcher, also when Conclave itself is killed.
package worker
