package host

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/plugin/wire"
)

// hookKinds describes which permissions let each kind of hook work on a prompt, one of
// them being enough, and its limits. A macro puts text into what the person
// writes, so it needs what an interceptor needs, or a separate permission.
var hookKinds = map[string]struct {
	permissions          []string
	timeout, least, most time.Duration
}{
	"interceptor":     {[]string{"interceptor"}, 10 * time.Second, time.Second, 300 * time.Second},
	"context_handler": {[]string{"context_handler"}, 10 * time.Second, time.Second, 120 * time.Second},
	"macro":           {[]string{"macros", "interceptor"}, 5 * time.Second, 5 * time.Second, 5 * time.Second},
}

// Bounds of what one process may register.
const (
	maxHooks  = 256
	maxEvents = 256
	maxName   = 128
	maxData   = 64 << 10
)

// hookEvent asks a process to run one of its hooks; its answer comes as
// hooks.answer. It is Conclave's own and cannot be subscribed to:
//
//	{"id":"3","kind":"macro","name":"weather","payload":{…},"deadline_ms":1700000000000}
const hookEvent = "conclave.hook"

// registrations holds the hooks and events that one process has registered, and its
// open requests.
type registrations struct {
	transport atomic.Pointer[wire.Transport] // nil until the handshake is over
	touched   atomic.Bool                    // it was sent something since it was last done

	mu      sync.Mutex // guards the fields below
	hooks   map[string]plugin.Hook
	listens map[string]bool
	asked   map[string]chan hookAnswer
	calls   map[string]chat.ConversationID // of calls and hooks that are open
	next    uint64
}

func newRegistrations() *registrations {
	return &registrations{
		hooks: map[string]plugin.Hook{}, listens: map[string]bool{}, asked: map[string]chan hookAnswer{},
		calls: map[string]chat.ConversationID{},
	}
}

type hookAnswer struct {
	value json.RawMessage
	err   error
}

// hookOrder numbers registrations.
var hookOrder atomic.Uint64

type hookArgs struct {
	Kind      string          `json:"kind"`
	Name      string          `json:"name"`
	Priority  int             `json:"priority"`
	TimeoutMS int64           `json:"timeout_ms"`
	Data      json.RawMessage `json:"data"`
	ID        string          `json:"id"`
	Value     json.RawMessage `json:"value"`
	Error     *string         `json:"error"`
}

func (s *session) register(service string, a hookArgs) error {
	f := s.surface
	f.mu.Lock()
	defer f.mu.Unlock()
	key := hookKey(a.Kind, a.Name)
	switch service {
	case "hooks.register":
		kind, known := hookKinds[a.Kind]
		switch {
		case !known:
			return hostError("unavailable", "Conclave has no hook of the kind "+a.Kind+".")
		case len(a.Name) > maxName || len(a.Data) > maxData:
			return hostError("invalid", fmt.Sprintf("A hook has a name of at most %d bytes and at most %d KB of data.",
				maxName, maxData>>10))
		}
		old, again := f.hooks[key]
		if !again && len(f.hooks) >= maxHooks {
			return hostError("invalid", fmt.Sprintf("A plugin may register %d hooks.", maxHooks))
		}
		hook := plugin.Hook{
			Plugin: s.r.e.id, Title: s.r.version().manifest.Name, Kind: a.Kind, Name: a.Name,
			Priority: a.Priority, Timeout: kind.timeout, Data: a.Data, Order: old.Order,
		}
		if a.TimeoutMS > 0 {
			hook.Timeout = min(max(time.Duration(a.TimeoutMS)*time.Millisecond, kind.least), kind.most)
		}
		if !again {
			hook.Order = hookOrder.Add(1)
		}
		f.hooks[key] = hook
	case "hooks.unregister":
		delete(f.hooks, key)
	case "events.subscribe":
		if len(a.Name) > maxName || len(f.listens) >= maxEvents && !f.listens[a.Name] {
			return hostError("invalid", fmt.Sprintf("A plugin may listen to %d events with names of at most %d bytes.",
				maxEvents, maxName))
		}
		f.listens[a.Name] = true
	case "events.unsubscribe":
		delete(f.listens, a.Name)
	case "hooks.answer":
		answer := hookAnswer{value: a.Value}
		if a.Error != nil {
			answer.err = errors.New(*a.Error)
		}
		if waiting := f.asked[a.ID]; waiting != nil { // else nobody waits any more
			delete(f.asked, a.ID)
			waiting <- answer
		}
		return nil
	}
	if f.transport.Load() != nil { // else it is loading, and noted as a whole once it has
		s.r.h.tasks.spawn(func() { s.r.e.memory.storeReasons(s) }) // a write to the store
	}
	return nil
}

