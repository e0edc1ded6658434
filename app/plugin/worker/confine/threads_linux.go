//go:build !cgo

package confine

// threadLists names nothing: the Go runtime knows its threads.
func threadLists() []string { return nil }
