package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	"conclave/app/base/shorten"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// inbox takes what the server of a session sends.
type inbox struct{ *Session }

// receive takes a message of the server. from is the request whose answer stream it came on; nil for a
// stream that all share. It must not block.
func (s inbox) receive(m jsonrpc.Message, from *exchange) {
	s.heard.Store(time.Now().UnixNano())
	if from != nil {
		from.tool.alive()
	}
	switch m := m.(type) {
	case *jsonrpc.Response:
		s.answered(m, from)
	case *jsonrpc.Request:
		if m.IsCall() {
			s.asked(m, from)
		} else {
			s.notified(m, from)
		}
	}
}

func (s inbox) answered(m *jsonrpc.Response, from *exchange) {
	e, over := s.open.find(m.ID)
	switch {
	case e != nil && (from == nil || from == e):
		if !e.settle(m.Result, m.Error) {
			s.logf("info", "a second answer to request %d was dropped", e.id)
		}
	case over:
		s.logf("info", "a late or second answer to request %v was dropped", m.ID.Raw())
	default:
		s.logf("warn", "an answer to a request that was never sent was dropped: %v", m.ID.Raw())
	}
}

// tooLong fails the request whose answer was over the bound.
func (s inbox) tooLong(id jsonrpc.ID, from *exchange) {
	e := from
	if e == nil {
		e, _ = s.open.find(id)
	}
	err := fmt.Errorf("the answer has more than %d MiB", maxLine>>20)
	if e == nil {
		s.logf("error", "a message of more than %d MiB was dropped", maxLine>>20)
		return
	}
	e.settle(nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()})
}

// unreadable fails the request that a line is to answer which is no message, such as one with values within each other
// without end: nothing else comes for it.
func (s inbox) unreadable(line []byte) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] != '{' {
		return
	}
	var ids idScanner
	ids.scan(line)
	if e, _ := s.open.find(ids.result()); e != nil {
		e.settle(nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the answer cannot be read"})
	}
}

// notified takes a notification.
func (s inbox) notified(m *jsonrpc.Request, from *exchange) {
	switch m.Method {
	case "notifications/progress":
		s.progressed(m.Params)
	case "notifications/message":
		s.logged(m.Params, from)
	case "notifications/cancelled":
		s.cancelled(m)
	case "notifications/elicitation/complete":
		var p struct {
			ID string `json:"elicitationId"`
		}
		if json.Unmarshal(m.Params, &p) == nil {
			s.questions.finished(p.ID)
		}
	default:
		if s.speaks().Era == Modern {
			s.subscribed(m)
		} else {
			s.changed(m)
		}
	}
}

// changed takes a notification that something of the server changed.
func (s inbox) changed(m *jsonrpc.Request) {
	switch m.Method {
	case "notifications/tools/list_changed":
		s.changes.note(toolsChanged, "")
	case "notifications/resources/list_changed":
		s.changes.note(resourcesChanged, "")
	case "notifications/prompts/list_changed":
		s.changes.note(promptsChanged, "")
	case "notifications/resources/updated":
		var p struct {
			URI string `json:"uri"`
		}
		if json.Unmarshal(m.Params, &p) == nil && p.URI != "" && len(p.URI) <= maxName {
			s.changes.note(0, p.URI)
		}
	}
}

// progressed passes progress on to its call. A token of no open call is dropped.
func (s inbox) progressed(raw json.RawMessage) {
	var p struct {
		Token    json.RawMessage `json:"progressToken"`
		Progress float64         `json:"progress"`
		Total    float64         `json:"total"`
		Message  string          `json:"message"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	var id int64
	if json.Unmarshal(bytes.Trim(p.Token, `"`), &id) != nil {
		return
	}
	s.open.call(id).progressed(Progress{Done: p.Progress, Total: p.Total, Message: p.Message})
}

