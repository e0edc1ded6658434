//go:build !linux

package confine

// CanHold reports whether this system lets the launcher make the connections of a
// process: it does not.
func CanHold() bool { return false }

// CanOpen reports whether the launcher can open files for a process here: it cannot.
func CanOpen() bool { return false }
