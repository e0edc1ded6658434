package mcpserver

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"
	"unicode"

	"conclave/app/base/fault"
	"conclave/app/base/shorten"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/tool"
	"conclave/app/tool/call"
	"conclave/app/tool/hook"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// handler returns what calls one tool, by its id.
func (d *endpoint) handler(id string) mcp.ToolHandler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		program := d.who(req)
		ctx, over := d.begin(ctx, program, req.Session.ID())
		defer over()
		return d.call(ctx, program, id, req)
	}
}

// call makes a call of a program. All that can go wrong with it is a result.
func (d *endpoint) call(
	ctx context.Context, program, id string, req *mcp.CallToolRequest,
) (*mcp.CallToolResult, error) {
	d.s.programs.count(program, req.Extra != nil && req.Extra.TokenInfo != nil)
	set := d.s.o.Tools.Set()
	found, ok := set.ByID(id)
	if !ok || !Offerable(found) {
		return failed("Error: the tool " + req.Params.Name + " is no longer offered. List the tools again."), nil
	}
	news := &progress{req: req, waits: d.choices.Asker == nil}
	defer news.end()
	result, err := d.s.o.Calls.Do(ctx, call.Turn{
		TurnInfo:   hook.TurnInfo{Caller: gate.Outside(program), Kind: "normal"},
		CallerName: callerName(program, req.ClientInfo()),
		Tools:      set, Asker: d.choices.Asker, Given: "It gets nothing of your chats.",
		OnEvent: func(e chat.Event) { news.take(ctx, e) },
	}, id, string(req.Params.Arguments), call.Extra{Context: []tool.ContextMessage{}})
	if err != nil {
		f := fault.Of(err)
		return failed("Error: " + strings.TrimSpace(f.Message+" "+f.Hint)), nil
	}
	if cause := context.Cause(ctx); result.Status == chat.CallCancelled && ctx.Err() != nil &&
		(errors.Is(cause, errRemoved) || errors.Is(cause, errClosing)) {
		result.Error = "Cancelled: " + cause.Error()
	}
	if strings.HasSuffix(result.Error, gate.ErrNobody.Error()) { // programs show it to their person
		result.Error += ". Open Conclave's window and call again, or allow it: conclave permissions allow " + id +
			" --outside '" + program + "'"
	}
	return structured(d.s.result(ctx, result), result, found.Output, requestIsModern(req)), nil
}

// callerName returns a program as a question and the record name it: as the person named it, and as it calls
// itself.
func callerName(program string, claims *mcp.Implementation) string {
	if claims == nil {
		return program
	}
	said, _ := tool.Strip(claims.Name + " " + claims.Version)
	said = strings.Join(strings.Fields(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || strings.ContainsRune("“”\"", r) {
			return ' '
		}
		return r
	}, said)), " ")
	if said == "" || strings.EqualFold(said, program) {
		return program
	}
	return program + " (“" + shorten.To(said, maxClaim) + "”)"
}

// maxClaim limits how many characters of a program's own name are shown.
const maxClaim = 40

func failed(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}, IsError: true}
}

// result returns the result of a call as the program gets it.
func (s *Server) result(ctx context.Context, r tool.Result) *mcp.CallToolResult {
	if r.Status != chat.CallOK {
		return failed(r.Error)
	}
	out := &mcp.CallToolResult{Content: []mcp.Content{}}
	for _, p := range r.Content {
		if p.Kind != chat.PartMedia {
			out.Content = append(out.Content, &mcp.TextContent{Text: p.Text})
			continue
		}
		out.Content = append(out.Content, s.media(ctx, *p.Media))
	}
	return out
}

// media returns an attachment of a result: pictures and sound as such, and other files as resources.
func (s *Server) media(ctx context.Context, m chat.Media) mcp.Content {
	data := m.Data
	if len(data) == 0 {
		var err error
		if data, err = s.o.Media(ctx, m.ID); err != nil {
			return &mcp.TextContent{Text: "[an attachment of type " + m.MIME + " could not be read: " +
				fault.Of(err).Message + "]"}
		}
	}
	kind, _, _ := strings.Cut(m.MIME, "/")
	switch kind {
	case "image":
		return &mcp.ImageContent{Data: data, MIMEType: m.MIME}
	case "audio":
		return &mcp.AudioContent{Data: data, MIMEType: m.MIME}
	}
	resource := &mcp.ResourceContents{URI: "conclave://media/" + m.ID, MIMEType: m.MIME}
	if kind == "text" || m.MIME == "application/json" {
		resource.Text = strings.ToValidUTF8(string(data), "\uFFFD")
	} else {
		resource.Blob = data
	}
	return &mcp.EmbeddedResource{Resource: resource}
}

// progress sends a program the progress of one call, if it asked for that. While a person is asked, it says so
// at intervals, so that a program which waits for signs of life goes on waiting. take never blocks: of a program
// that reads nothing, notes are dropped. It is safe for concurrent use.
type progress struct {
	req   *mcp.CallToolRequest
	waits bool // a person is asked in the window

	mu     sync.Mutex    // guards the fields below
	notes  chan string   // what is sent, by one goroutine; nil until there is something
	asking chan struct{} // closed once the person has answered; nil while nobody is asked
	over   bool
	wg     sync.WaitGroup
}

const (
	// alive is the interval of progress while a person is asked.
	alive = 10 * time.Second
	// maxNotes limits how many notes of a call wait to be sent.
	maxNotes = 64
)

// asks is the progress of a call about which a person is asked.
const asks = "Waiting for the person to allow it in Conclave"

func (p *progress) take(ctx context.Context, e chat.Event) {
	switch e.Kind {
	case chat.EventProgress:
		p.put(ctx, e.Note)
	case chat.EventHeld:
		if p.waits {
			p.asks(ctx)
		}
	case chat.EventDecided:
		p.answered()
	}
}

// asks says that a person is asked, until answered is called.
func (p *progress) asks(ctx context.Context) {
	p.put(ctx, asks)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over || p.asking != nil {
		return
	}
	asking := make(chan struct{})
	p.asking = asking
	p.wg.Go(func() { // ends with the answer, or with the call
		tick := time.NewTicker(alive)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.put(ctx, asks)
			case <-asking:
				return
			}
		}
	})
}

func (p *progress) answered() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asking != nil {
		close(p.asking)
		p.asking = nil
	}
}

// put has a note sent.
func (p *progress) put(ctx context.Context, note string) {
	token := p.req.Params.GetProgressToken()
	if token == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		return
	}
	if p.notes == nil {
		notes := make(chan string, maxNotes)
		p.notes = notes
		p.wg.Go(func() { // ends with the call
			sent := 0.0
			for note := range notes {
				sent++
				_ = p.req.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{ // nobody may listen any longer
					ProgressToken: token, Message: note, Progress: sent,
				})
			}
		})
	}
	select {
	case p.notes <- note:
	default:
	}
}

// end sends what is left, and waits for that.
func (p *progress) end() {
	p.answered()
	p.mu.Lock()
	p.over = true
	if p.notes != nil {
		close(p.notes)
	}
	p.mu.Unlock()
	p.wg.Wait()
}
