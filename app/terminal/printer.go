package terminal

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/chat/turn"
	"conclave/app/gate"
	"conclave/app/tool"
)

// printer prints a turn's events: as JSON lines, or the answer to standard output and the rest to
// standard error. It is safe for concurrent use.
type printer struct {
	c     *terminal
	debug bool

	mu sync.Mutex // guards the fields below, and the order of what is written
	// waits: the answer is printed below the council's work, which is printed once it is stored; held
	// are the events of the answer until then.
	waits bool
	held  []chat.Event
	// council: the end of the turn is printed last, below the council's result.
	council bool
	last    *chat.Event
	open    bool // the last line of the answer has no line end yet
	err     error
}

func (p *printer) event(e chat.Event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.council && e.Kind == chat.EventEnded:
		p.last = &e
	case !p.waits || !p.holds(e):
		p.write(e)
	}
}

// longestWait bounds how long an answer waits for the council's work to be printed: a slow disk
// must not delay it.
const longestWait = time.Second

// holds holds back an event of the answer, and all that follow it, until release.
func (p *printer) holds(e chat.Event) bool {
	switch e.Kind {
	case chat.EventText, chat.EventReasoning, chat.EventAsked, chat.EventUsed:
	default:
		if len(p.held) == 0 {
			return false
		}
	}
	if len(p.held) == 0 {
		time.AfterFunc(longestWait, func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.release()
		})
	}
	p.held = append(p.held, e)
	return true
}

// release prints the events that were held back, and holds back no others. The caller holds mu.
func (p *printer) release() {
	held := p.held
	p.waits, p.held = false, nil
	for _, e := range held {
		p.write(e)
	}
}

// answered ends the last line of a finished answer. The caller holds mu.
func (p *printer) answered() {
	p.release()
	if p.open && p.err == nil {
		p.line()
	}
}

// write prints an event. The caller holds mu.
func (p *printer) write(e chat.Event) {
	if p.err != nil {
		return
	}
	if e.Kind == chat.EventDecided {
		p.decided(e)
	}
	if p.c.json {
		if e.Failure != nil {
			failure := *e.Failure
			failure.Hint = p.c.toType(failure.Hint)
			e.Failure = &failure
		}
		if line := turn.Line(e); line != nil {
			p.err = writeJSON(p.c.Out, line)
		}
		return
	}
	switch e.Kind {
	case chat.EventText:
		_, p.err = io.WriteString(p.c.Out, e.Text)
		p.open = !strings.HasSuffix(e.Text, "\n")
	case chat.EventWaiting:
		if e.Round > 1 && p.open {
			p.line()
		}
	case chat.EventNoted, chat.EventRetrying:
		p.aside(p.c.toType(p.c.said(e.Note)))
	case chat.EventAsked:
		if p.debug {
			given := oneLine(string(e.Call.Arguments) + e.Call.RawArguments)
			p.aside(fmt.Sprintf("call %s%s %s", forMember(e), tool.OneLine(e.Call.ToolName), given))
		}
	case chat.EventAnswered:
		if p.debug {
			said := e.Result.Text()
			if e.Result.Status != chat.CallOK && e.Result.Status != chat.CallRaised { // Conclave's words
				said = p.c.toType(said)
			}
			p.aside(fmt.Sprintf("%s%s answered in %.1f ms: %s", forMember(e), tool.OneLine(e.Result.Tool), e.Call.MS,
				said))
		}
	case chat.EventEnded:
		if e.Reason == chat.EndLimit {
			p.aside(p.c.said("The limit of model requests was reached. Raise it with --chain-limit."))
		}
	}
}

// decided prints the decision about a call that a person must know of: a refusal, and a call that
// --approve always allowed although it could send untrusted text; this one with --json, too. The
// caller holds mu.
func (p *printer) decided(e chat.Event) {
	refused := e.Call.Decision != string(gate.Allow)
	unasked := !refused && len(e.Call.Origins) > 0 && e.Call.Decider == gate.AlwaysAsker{}.By()
	if unasked || !p.c.json && (refused || p.debug) {
		p.aside(fmt.Sprintf("%s %s%s: %s", p.c.said(e.Call.Decision), forMember(e), tool.OneLine(e.Call.ToolName),
			p.c.toType(p.c.said(e.Call.DecidedBy))))
	}
}

// forMember returns the council member that makes a call, to print before its tool: “for Ada: ”.
func forMember(e chat.Event) string {
	if name := turn.MemberOf(e); name != "" {
		return "for " + tool.OneLine(name) + ": "
	}
	return ""
}

// aside prints a line to standard error, below the answer so far.
func (p *printer) aside(text string) {
	if p.open && p.c.Terminal {
		p.line()
	}
	p.c.person.desk.say(p.c.Err, text)
}

func (p *printer) line() {
	_, p.err = io.WriteString(p.c.Out, "\n")
	p.open = false
}

func (p *printer) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answered()
	if p.last != nil {
		p.write(*p.last)
	}
}
