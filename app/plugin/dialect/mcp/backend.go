package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/dialect/mcp/client"
	"conclave/app/plugin/dialect/mcp/config"
	"conclave/app/plugin/dialect/mcp/runtimes"
	"conclave/app/plugin/sandbox"
	"conclave/app/tool"
)

// longest bounds one call, however many signs of life its server gives (MC-39).
const longest = 30 * time.Minute

// A server that has just started has settle to report that its tools changed, and such reports are waited for no
// longer than most: many register some tools right after the handshake.
const (
	settle = 300 * time.Millisecond
	most   = 2 * time.Second
)

// backend is a session with a server as the backend of its plugin.
type backend struct {
	session *client.Session
	id      string // of its plugin
	server  config.Server
	key     string // of its row
	began   time.Time
	changed chan struct{} // holds a report that the tools changed, while the first listing waits for them
	to      plugin.Listener
	work    []string // files and folders that it was started to work on

	watching sync.Mutex // held while a watch begins or ends: the server hears of the first and the last

	mu      sync.Mutex // guards the fields below
	open    map[string]tool.Call
	unasked map[chat.ConversationID]int // requests to models that need no question, by chat
	watched map[string][]*watch         // by address
	current map[string]client.Tool      // as the server lists them now, by name; nil until they are listed
}

var _ plugin.Backend = (*backend)(nil)

// Adapt implements plugin.Adapter: it shakes hands with a process.
func (d *Dialect) Adapt(ctx context.Context, process sandbox.Process, src plugin.Source, m plugin.Manifest,
	to plugin.Listener,
) (plugin.Backend, error) {
	if is, err := d.awaitInstallation(ctx, src.ID, process); is {
		return nil, err
	}
	b := newBackend(src, m, to)
	b.work = d.workOf(src.ID)
	var err error
	b.session, err = client.OverStream(ctx, process.Wire(), d.options(b))
	if errors.Is(err, client.ErrStartAgain) {
		d.eras.set(b.key, client.Legacy)
		return nil, plugin.ErrStartAgain
	}
	if err != nil {
		return nil, b.unready(ctx, err)
	}
	d.met(b)
	if err := notItself(b.session); err != nil {
		return nil, err
	}
	return b, nil
}

// Connect implements plugin.Connector: it reaches a server at its address.
func (d *Dialect) Connect(ctx context.Context, src plugin.Source, m plugin.Manifest,
	start plugin.StartOptions, to plugin.Listener,
) (plugin.Backend, error) {
	s, err := d.fill(ctx, src, m, start, runtimes.Login(ctx))
	if err != nil {
		return nil, err
	}
	b := newBackend(src, m, to)
	o := d.options(b)
	o.Header = http.Header{}
	for name, value := range s.Headers {
		o.Header.Set(name, value)
	}
	switch s.Transport {
	case config.HTTP:
		o.Transport = client.HTTP
	case config.SSE:
		o.Transport = client.SSE
	}
	hc, account, err := d.clientOf(src.ID, src.Row, s)
	if err != nil {
		return nil, plugin.ProblemOf(err)
	}
	if account != nil {
		account.Mask(start.Mask)
	}
	if b.session, err = client.OverHTTP(ctx, s.URL, hc, o); err != nil {
		return nil, b.unready(ctx, err)
	}
	d.met(b)
	if err := notItself(b.session); err != nil {
		return nil, err
	}
	return b, nil
}

func newBackend(src plugin.Source, m plugin.Manifest, to plugin.Listener) *backend {
	return &backend{
		id: src.ID, server: serverOf(m), key: src.Row, began: time.Now(), changed: make(chan struct{}, 1), to: to,
		open: map[string]tool.Call{}, unasked: map[chat.ConversationID]int{}, watched: map[string][]*watch{},
	}
}

// options are those of a session for a backend.
func (d *Dialect) options(b *backend) client.Options {
	return client.Options{
		Era:    d.eras.of(b.key),
		Client: client.Implementation{Name: "conclave", Title: "Conclave", Version: d.o.Version},
		Form:   b.to.Ask != nil, URL: b.to.Ask != nil, Ask: b.ask, Sampling: b.samples(), Roots: b.roots(),
		Log: b.to.Log, Traffic: b.to.Traffic,
		ToolsChanged: func() {
			b.setCurrent(nil)
			select {
			case b.changed <- struct{}{}:
			default:
			}
			b.to.ToolsChanged()
		},
		ResourceUpdated: b.updated,
		Limits:          client.Limits{Silence: b.server.CallTimeout, Connect: later(b.server)},
	}
}

