// Package version names this build and the programs it consists of.
package version

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Version is set by the linker (see the Makefile); "dev" in a build without it. The
// programs of one release carry the same version and refuse a neighbour of another.
var Version = "dev"

// The programs of a release. They lie in one folder.
const (
	Terminal = "conclave"        // the command line
	Window   = "conclave-window" // the window
	Worker   = "conclave-worker" // what becomes a plugin's process
)

// Beside returns the path that one of the programs has in the folder of this one,
// whether it is there or not. The error says why this program's own file is unknown
// (on Linux without /proc).
func Beside(program string) (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", err
	}
	if runtime.GOOS == "windows" {
		program += ".exe"
	}
	return filepath.Join(filepath.Dir(self), program), nil
}

// Instance returns the random name of this run of the program, the same at each call. A program that is
// reached as an MCP server names it, so that Conclave recognises itself.
var Instance = sync.OnceValue(rand.Text)
