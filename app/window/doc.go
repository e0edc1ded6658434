// Package window is the window: the methods its page may call, and the one notice it is sent. It
// forwards calls, runs the turns that the page begins, and holds what only a window has: open chats,
// unread marks, what can be undone. No other package but its program knows Wails.
//
// Each group of methods is one small struct bound under its name: [Chats], [Plugins], [Tools],
// [Permissions], [Models], [Settings], [Council], [Activity], [Window]. What the terminal prints, too,
// is in package view, a conversation in package transcript, the rest next to the methods. The page
// knows all of it from frontend/src/lib/bridge/generated.ts, which a test writes. A list is never nil
// in JSON.
package window
