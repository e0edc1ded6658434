// Package window is the window: the methods its page may call, and the one notice
// it is sent. It forwards calls and turns what the core knows into what the page
// shows; it decides nothing. No other package but main knows Wails.
//
// Each group of methods is one small struct bound under its name: [Chats],
// [Plugins], [Tools], [Permissions], [Models], [Settings], [Window]. What they
// take and give is in views.go, pluginviews.go and the like; what they show of a
// conversation is in package transcript. The page knows both from
// frontend/src/lib/bridge/generated.ts, which a test writes from them. A list is never
// nil in JSON.
package window
