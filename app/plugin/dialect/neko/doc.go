// Package neko is the dialect of N.E.K.O plugins: a folder with a plugin.toml
// whose entry is a Python class (contracts/neko).
//
// This side only reads: it understands the manifest, says what a plugin needs,
// and keeps the copy of its files that it may write next to its code. What its
// Python imports, and how it runs, is in shim, whose conclave_neko/__init__.py says
// where to read. Read Dialect first.
package neko
