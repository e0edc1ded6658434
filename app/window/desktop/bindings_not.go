//go:build !bindings

package desktop

// onlyBindings is true in the program that Wails builds to learn what the page
// may call.
const onlyBindings = false