// sendEvent sends the process an event of Conclave.
func (s *session) sendEvent(event string, payload any) error {
	t := s.surface.transport.Load()
	if t == nil {
		return wire.ErrBusy // it is still loading
	}
	return t.Notify(event, payload)
}

// opened notes that a call or hook is open in a conversation, until the caller calls
// over.
func (f *registrations) opened(id string, in chat.ConversationID) (over func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls[id] = in
	return func() {
		f.mu.Lock()
		delete(f.calls, id)
		f.mu.Unlock()
	}
}

// openCalls returns the ids of the calls and hooks that are open.
func (f *registrations) openCalls() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.calls))
}

// conversation is that of the call on whose behalf the process asks. One that
// does not say which, as in a hook, acts in the only one there is.
func (f *registrations) conversation(call string) chat.ConversationID {
	f.mu.Lock()
	defer f.mu.Unlock()
	if call != "" {
		return f.calls[call]
	}
	only := chat.ConversationID("")
	for _, c := range f.calls {
		if only != "" && c != only {
			return ""
		}
		only = c
	}
	return only
}

// reasons returns the reasons for which the process must run, sorted: "hook macro",
// "event MESSAGE_SENT".
func (f *registrations) reasons() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]bool{}
	for _, hook := range f.hooks {
		all["hook "+hook.Kind] = true
	}
	for event := range f.listens {
		all["event "+event] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// storeReasons stores the reasons for which the serving process must run, so that the
// host starts it for them the next time (docs/WIRE.md, section 5).
func (m *memory) storeReasons(s *session) {
	m.e.mu.Lock()
	serves := m.e.serving == s.r && m.known
	if serves {
		m.e.record.Wakes = s.surface.reasons()
	}
	m.e.mu.Unlock()
	if serves && !m.e.temporary {
		m.save()
	}
}

// reasons returns the reasons of the serving runner's live session, or the stored
// ones when none runs.
func (l life) reasons() []string {
	if l.serving != nil {
		if s := l.serving.current(); s != nil {
			return s.surface.reasons()
		}
	}
	return l.record.Wakes
}

// Hooks are the functions of running plugins that Conclave calls during a turn, and the events that it
// sends them. Its methods are safe for concurrent use.
type Hooks struct{ h *Host }

func (k *Hooks) granted(id, permission string) bool {
	granted, _ := k.h.o.Gate.Reach.Permissions(id)
	return slices.Contains(granted, permission)
}

// allowed reports whether a plugin's hooks of a kind may work on a prompt.
func (k *Hooks) allowed(id, kind string) bool {
	return slices.ContainsFunc(hookKinds[kind].permissions, func(p string) bool { return k.granted(id, p) })
}

// Kind returns the hooks of a kind that may run now, in the order they run in. It
// starts a plugin first that is not running and had such a hook when it last ran.
// asker is the plugin whose own text they are for, empty for a prompt: its own hooks
// need no permission.
func (k *Hooks) Kind(ctx context.Context, kind, asker string) []plugin.Hook {
	var all []plugin.Hook
	for _, s := range k.sessionsFor(ctx, "hook "+kind) {
		own := asker != "" && asker == s.r.e.id
		if !own && !k.allowed(s.r.e.id, kind) {
			continue
		}
		s.surface.mu.Lock()
		for _, hook := range s.surface.hooks {
			if hook.Kind == kind {
				hook.Own = own
				all = append(all, hook)
			}
		}
		s.surface.mu.Unlock()
	}
	slices.SortFunc(all, func(a, b plugin.Hook) int {
		return cmp.Or(cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.Order, b.Order))
	})
	return all
}