// logged passes a line of the server's log on: to the call that it belongs to, else to the session.
func (s inbox) logged(raw json.RawMessage, from *exchange) {
	var p struct {
		Level  string          `json:"level"`
		Logger string          `json:"logger"`
		Data   json.RawMessage `json:"data"`
	}
	if json.Unmarshal(raw, &p) != nil {
		return
	}
	var text string
	if json.Unmarshal(p.Data, &text) != nil {
		text = string(p.Data)
	}
	if p.Logger != "" {
		text = p.Logger + ": " + text
	}
	text = shorten.To(text, maxLogLine)
	var tool *toolCall
	if from != nil {
		tool = from.tool
	} else {
		tool = s.open.onlyCall()
	}
	tool.alive()
	write := s.o.Log
	if tool != nil && tool.Log != nil {
		write = tool.Log
	}
	s.lines.write(write, ourLevel(p.Level), text)
}

// ourLevel returns which of our four levels one of syslog's eight is.
func ourLevel(theirs string) string {
	switch theirs {
	case "debug":
		return "debug"
	case "info", "notice":
		return "info"
	case "warning":
		return "warn"
	default:
		return "error"
	}
}

// logf writes a line to the server's log.
func (s *Session) logf(level, format string, args ...any) {
	s.lines.write(s.o.Log, level, fmt.Sprintf(format, args...))
}

// Bounds of a server's log.
const (
	maxLogLines = 100     // in a second
	maxLogLine  = 8 << 10 // characters
)

// logLimit drops lines past maxLogLines a second.
type logLimit struct {
	mu      sync.Mutex // guards all below
	second  time.Time
	lines   int
	dropped int
}

func (l *logLimit) write(log func(level, text string), level, text string) {
	l.mu.Lock()
	now := time.Now()
	var report int
	if now.Sub(l.second) >= time.Second {
		report, l.dropped = l.dropped, 0
		l.second, l.lines = now, 0
	}
	l.lines++
	drop := l.lines > maxLogLines
	if drop {
		l.dropped++
	}
	l.mu.Unlock()
	if report > 0 {
		log("warn", droppedLines(report))
	}
	if !drop {
		log(level, text)
	}
}

// end reports what was dropped last.
func (l *logLimit) end(log func(level, text string)) {
	l.mu.Lock()
	report := l.dropped
	l.dropped = 0
	l.mu.Unlock()
	if report > 0 {
		log("warn", droppedLines(report))
	}
}

func droppedLines(n int) string {
	return fmt.Sprintf("%d lines were left out: the server wrote more than %d in a second", n, maxLogLines)
}

// Lists that change.
const (
	toolsChanged = 1 << iota
	resourcesChanged
	promptsChanged
	allChanged = toolsChanged | resourcesChanged | promptsChanged
)

const (
	quiet      = 200 * time.Millisecond // for which changes are gathered
	maxUpdated = 1000                   // resources that are reported at once
)

// changes gathers what changed and reports it.
type changes struct {
	signal  chan struct{} // has room for one
	mu      sync.Mutex    // guards lists and updated
	lists   int
	updated []string
	noted   map[string]bool
}

func (c *changes) note(lists int, uri string) {
	c.mu.Lock()
	c.lists |= lists
	if uri != "" && !c.noted[uri] && len(c.updated) < maxUpdated {
		if c.noted == nil {
			c.noted = map[string]bool{}
		}
		c.noted[uri] = true
		c.updated = append(c.updated, uri)
	}
	c.mu.Unlock()
	select {
	case c.signal <- struct{}{}:
	default:
	}
}

// report calls the functions of o until ctx ends.
func (c *changes) report(ctx context.Context, o *Options) {
	for {
		select {
		case <-c.signal:
		case <-ctx.Done():
			return
		}
		pause := time.NewTimer(quiet)
		select {
		case <-pause.C:
		case <-ctx.Done():
			pause.Stop()
			return
		}
		c.mu.Lock()
		lists, updated := c.lists, c.updated
		c.lists, c.updated, c.noted = 0, nil, nil
		c.mu.Unlock()
		for list, f := range map[int]func(){
			toolsChanged: o.ToolsChanged, resourcesChanged: o.ResourcesChanged, promptsChanged: o.PromptsChanged,
		} {
			if lists&list != 0 && f != nil {
				f()
			}
		}
		if o.ResourceUpdated != nil {
			for _, uri := range updated {
				o.ResourceUpdated(uri)
			}
		}
	}
}