// met keeps what a server said of itself in its handshake.
func (d *Dialect) met(b *backend) {
	info := b.session.Server()
	d.eras.set(b.key, info.Era)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.also[b.id] = besidesTools(info.Capabilities)
}

// later is the time of a handshake: as long as the host waits, which counts the time of a busy computer.
func later(s config.Server) time.Duration {
	if runnerOf(s.Command) != "" {
		return installs
	}
	return max(s.StartTimeout, startTime)
}

// List implements plugin.Backend.
func (b *backend) List(ctx context.Context) (plugin.Offer, error) {
	tools, left, err := b.list(ctx)
	for err == nil && b.changesSoon(ctx) {
		tools, left, err = b.list(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return plugin.Offer{}, context.Cause(ctx)
		}
		return plugin.Offer{}, &plugin.Problem{
			Kind: "crashed", Message: "Its tools could not be listed: " + strings.TrimSuffix(err.Error(), ".") + ".",
		}
	}
	offer := plugin.Offer{}
	for _, t := range left {
		offer.Notes = append(offer.Notes, fmt.Sprintf("Its tool %s is left out: %s", t.Name, t.Reason))
	}
	for _, t := range tools {
		it := b.tool(t)
		if len(t.Output) > 0 {
			if it.Output, err = tool.Shape(t.Output); err != nil {
				b.to.Log("info", fmt.Sprintf("The output schema of %s is not handed on: %v.", t.Name, err))
			}
		}
		offer.Tools = append(offer.Tools, it)
	}
	return offer, nil
}

// list asks the server for its tools, and keeps them for calls.
func (b *backend) list(ctx context.Context) ([]client.Tool, []client.LeftOut, error) {
	tools, left, err := b.session.Tools(ctx)
	if errors.Is(err, client.ErrNotOffered) {
		tools, err = nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if b.session.Server().Capabilities.Resources && !slices.ContainsFunc(tools, isReadTool) {
		tools = append(tools, resourceTool)
	}
	if len(tools) > 0 { // what a person approves with it
		tools[0].Annotations = tool.WithGuide(tools[0].Annotations, b.session.Server().Instructions)
	}
	current := map[string]client.Tool{}
	for _, t := range tools {
		current[t.Name] = t
	}
	b.setCurrent(current)
	return tools, left, nil
}

func (b *backend) setCurrent(tools map[string]client.Tool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.current = tools
}

// approved returns a tool as the server offers it now, if that is what the person approved: a server that was started
// for a call, from a list that is older, may have other tools by now. why is for the model where it is not.
func (b *backend) approved(ctx context.Context, call tool.Call) (t client.Tool, why string, err error) {
	for {
		b.mu.Lock()
		current := b.current
		b.mu.Unlock()
		if current == nil {
			if _, _, err := b.list(ctx); err != nil {
				return client.Tool{}, "", err
			}
			continue
		}
		t, there := current[call.Tool.Name]
		same := there && (tool.Normal(b.tool(t)).Digest == call.Tool.Digest ||
			call.Tool.KeepWords && tool.SameButWords(tool.Normal(b.tool(t)), call.Tool))
		switch {
		case same:
			return t, "", nil
		case b.changesSoon(ctx):
			continue
		case ctx.Err() != nil:
			return client.Tool{}, "", context.Cause(ctx)
		}
		b.to.ToolsChanged()
		if there {
			return t, "the server changed this tool since the person approved it; they are asked about it", nil
		}
		return t, "the server no longer offers this tool", nil
	}
}

// changesSoon waits whether a server that has just started reports that its tools changed.
func (b *backend) changesSoon(ctx context.Context) bool {
	if time.Since(b.began) > most || !b.session.Server().Capabilities.ToolsChange {
		return false
	}
	timer := time.NewTimer(settle)
	defer timer.Stop()
	select {
	case <-b.changed:
		return true
	case <-timer.C:
	case <-ctx.Done():
	case <-b.session.Done():
	}
	return false
}

// tool returns a tool as the host has it.
func (b *backend) tool(t client.Tool) tool.Tool {
	it := tool.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, Parameters: t.Schema, Annotations: t.Annotations,
		Timeout: longest, Async: true, Warnings: t.Notes, Instance: b.instance(),
	}
	if hides(b.server, t.Name) {
		it.Visibility = tool.Hidden
	}
	return it
}

