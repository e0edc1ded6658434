// Package functions is the dialect of Python functions: a .py file, or a folder
// with one, whose public functions become tools (contract llm-functions).
//
// The Go side only reads. It recognises the files, finds a Python, unpacks the
// worker (the Python package in shim/, standard library only) and describes the
// process to start; the worker loads the plugin and speaks docs/WIRE.md. What a
// function's schema is, how arguments are converted and what a result looks
// like is decided in shim/conclave_worker, whose __init__.py says where to read.
//
// No process of a plugin is started here, and nothing here knows permissions.
// Read [Dialect] and [Python] first.
package functions
