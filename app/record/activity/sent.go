package activity

import (
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
)

// SentEntry makes the entry of what a plugin sent while it worked on no call, without its place in
// the chain. It has no detail: hosts and sizes stay on record, as those of calls do.
func SentEntry(at time.Time, plugin string, all []chat.Sending) Entry {
	return Entry{Time: at, Kind: Sent, Caller: "plugin:" + plugin, Plugin: plugin, Sent: sent(all)}
}

// SentTo describes what was sent to a host: “1.0 KiB to example.org”.
func SentTo(s chat.Sending) string {
	text := limit.Size(s.Bytes) + " to " + s.Host
	if s.Shared {
		text += " (with other calls)"
	}
	return text
}

// sentWords returns the sentence of a [Sent] entry, without the name of the plugin that it begins with.
func sentWords(e Entry) string {
	var all []string
	for _, s := range e.Sent {
		all = append(all, SentTo(s))
	}
	return "sent " + strings.Join(all, ", ") + " while it worked on no call"
}
