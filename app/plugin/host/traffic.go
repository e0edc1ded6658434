package host

import (
	"strings"
	"sync"
	"time"

	"conclave/app/plugin"
)

// What is held of the messages between Conclave and a plugin: the last ones, and the beginning of each.
const (
	trafficMessages = 50
	trafficBytes    = 2 << 10
)

// traffic holds the last messages of the protocol between Conclave and a plugin, over all its processes. It is safe for
// concurrent use.
type traffic struct {
	mu   sync.Mutex // guards the fields below
	ring [trafficMessages]carried
	n    uint64 // how many there were
}

// carried is the beginning of a message.
type carried struct {
	at   time.Time
	sent bool // to the plugin
	text []byte
	size int // of the whole message
}

func (t *traffic) add(sent bool, text []byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	slot := &t.ring[t.n%trafficMessages]
	t.n++
	slot.at, slot.sent, slot.size = time.Now(), sent, len(text)
	slot.text = append(slot.text[:0], text[:min(len(text), trafficBytes)]...)
}

// lines returns the messages as lines of a log, oldest first, without the secrets that m knows.
func (t *traffic) lines(m *redactor) []plugin.LogLine {
	t.mu.Lock()
	defer t.mu.Unlock()
	out := []plugin.LogLine{}
	for n := t.n - min(t.n, trafficMessages); n < t.n; n++ {
		c := t.ring[n%trafficMessages]
		text := logged(m, m.quoted(string(c.text)))
		if c.size > len(c.text) {
			text = m.withoutBegun(strings.ToValidUTF8(text, "")) + " …"
		}
		arrow := "← "
		if c.sent {
			arrow = "→ "
		}
		out = append(out, plugin.LogLine{N: n + 1, Time: c.at, Level: "debug", Text: arrow + strings.TrimSpace(text)})
	}
	return out
}

// Traffic returns the beginnings of the last messages of the protocol between Conclave and the plugin, oldest first and
// without secrets: → is one that was sent. There are none for plugins whose dialect shows none.
func (h *Host) Traffic(id string) []plugin.LogLine {
	if e := h.entry(id); e != nil {
		return e.traffic.lines(&e.redactor)
	}
	return []plugin.LogLine{}
}
