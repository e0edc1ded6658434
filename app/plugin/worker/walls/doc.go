// Package walls puts the sandbox of a plugin's process, a sandbox.Spec, into the words of
// macOS and Windows. It calls neither system: what it returns is text and data, which is
// the same wherever it is made, and which tests look at on any system.
//
//   - [Seatbelt] is a profile for macOS: everything is denied but what the spec lists.
//   - [OfWindows] is a plan for Windows: an AppContainer or a restricted token, the rights
//     that are written to files and folders, and the limits of the job object.
//
// Whether the systems keep to it, nobody has tried: sandbox.Unproven says so, and
// plugin/worker/confine returns it there. On Linux none of it is used.
package walls
