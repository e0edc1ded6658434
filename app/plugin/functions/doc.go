// Package functions is the dialect of Python functions: a .py file, or a folder
// with one, whose public functions become tools (contracts/llm-functions).
//
// This side only reads: it recognises the files and says which of them a worker
// may see. The interpreter, the worker and its walls are in package python; what
// a function's schema is, how arguments are converted and what a result looks
// like is decided in its shim/conclave_worker, whose __init__.py says where to
// read.
package functions
