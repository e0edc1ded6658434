//go:build bindings

package desktop

// onlyBindings: `wails build`, `wails dev` and `wails generate module` build this
// program with the tag “bindings” and run it, to learn what the page may call.
const onlyBindings = true
