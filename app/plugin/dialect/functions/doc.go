// Package functions is the dialect of Python functions: a .py file, or a folder with
// one, whose public functions become tools (contracts/llm-functions).
//
// This package only reads: it recognises the files and says which of them a worker may
// see. Package python has the interpreter, the worker and its sandbox; its
// shim/conclave_worker decides what a function's schema is, how arguments are
// converted and what a result looks like. Its __init__.py says where to read.
package functions
