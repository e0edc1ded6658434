// Package confine is the child's side of plugin/worker: it runs inside a process
// that was started for a plugin, sets up its sandbox, and never
// takes it down. The host's side, which starts and ends processes, is
// plugin/worker.
//
// A process learns what it is for from the sandbox.Spec on descriptor 3
// ([ReadSpec]). The JavaScript worker then confines itself ([Self]) before it
// reads anything of the plugin's; for any other program, conclave-worker puts up
// the sandbox and becomes that program ([Exec]).
//
// On Linux the sandbox consists of, from the outside in:
//
//   - limits: memory (RLIMIT_DATA), size of a written file, open files, no core;
//   - no new privileges;
//   - Landlock: only what the spec lists can be opened, executed or written; no
//     TCP, no signals and no abstract sockets to processes outside;
//   - seccomp, for what Landlock does not say: no sockets of any kind, no fork, no
//     second program, no ptrace, no io_uring, no namespaces, no modes, owners or
//     attributes of files, no watching of folders, nobody else's priority, no
//     leaving the process group, no outliving of Conclave. Of a process that may use
//     the network, connect is answered by the launcher ([Hold]), and so are bind, listen and
//     accept of one that may listen, and openat2 of one that may ask for files. A call that nobody
//     reviewed does not exist as far as the plugin can tell.
//
// What they do not hide: that a path exists (stat), and the machine's clock and names.
// macOS and Windows have no sandbox ([Detect]).
package confine
