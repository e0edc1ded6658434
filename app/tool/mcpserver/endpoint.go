package mcpserver

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"conclave/app/gate"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Choices narrow what one endpoint offers, and decide who answers its questions.
type Choices struct {
	// Only are the ids of the tools that are offered of those that the person chose; none: all of them.
	Only []string
	// Asker answers what the gate asks about the calls; nil leaves it to the window.
	Asker gate.Asker
}

// endpoint is one way in: a pair of standard streams, or an HTTP port.
type endpoint struct {
	s       *Server
	choices Choices
	servers []*toolServer
	who     func(*mcp.CallToolRequest) string // returns the program that calls

	// sessions returns how many sessions each program has open.
	sessions func() map[string]int
	shut     func(program string) // ends the sessions of a program, or with "" all

	updating sync.Mutex // guards the servers

	mu    sync.Mutex // guards what follows
	calls map[*running]struct{}
	over  bool
	wg    sync.WaitGroup // of the calls
}

// running is a call under way.
type running struct {
	program, session string
	cancel           context.CancelCauseFunc
}

// Why a call was stopped that its program did not cancel.
var (
	errRemoved = errors.New("the person removed the program that called")
	errClosing = errors.New("Conclave closes; call again once it is open")
	errEnded   = errors.New("its session ended")
)

// offer brings the servers in line with what is offered now.
func (d *endpoint) offer(offers []offer) {
	if len(d.choices.Only) > 0 {
		offers = slices.DeleteFunc(slices.Clone(offers), func(o offer) bool {
			return !slices.Contains(d.choices.Only, o.id)
		})
	}
	d.updating.Lock()
	defer d.updating.Unlock()
	for _, f := range d.servers {
		for _, problem := range f.update(offers, d.handler) {
			d.s.o.Log.Warn("a tool cannot be offered to other programs", "err", problem)
		}
	}
}

// begin returns the context of a call, which ends when its program is removed or the endpoint closes. over is
// called when the call has ended.
func (d *endpoint) begin(ctx context.Context, program, session string) (_ context.Context, over func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	r := &running{program, session, cancel}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.over {
		cancel(errClosing)
		return ctx, func() {}
	}
	d.calls[r] = struct{}{}
	d.wg.Add(1)
	return ctx, func() {
		cancel(nil)
		d.mu.Lock()
		delete(d.calls, r)
		d.mu.Unlock()
		d.wg.Done()
	}
}

// stop stops the calls that which is true for.
func (d *endpoint) stop(why error, which func(*running) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for r := range d.calls {
		if which(r) {
			r.cancel(why)
		}
	}
}

// end ends the sessions and the calls of a program.
func (d *endpoint) end(program string) {
	d.stop(errRemoved, func(r *running) bool { return r.program == program })
	d.shut(program)
}

// count adds the sessions that are open to all, by program.
func (d *endpoint) count(all map[string]int) {
	for program, n := range d.sessions() {
		all[program] += n
	}
}

// ending is the time that stopped calls have to answer before their sessions end.
const ending = 2 * time.Second

// checkEvery is the pause between two checks for requests without an answer.
const checkEvery = 50 * time.Millisecond

// close stops all calls, lets them answer, and ends all sessions.
func (d *endpoint) close() {
	d.mu.Lock()
	d.over = true
	d.mu.Unlock()
	d.stop(errClosing, func(*running) bool { return true })
	answered := make(chan struct{})
	go func() { // ends with the calls, which were stopped
		d.wg.Wait()
		close(answered)
	}()
	select {
	case <-answered:
	case <-time.After(ending):
	}
	d.shut("")
	d.s.leave(d)
}
