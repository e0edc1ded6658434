//go:build !windows

package language

// preferred returns "": elsewhere the environment says it, and macOS tells the page.
func preferred() string { return "" }
