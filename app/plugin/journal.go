package plugin

import (
	"strings"
	"sync"
	"time"
)

// LogLine is one line of a plugin's log.
type LogLine struct {
	N     uint64 // from 1, growing
	Time  time.Time
	Level string // debug, info, warn, error
	Text  string // hidden characters removed, at most 4 KiB
	Call  string // the call it belongs to, or empty
}

// journalLines is how many lines of one plugin are kept: enough to read what led
// to a failure, little enough that 200 plugins stay under 100 MB at worst.
const (
	journalLines    = 1000
	journalLineSize = 4 << 10
)

// journal keeps the last lines a plugin logged or printed. It is safe for
// concurrent use.
type journal struct {
	mu    sync.Mutex
	lines []LogLine // a ring once full
	next  uint64
}

func newJournal() *journal { return &journal{next: 1} }

func (j *journal) add(level, text, call string) {
	text = strings.TrimRight(strings.ToValidUTF8(text, "\uFFFD"), "\r\n")
	if len(text) > journalLineSize {
		text = strings.ToValidUTF8(text[:journalLineSize], "") + " …"
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	line := LogLine{N: j.next, Time: time.Now(), Level: level, Text: text, Call: call}
	j.next++
	if len(j.lines) < journalLines {
		j.lines = append(j.lines, line)
		return
	}
	j.lines[(line.N-1)%journalLines] = line
}

// since returns the lines with N > n, oldest first.
func (j *journal) since(n uint64) []LogLine {
	j.mu.Lock()
	defer j.mu.Unlock()
	first := j.next - uint64(len(j.lines))
	out := []LogLine{}
	for i := max(first, n+1); i < j.next; i++ {
		out = append(out, j.lines[(i-1)%journalLines])
	}
	return out
}
