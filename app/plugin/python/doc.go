// Package python is what the dialects of Python plugins share: it finds an
// interpreter, unpacks the worker (shim/, standard library only), reads source
// files without running them, and describes the process to start.
//
// It is no dialect: it knows no manifest and recognises nothing. No process of a
// plugin is started here, and nothing here knows permissions. The worker's core
// is shim/conclave_worker; the modules that plugins of an ecosystem import come from
// its dialect ([Ecosystem]). Read [Interpreters] and [Config] first.
package python
