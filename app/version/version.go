// Package version names this build. Both programs of one release carry the same
// version and refuse a neighbour of another.
package version

// Version is set by the linker (see the Makefile); "dev" in a build without it.
var Version = "dev"
