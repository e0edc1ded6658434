// Package maibot is the dialect of MaiBot plugins: a folder with a _manifest.json
// and a plugin.py whose create_plugin() makes the plugin (contracts/maibot).
//
// This side only reads: it understands the manifest, says what the plugin asks
// for in Conclave's words, and names the files that are its code. What its Python
// imports, and how it runs, is in shim, whose conclave_maibot/__init__.py says where
// to read. Read Dialect first.
package maibot
