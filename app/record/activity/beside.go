package activity

import (
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
)

// Beside makes the entry of what a plugin sent while it worked on no call, without its place in
// the chain. It has no detail: hosts and sizes stay on record, as those of calls do.
func Beside(at time.Time, plugin string, all []chat.Sending) Entry {
	return Entry{Time: at, Kind: Sent, Caller: "plugin:" + plugin, Plugin: plugin, Sent: sent(all)}
}

// SentTo says what was sent to a host, as a person reads it: “1.0 KiB to example.org”.
func SentTo(s chat.Sending) string {
	text := limit.Size(s.Bytes) + " to " + s.Host
	if s.Shared {
		text += " (with other calls)"
	}
	return text
}

// besideWords say what an entry of Beside tells, as they follow the name of its plugin.
func besideWords(e Entry) string {
	var all []string
	for _, s := range e.Sent {
		all = append(all, SentTo(s))
	}
	return "sent " + strings.Join(all, ", ") + " while it worked on no call"
}
