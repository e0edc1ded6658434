package packages

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/plugin/python"
)

// distributions returns the packages installed in folders, by canonical name,
// with their versions, from the names of their metadata folders. The
// first folder that has one counts, as on an interpreter's path.
func distributions(dirs []string) map[string]string {
	found := map[string]string{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, entry := range entries {
			base, isInfo := strings.CutSuffix(entry.Name(), ".dist-info")
			if !isInfo {
				if base, isInfo = strings.CutSuffix(entry.Name(), ".egg-info"); !isInfo {
					continue
				}
				if i := strings.LastIndex(base, "-py"); i > 0 {
					base = base[:i]
				}
			}
			name, version, _ := strings.Cut(base, "-")
			if _, there := found[canonical(name)]; !there {
				found[canonical(name)] = version
			}
		}
	}
	return found
}

// holds reports whether a module can be imported from one of the folders.
func holds(dirs []string, module string) bool {
	for _, dir := range dirs {
		path := filepath.Join(dir, module)
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			return true
		}
		if _, err := os.Stat(path + ".py"); err == nil {
			return true
		}
		for _, ending := range []string{".*.so", ".so", ".*.pyd", ".pyd"} {
			if found, err := filepath.Glob(path + ending); err == nil && len(found) > 0 {
				return true
			}
		}
	}
	return false
}

// builtin are the modules compiled into interpreters, of all versions and
// systems (sys.builtin_module_names of CPython 3.9 to 3.13).
var builtin = strings.Fields(`array atexit audioop binascii builtins cmath errno faulthandler fcntl gc grp itertools marshal math
	mmap msvcrt nt parser posix pwd pyexpat resource select spwd sys syslog termios time unicodedata winreg winsound xxsubtype zlib`)

// standard reports whether a module is of the standard library.
func standard(p python.Python, module string) bool {
	if module == "" || module[0] == '_' || slices.Contains(builtin, module) {
		return true
	}
	return holds([]string{p.Stdlib, p.Platstdlib}, module)
}

// size returns the bytes of the files below a folder.
func size(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, entry os.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what went away meanwhile takes no room
		}
		if info, err := entry.Info(); err == nil && info.Mode().IsRegular() {
			total += info.Size()
		}
		return nil
	})
	return total
}
