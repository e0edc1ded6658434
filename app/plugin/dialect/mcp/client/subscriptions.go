package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Pauses before a stream is opened again.
const (
	minPause = time.Second
	maxPause = 5 * time.Minute
	// steady is the age of a stream after which the pauses begin with minPause again.
	steady = 30 * time.Second
)

// maxSubscriptions bounds the resources that a session watches.
const maxSubscriptions = 100

var errEndedByServer = errors.New("the server ended the subscription")

// backoff returns ever longer pauses.
type backoff struct{ last time.Duration }

// next returns the next pause, with up to a half more so that many clients do not come at once.
func (b *backoff) next() time.Duration {
	b.last = min(max(2*b.last, minPause), maxPause)
	return b.last + rand.N(b.last/2)
}

func (b *backoff) reset() { b.last = 0 }

// subscriptions are the resources that are watched.
type subscriptions struct {
	mu   sync.Mutex // guards stop
	stop map[string]context.CancelFunc
}

// filter names what a subscription reports.
type filter struct {
	Tools     bool     `json:"toolsListChanged,omitempty"`
	Prompts   bool     `json:"promptsListChanged,omitempty"`
	Resources bool     `json:"resourcesListChanged,omitempty"`
	URIs      []string `json:"resourceSubscriptions,omitempty"`
}

func (f filter) empty() bool { return !f.Tools && !f.Prompts && !f.Resources && len(f.URIs) == 0 }

// lists returns the lists that f reports changes of.
func (f filter) lists() int {
	lists := 0
	if f.Tools {
		lists |= toolsChanged
	}
	if f.Resources {
		lists |= resourcesChanged
	}
	if f.Prompts {
		lists |= promptsChanged
	}
	return lists
}

// listenForChanges subscribes to the lists of a modern server whose changes somebody wants.
func (s *Session) listenForChanges() {
	c := s.speaks().Capabilities
	f := filter{
		Tools:     c.ToolsChange && s.o.ToolsChanged != nil,
		Prompts:   c.PromptsChange && s.o.PromptsChanged != nil,
		Resources: c.ResourcesChange && s.o.ResourcesChanged != nil,
	}
	if !f.empty() {
		s.work.start(func() { s.listen(s.ctx, f, func(error) {}) }) // ends with the session
	}
}

// listen keeps a subscription open until ctx ends or the server honours no part of it. opened is called
// when it is acknowledged the first time, or with why it never was.
func (s *Session) listen(ctx context.Context, f filter, opened func(error)) {
	var pauses backoff
	once := sync.OnceFunc(func() { opened(nil) })
	for first := true; ctx.Err() == nil && s.Err() == nil; first = false {
		began := time.Now()
		l := &listener{s: s, wanted: f, again: !first, acknowledged: once}
		err := l.run(ctx)
		if ctx.Err() != nil || l.honoured && l.granted.empty() {
			return
		}
		if !l.honoured && refusesForGood(err) {
			s.logf("info", "the server reports no changes: %v", err)
			opened(err)
			return
		}
		if time.Since(began) > steady {
			pauses.reset()
		}
		if pause(ctx, pauses.next()) != nil {
			return
		}
	}
}

// refusesForGood reports whether a server that answers a subscription with err has none.
func refusesForGood(err error) bool {
	e, ok := errors.AsType[*RefusedError](err)
	return rpcError(err) != nil || ok && e.Status < 500 && e.Status != http.StatusTooManyRequests
}

// listener is one run of a subscription.
type listener struct {
	s            *Session
	wanted       filter
	again        bool
	acknowledged func()
	// These belong to the reader of the stream until run returns.
	honoured bool
	granted  filter
}

func (l *listener) run(ctx context.Context) error {
	_, err := l.s.request(ctx, sending{
		method: "subscriptions/listen", params: map[string]any{"notifications": l.wanted}, notified: l.notified,
	})
	return err
}

// notified takes a notification of the subscription.
func (l *listener) notified(m *jsonrpc.Request) {
	if m.Method != "notifications/subscriptions/acknowledged" {
		if l.honoured {
			inbox{l.s}.changed(m)
		}
		return
	}
	var p struct {
		Granted filter `json:"notifications"`
	}
	if json.Unmarshal(m.Params, &p) != nil || l.honoured {
		return
	}
	l.honoured, l.granted = true, p.Granted
	if missing := l.wanted.lists() &^ l.granted.lists(); missing != 0 || len(l.granted.URIs) < len(l.wanted.URIs) {
		l.s.logf("info", "the server reports not all changes that it was asked for")
	}
	l.acknowledged()
	if l.again { // what happened meanwhile was not reported
		l.s.changes.note(l.granted.lists(), "")
		for _, uri := range l.granted.URIs {
			l.s.changes.note(0, uri)
		}
	}
}

// subscribed takes a notification of a modern server: one that names an open subscription.
func (s inbox) subscribed(m *jsonrpc.Request) {
	var p struct {
		Meta struct {
			Subscription any `json:"io.modelcontextprotocol/subscriptionId"`
		} `json:"_meta"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return
	}
	id, err := jsonrpc.MakeID(p.Meta.Subscription)
	if err != nil || !id.IsValid() {
		return
	}
	if e, _ := s.open.find(id); e != nil && e.notified != nil {
		e.notified(m)
	}
}

// Subscribe asks for Options.ResourceUpdated when a resource changes. The error is ErrNotOffered where the
// server reports no changes of resources.
func (s *Session) Subscribe(ctx context.Context, uri string) error {
	speaks := s.speaks()
	if !speaks.Capabilities.Subscribe {
		return ErrNotOffered
	}
	if !speaks.has(listenStream) {
		_, err := s.bounded(ctx, "resources/subscribe", map[string]any{"uri": uri})
		return err
	}
	watching, stop := context.WithCancel(s.ctx)
	if err := s.listening.add(uri, stop); err != nil {
		stop()
		if errors.Is(err, errWatched) {
			return nil
		}
		return err
	}
	ctx, done := context.WithTimeoutCause(ctx, s.o.Limits.Request, fmt.Errorf("%w: it did not begin to watch", ErrTimeout))
	defer done()
	opened := make(chan error, 1)
	first := func(err error) {
		select {
		case opened <- err:
		default: // nobody waits any longer
		}
	}
	started := s.work.start(func() { // ends with Unsubscribe, or the session
		defer s.listening.remove(uri)
		s.listen(watching, filter{URIs: []string{uri}}, first)
		first(errEndedByServer)
	})
	if !started {
		return ErrClosed
	}
	select {
	case err := <-opened:
		return err
	case <-ctx.Done():
		s.listening.remove(uri)
		return context.Cause(ctx)
	case <-s.Done():
		return s.Err()
	}
}

var errWatched = errors.New("the resource is watched already")

func (w *subscriptions) add(uri string, stop context.CancelFunc) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stop[uri] != nil {
		return errWatched
	}
	if len(w.stop) >= maxSubscriptions {
		return fmt.Errorf("at most %d resources of a server can be watched", maxSubscriptions)
	}
	if w.stop == nil {
		w.stop = map[string]context.CancelFunc{}
	}
	w.stop[uri] = stop
	return nil
}

func (w *subscriptions) remove(uri string) {
	w.mu.Lock()
	stop := w.stop[uri]
	delete(w.stop, uri)
	w.mu.Unlock()
	if stop != nil {
		stop()
	}
}

// Unsubscribe ends what Subscribe began.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error {
	if s.speaks().has(listenStream) {
		s.listening.remove(uri)
		return nil
	}
	_, err := s.bounded(ctx, "resources/unsubscribe", map[string]any{"uri": uri})
	return err
}
