package watch

import "strings"

// Ignored reports whether a file or folder of this name inside a plugin is no
// part of it: hidden files, what editors write while they save, caches, and
// packages that a package manager installed. dist and build folders are part of
// a plugin.
func Ignored(name string) bool {
	switch name {
	case "", "node_modules", "bower_components", "__pycache__", "venv",
		"4913",      // Vim tests with it whether it may write here
		"Thumbs.db": // Windows
		return true
	}
	switch name[0] {
	case '.', // hidden: .git, .venv, .x.py.swp, .#x.py, .goutputstream-ABC, .DS_Store
		'#', // Emacs saves itself to #x.py#
		'~': // Office and Windows: ~$x, ~x.tmp
		return true
	}
	switch {
	case strings.HasSuffix(name, "~"), // Vim, Emacs, gedit: the older version
		strings.HasSuffix(name, ".swp"), strings.HasSuffix(name, ".swx"), strings.HasSuffix(name, ".swo"),
		strings.HasSuffix(name, ".pyc"), strings.HasSuffix(name, ".pyo"),
		strings.HasSuffix(name, ".part"), strings.HasSuffix(name, ".crdownload"), // downloads
		strings.Contains(name, "___jb_"): // JetBrains: x.py___jb_tmp___, ___jb_old___
		return true
	}
	// x.tmp, x.py.tmp, x.py.tmp.4711, x.tmp4711: written, then renamed.
	for rest := name; ; {
		at := strings.Index(rest, ".tmp")
		if at < 0 {
			return false
		}
		rest = rest[at+len(".tmp"):]
		if rest == "" || rest[0] == '.' || rest[0] == '-' || rest[0] == '_' || (rest[0] >= '0' && rest[0] <= '9') {
			return true
		}
	}
}
