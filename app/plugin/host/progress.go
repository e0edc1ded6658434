package host

import (
	"strconv"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progress passes the progress of running calls to whoever made them. The zero value is ready. It is safe for
// concurrent use.
type progress struct {
	mu   sync.Mutex // guards the fields below; held while a note is passed on, so that none comes after its call
	next int
	open map[string]func(note string)
}

// follow returns the token of a call whose progress do gets, until over is called; "" where do is nil.
func (p *progress) follow(do func(note string)) (token string, over func()) {
	if do == nil {
		return "", func() {}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.open == nil {
		p.open = map[string]func(string){}
	}
	p.next++
	token = strconv.Itoa(p.next)
	p.open[token] = do
	return token, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.open, token)
	}
}

// take passes on what a process reports. A token that no open call has counts for nothing.
func (p *progress) take(report *mcp.ProgressNotificationParams) {
	token, _ := report.ProgressToken.(string)
	p.mu.Lock()
	defer p.mu.Unlock()
	do := p.open[token]
	if do == nil {
		return
	}
	note := report.Message
	if note == "" {
		note = strconv.FormatFloat(report.Progress, 'g', -1, 64)
		if report.Total > 0 {
			note += " of " + strconv.FormatFloat(report.Total, 'g', -1, 64)
		}
	}
	do(note)
}
