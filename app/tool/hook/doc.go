// Package hook lets others look at Conclave's work at these points of a turn, and
// change it there: what a model is sent and what it said, what a tool is called with,
// whether it is, and what came of it.
//
//	macro         {{name}} in what a person wrote gets a value
//	before model  the request, before it is sent      change it, or call the turn off
//	before round  the same, for hooks that look at each request of a turn
//	after model   the answer, before it is kept       change it
//	before tool   a call, before anybody is asked     change it, answer it, or deny it
//	approve       a call, before anybody is asked     deny it
//	after tool    what a tool answered                change it
//
// # The order
//
// At each point the steps of all sources run one after another, each with what the
// one before it left: first by phase (macros, then handlers of the context, then
// whatever else looks at a request), then by priority, the lowest first, then in the
// order in which they were registered. Whoever comes with the program has a lower
// order number than any plugin. The same order holds for the after points.
//
// # What a hook cannot do
//
// Nothing here loosens what the gate decides: a call that a hook changed is checked
// and decided as it then is, and only the plugin that a tool belongs to may answer
// for it. A step that fails changes nothing; at approve, where it stands guard, it
// denies.
//
// Read [Points] and [Step] first. Package plugin/host runs the hooks of
// plugins' processes, package service puts a request into their words; plugin/picoclaw runs those that
// are processes of their own.
package hook