// errLate is that of a hook that took longer than it may, errMissing of one whose
// permission was taken back.
var (
	errLate    error = lateError{}
	errMissing       = errors.New("it has no permission for that")
)

// lateError is of a hook that took longer than it may.
type lateError struct{}

// Error implements error.
func (lateError) Error() string { return "it took too long" }

// Is reports a passed deadline, for those who do not know the host.
func (lateError) Is(other error) bool { return other == context.DeadlineExceeded }

// Run has a hook's process run it and returns its answer. in is the conversation
// it runs for, or empty. The error is a sentence: the hook threw, took too
// long, or its process ended. A late answer is dropped.
func (k *Hooks) Run(ctx context.Context, hook plugin.Hook, in chat.ConversationID,
	payload any,
) (json.RawMessage, error) {
	if !hook.Own && !k.allowed(hook.Plugin, hook.Kind) {
		return nil, errMissing
	}
	s := k.registrant(hook)
	if s == nil || !s.r.acquire(s) {
		return nil, errors.New("its process has ended")
	}
	defer s.r.release(s)
	ctx, cancel := context.WithTimeoutCause(ctx, hook.Timeout, errLate)
	defer cancel()
	return s.request(ctx, hookEvent, in, map[string]any{"kind": hook.Kind, "name": hook.Name, "payload": payload})
}

// Authors returns who wrote what a hook's process was given of what plugins share.
func (k *Hooks) Authors(hook plugin.Hook) []chat.Author {
	var all []chat.Author
	if s := k.registrant(hook); s != nil {
		all = s.r.e.memory.authors()
	}
	if e := k.h.entry(hook.Plugin); e != nil { // its process may have ended since it answered
		all = chat.AddAuthors(all, e.memory.authors()...)
	}
	return all
}

// WriteLog adds a line to the log of a plugin, as Host.WriteLog does.
func (k *Hooks) WriteLog(id, level, text string) { k.h.WriteLog(id, level, text) }

// registrant returns the session that registered the hook, or nil.
func (k *Hooks) registrant(hook plugin.Hook) *session {
	for _, s := range k.h.processes.all() {
		if s.surface.registered(hook) {
			return s
		}
	}
	return nil
}

// registered reports whether the process registered this hook and none since in
// its place.
func (f *registrations) registered(hook plugin.Hook) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.hooks[hookKey(hook.Kind, hook.Name)].Order == hook.Order
}

// hookKey is the key of a hook among those of its process.
func hookKey(kind, name string) string { return kind + " " + name }

// request sends the process an event that it answers with hooks.answer; about gets an
// id and ctx's deadline. The error is the process's own, that it ended, or the cause
// of ctx's end.
func (s *session) request(ctx context.Context, event string, in chat.ConversationID,
	about map[string]any,
) (json.RawMessage, error) {
	f := s.surface
	answer := make(chan hookAnswer, 1)
	f.mu.Lock()
	f.next++
	id := "hook-" + strconv.FormatUint(f.next, 10)
	f.asked[id] = answer
	f.mu.Unlock()
	defer func() {
		f.mu.Lock()
		delete(f.asked, id)
		f.mu.Unlock()
	}()
	defer f.opened(id, in)()
	about["id"] = id
	if deadline, ok := ctx.Deadline(); ok {
		about["deadline_ms"] = deadline.UnixMilli()
	}
	f.touched.Store(true)
	if err := s.sendEvent(event, about); err != nil {
		return nil, err
	}
	select {
	case a := <-answer:
		return a.value, a.err
	case <-s.over:
		return nil, errors.New("its process ended")
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// acquire takes a use of s, unless s must not be used again; release gives it back.
func (r *runner) acquire(s *session) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s.spent || r.live != s {
		return false
	}
	s.uses++
	return true
}

// WriteLog writes a line to a plugin's log, for failures outside of its process.
func (h *Host) WriteLog(id, level, text string) {
	if e := h.entry(id); e != nil {
		e.logs(level, text)
	}
}
