//go:build cgo

package confine

import (
	"fmt"
	"os"
)

// threadLists names the folder that lists this process's threads: in a program
// with C in it, the library that reaches all threads goes through it while some
// of them are restricted already, and aborts when it cannot
// (landlock-lsm/go-landlock issue 39). TestSelfShutsTheProcessIn with the race
// detector tells when it is no longer needed.
func threadLists() []string { return []string{fmt.Sprintf("/proc/%d/task", os.Getpid())} }