// instanceBreak stands between the parts of an instance.
const instanceBreak = " · "

// instance names the server for the record of each call: its own name and version, the version of the protocol, and
// what it was started or reached with.
func (b *backend) instance() string {
	info := b.session.Server()
	name := strings.Join(strings.Fields(info.Name+" "+info.ServerVersion), " ")
	return name + instanceBreak + "MCP " + info.Version + " (" + info.Era + ")" + instanceBreak + target(b.server)
}

// Done implements plugin.Backend.
func (b *backend) Done() <-chan struct{} { return b.session.Done() }

// Close implements plugin.Backend.
func (b *backend) Close() { b.session.Close() }

// Call implements plugin.Backend. When ctx ends the server learns of it, and nothing is awaited.
func (b *backend) Call(ctx context.Context, call tool.Call) (plugin.Answer, error) {
	t, why, err := b.approved(ctx, call)
	if err != nil {
		return b.lost(ctx, call, err)
	}
	if why != "" {
		return plugin.Answer{Result: tool.Result{Status: chat.CallRefused, Error: why}}, nil
	}
	c := client.Call{
		Task: t.Task, Output: t.Output,
		ID: call.ID, Tool: call.Tool.Name, Arguments: call.Arguments, ReadOnly: readOnly(call.Tool.Annotations),
		Silence: b.server.CallTimeout, Longest: min(longest, time.Until(call.Deadline)),
	}
	if call.Progress != nil {
		c.Progress = func(p client.Progress) { call.Progress(progressText(p)) }
		c.Running = func(t client.Task) { call.Progress(taskText(t)) }
	}
	defer b.begin(call)()
	var result client.Result
	if t.Description == resourceTool.Description {
		result, err = b.read(ctx, addressOf(call.Arguments))
	} else {
		result, err = b.session.Call(ctx, c)
	}
	if err != nil {
		return b.lost(ctx, call, err)
	}
	r := answer(result)
	return plugin.Answer{Result: r, Refused: b.refused(r)}, nil
}

// lost returns what became of a call without a result.
func (b *backend) lost(ctx context.Context, call tool.Call, err error) (plugin.Answer, error) {
	switch {
	case ctx.Err() != nil:
		return plugin.Answer{Result: tool.Result{Status: chat.CallCancelled, Error: "stopped"}}, nil
	case errors.Is(err, client.ErrTimeout):
		return plugin.Answer{Alone: true, Result: tool.Result{
			Status: chat.CallTimeout, Error: call.Tool.Name + " gave no sign of life for too long and was stopped",
		}}, nil
	case errors.Is(err, client.ErrUnknown) && !b.ended():
		return plugin.Answer{Result: tool.Result{
			Status: chat.CallUnknown, Error: "the connection to the server broke, and nobody knows whether the call happened",
		}}, nil
	case errors.Is(err, client.ErrNotSent) && b.server.Remote() && noWay(err):
		message, hint := unreached(host(b.server), err)
		return plugin.Answer{Result: tool.Result{Status: chat.CallRaised, Error: message + " " + hint}}, nil
	case errors.Is(err, client.ErrNotSent):
		return plugin.Answer{}, plugin.ErrNotSent
	case errors.Is(err, client.ErrEnded), errors.Is(err, client.ErrClosed), errors.Is(err, client.ErrUnknown):
		return plugin.Answer{}, plugin.ErrEnded
	}
	return plugin.Answer{}, err
}

// ended reports whether the session is over; the host then says why.
func (b *backend) ended() bool {
	select {
	case <-b.session.Done():
		return true
	default:
		return false
	}
}

// progressText is a sign of life for a person.
func progressText(p client.Progress) string {
	text := p.Message
	if p.Total > 0 {
		share := fmt.Sprintf("%g of %g", p.Done, p.Total)
		if text == "" {
			return share
		}
		return text + " (" + share + ")"
	}
	if text == "" {
		return fmt.Sprintf("%g", p.Done)
	}
	return text
}

func taskText(t client.Task) string {
	if t.Message != "" {
		return t.Message
	}
	return "running elsewhere: " + t.Status
}
