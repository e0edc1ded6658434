// Package watch tells which plugins of a folder have changed: their files were
// edited, replaced, added or taken away, and have come to rest. It knows files
// only; what a plugin is, and what to do about a change, is its caller's.
//
// [Run] follows a folder. [Digest] says what a plugin's files are, as one short
// text that is the same as long as they are; Run uses it to tell a save that
// changed something from one that did not. Both leave out the same files: hidden
// ones, editors' temporary ones, caches and installed packages ([Ignored]).
package watch
