//go:build !linux || !cgo

package desktop

// checkSpelling does nothing: these web views check spelling by themselves.
func checkSpelling() {}
