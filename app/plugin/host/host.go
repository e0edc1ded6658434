package host

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/watch"
	"conclave/app/tool"
)

// Store keeps what the host knows of a plugin between runs; package store is the real
// one. Records are opaque JSON. A missing record is nil without error.
type Store interface {
	PluginCache(ctx context.Context, id string) (json.RawMessage, error)
	PutPluginCache(ctx context.Context, id string, record json.RawMessage) error
	DeletePluginCache(ctx context.Context, id string) error
	PluginState(ctx context.Context, id string) (json.RawMessage, error)
	PutPluginState(ctx context.Context, id string, state json.RawMessage) error
}

// Chats reads conversations for plugins; a nil field answers with nothing.
type Chats struct {
	Active func(ctx context.Context) (*chat.Conversation, error)
}

// Network is the way out of plugins' processes; app/net/egress is the real one.
type Network interface {
	// Admit lets a process of a plugin connect, until pass is closed.
	Admit(plugin string) (proxy plugin.Proxy, pass func(), err error)
	// Recheck ends the connections that are open and no longer allowed.
	Recheck()
}

// Options configure a Host. All fields are required unless marked.
type Options struct {
	Dir      string           // the plugins folder; may not exist yet
	Data     string           // Conclave's data folder
	Work     string           // the working folder of plugins; optional: the data folder
	Dialects []plugin.Dialect // asked in order
	Launcher sandbox.Launcher
	Registry *tool.Registry
	Gate     *gate.Gate
	Store    Store
	Chats    Chats                     // optional
	Services map[string]plugin.Service // by name; optional
	Secrets  Secrets                   // keeps the secret settings of plugins; optional
	Bus      *bus.Bus                  // optional
	Log      *slog.Logger
	// Parallel bounds how many plugins load at once; 0 means 4.
	Parallel int
	// LoadTimeout is how long a plugin may take from its start to a listed tool
	// set; 0 means LoadTimeout.
	LoadTimeout time.Duration
	// Network is the way out of processes that may use the network; optional: without
	// it, they connect nowhere.
	Network Network
	// Own reports addresses that are for Conclave itself, on which no plugin may listen; nil knows none.
	Own func(netip.AddrPort) bool
	// Opening is called before a file is opened that Conclave opens for a plugin to write, with
	// the folder or file that this was allowed for; where it fails the file is not opened. Optional.
	Opening func(ctx context.Context, plugin, path string) error
	// Expected reports whether the folder is known to hold plugins, so that one that is not there is
	// a fault, and not empty; optional.
	Expected func() bool
	// Hooking are the permissions that hooks need at their points.
	Hooking []string
	// Environments finds and installs packages; optional: without it, a package
	// that is missing is a failure like others.
	Environments Environments
}

// Host keeps the plugins of one folder, and those that register (SetRegistered). Use New, then
// Scan or Watch, then Close. Its methods are safe for concurrent use.
//
// Goroutines: one follows permissions (followPermissions); each entry has at most one that
// loads (entry.run) and one that lists again (runner.listAgain); each running
// process has one that waits for it (session.watch). Close ends all of them, and
// waits.
type Host struct {
	// Ports are those on which processes of plugins listen.
	Ports sandbox.PortsByPlugin

	o      Options
	ctx    context.Context // ends with Close; loads derive from it
	cancel context.CancelCauseFunc
	slots  chan struct{} // bounds parallel loads
	spare  chan struct{} // bounds those of plugins that nobody decided about
	wg     sync.WaitGroup

	scanning sync.Mutex // orders scans of the folder: none is put over what a later one found

	mu        sync.Mutex // guards the fields below
	entries   map[string]*entry
	folder    *fault.Error // why the folder cannot be read, or nil
	read      bool         // the folder was read once
	listeners map[chan plugin.Update]struct{}
	sessions  map[*session]struct{} // of every version, serving or retired
	// identities holds who has which name that no two plugins share (identity.go).
	identities map[string]*entry
	closed     bool
	working    map[string][]*work // the calls under way, by plugin, oldest first
	inFlight   inFlight           // the loads of all plugins
}

// New returns a host without plugins; Scan or Watch reads them.
func New(o Options) *Host {
	if o.Parallel == 0 {
		o.Parallel = 4
	}
	if o.Work == "" {
		o.Work = o.Data
	}
	if o.Bus == nil {
		o.Bus = bus.New()
	}
	if o.LoadTimeout == 0 {
		o.LoadTimeout = LoadTimeout
	}
	h := &Host{
		o: o, slots: make(chan struct{}, o.Parallel), spare: make(chan struct{}, max(1, o.Parallel/2)),
		entries: map[string]*entry{}, identities: map[string]*entry{},
		listeners: map[chan plugin.Update]struct{}{},
		sessions:  map[*session]struct{}{}, working: map[string][]*work{},
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background()) // its own: Close ends it
	o.Gate.Questions.OnAsking(h.asking)
	news := o.Bus.Subscribe(bus.Permissions)
	h.wg.Go(func() { h.followPermissions(news) }) // ends with Close
	return h
}

// Scan reads the folder once and starts loading what is new or changed. It does not
// wait for the loads; WaitIdle does. The error is a fault about the folder itself.
func (h *Host) Scan() error { return h.scan(nil) }

// scan compares the folder with the entries; names limits which existing ones
// are looked at again (nil: all).
func (h *Host) scan(names []string) error {
	h.scanning.Lock()
	defer h.scanning.Unlock()
	sources, err := sourcesOf(h.o.Dir, h.Endings(), h.incumbent)
	if err == nil && len(sources) == 0 {
		err = h.Away()
	}
	h.mu.Lock()
	was := h.folder
	if err != nil {
		h.folder = fault.Of(err)
	} else {
		h.folder = nil
	}
	if now := h.folder; now != nil && !h.closed && (was == nil || was.Message != now.Message) {
		h.mu.Unlock()
		h.announce(plugin.Update{
			State:   plugin.Failed,
			Problem: &plugin.Problem{Kind: "unavailable", Message: now.Message, Hint: now.Hint}, Tools: []string{},
		})
		return err
	}
	if err != nil || h.closed {
		h.mu.Unlock()
		h.o.Bus.Changed(bus.Plugins, "")
		return err
	}
	h.read = true
	h.mu.Unlock()
	h.take(fromFolder, sources, func(e *entry) bool { return names == nil || e.concerns(names) })
	return nil
}

// Away returns why a plugins folder that is not there should be: a fault of kind unavailable. It is nil
// where the folder is there, or held no plugins.
func (h *Host) Away() error {
	if _, err := os.Stat(h.o.Dir); !errors.Is(err, fs.ErrNotExist) || h.o.Expected == nil || !h.o.Expected() {
		return nil
	}
	return fault.New(fault.Unavailable, "plugin.sources", "The plugins folder "+h.o.Dir+" is not there.",
		"Bring it back, for example by mounting its disk, name the right one with --plugins, or make an empty one.")
}

// incumbent returns the name of the file or folder that last served under an id;
// empty when nothing did.
func (h *Host) incumbent(id string) string {
	rec, err := readJSON[record](context.Background(), h.o.Store.PluginCache, id)
	if err != nil || rec.Good == nil {
		return ""
	}
	return rec.Good.Base
}

// Watch scans, then follows the folder until ctx ends, whose cause it returns.
// Plugins that hung are tried again when they have rested.
func (h *Host) Watch(ctx context.Context) error {
	if err := h.Scan(); err != nil {
		h.o.Log.Warn("the plugins folder cannot be read", "err", err)
	}
	var retrying sync.WaitGroup
	over, stop := context.WithCancel(ctx)
	retrying.Go(func() { h.retryHungLoads(over) }) // ends with over
	defer retrying.Wait()
	defer stop()
	return watch.Run(ctx, h.o.Dir, watch.Options{
		Ignore: plugin.NotSource,
		Log:    h.o.Log,
		OnState: func(state error) {
			_ = h.scan(nil) // the state it finds is kept and shown
		},
	}, func(changed []string) { _ = h.scan(changed) })
}

// WaitIdle waits until no plugin is loading, or for ctx's end, whose cause it returns.
func (h *Host) WaitIdle(ctx context.Context) error {
	return h.wait(ctx, &h.inFlight)
}

// WaitLoaded waits until the named plugins are not loading; names are as in Find. It
// waits for all plugins when there is no name, or one names no plugin. The error is
// the cause of ctx's end.
func (h *Host) WaitLoaded(ctx context.Context, names ...string) error {
	if len(names) == 0 {
		return h.WaitIdle(ctx)
	}
	for _, name := range names {
		id, err := h.Find(name)
		e := h.entry(id)
		if err != nil || e == nil {
			return h.WaitIdle(ctx)
		}
		if err := h.wait(ctx, &e.inFlight); err != nil {
			return err
		}
	}
	return nil
}

// fewNew is how many plugins that nobody decided about a chat waits for.
const fewNew = 8

// WaitOffered waits until the plugins whose tools and hooks a chat may have are not
// loading. New plugins, which have neither before a person approved them, are waited for
// only where they are few, so that the person is asked about them. The error is the cause
// of ctx's end.
func (h *Host) WaitOffered(ctx context.Context) error {
	h.mu.Lock()
	var decided, fresh []*entry
	for _, e := range h.entries {
		switch {
		case e.inFlight.busy == 0:
		case e.decidedAbout():
			decided = append(decided, e)
		default:
			fresh = append(fresh, e)
		}
	}
	h.mu.Unlock()
	if len(fresh) <= fewNew {
		return h.WaitIdle(ctx)
	}
	for _, e := range decided {
		if err := h.wait(ctx, &e.inFlight); err != nil {
			return err
		}
	}
	return nil
}

// decidedAbout reports whether the person decided about the plugin once, or named it for
// this run.
func (e *entry) decidedAbout() bool { return e.temporary || e.h.o.Gate.Approvals.Decided(e.id) }

// inFlight counts the loads under way, of one plugin or of all. Host.mu guards it.
type inFlight struct {
	busy  int
	quiet chan struct{} // closed whenever busy becomes 0
}

func (a *inFlight) began() {
	if a.busy == 0 {
		a.quiet = make(chan struct{})
	}
	a.busy++
}

func (a *inFlight) ended() {
	if a.busy--; a.busy == 0 {
		close(a.quiet)
	}
}

// wait waits until nothing is under way, or for ctx's end.
func (h *Host) wait(ctx context.Context, a *inFlight) error {
	for {
		h.mu.Lock()
		now := *a
		h.mu.Unlock()
		if now.busy == 0 {
			return nil
		}
		select {
		case <-now.quiet:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// began counts a load of e, or reports false when the host is closed.
func (h *Host) began(e *entry) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.inFlight.began()
	e.inFlight.began()
	h.wg.Add(1)
	return true
}

func (h *Host) ended(e *entry) {
	h.mu.Lock()
	e.inFlight.ended()
	h.inFlight.ended()
	h.mu.Unlock()
	h.wg.Done()
}

// ApprovalChanged tells the host that a person decided about a plugin; the host loads
// it again if that matters.
func (h *Host) ApprovalChanged(id string) {
	if e := h.entry(id); e != nil {
		e.reloadDecided()
	}
}

func (h *Host) entry(id string) *entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.entries[id]
}

// Find returns the plugin's id for what a person wrote: an id, or a path of a
// plugin in the folder. Kind not_found names what there is.
func (h *Host) Find(name string) (string, error) {
	if h.Known(name) {
		return name, nil
	}
	if id := h.at(name); id != "" {
		return id, nil
	}
	for _, link := range h.LinksOut() {
		if link.Name == name || plugin.IDOf(link.Name, filepath.Ext(link.Name) == "") == name {
			return "", fault.New(fault.NotFound, "plugin.find", link.Sentence()+".", link.Hint())
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return "", h.unknown(name)
}

// at returns the plugin whose files lie at a path, or at a name in the plugins folder.
func (h *Host) at(name string) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, e := range h.entries {
		if path := e.path(); filepath.Base(path) == name || path == name {
			return id
		}
	}
	return ""
}

// LinksOut returns the links of the plugins folder that are not followed.
func (h *Host) LinksOut() []LinkOut { return LinksOut(h.o.Dir, h.Endings()) }

// known returns the plugin with an id. Kind not_found names what there is.
func (h *Host) known(id string) (*entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[id]; e != nil {
		return e, nil
	}
	return nil, h.unknown(id)
}

// unknown says which plugins there are. The caller holds mu.
func (h *Host) unknown(name string) error {
	ids := slices.Sorted(maps.Keys(h.entries))
	if h.folder != nil && !h.read {
		return h.folder
	}
	hint := "The plugins folder " + h.o.Dir + " holds none."
	if len(ids) > 0 {
		hint = "There are: " + strings.Join(ids, ", ") + "."
	}
	return fault.New(fault.NotFound, "plugin.find", "There is no plugin named "+name+".", hint)
}

// Known reports whether there is a plugin of that id.
func (h *Host) Known(id string) bool { return h.entry(id) != nil }

// PathOf returns the path of a plugin in the plugins folder. Kind not_found when there
// is none, conflict for one that was loaded for this run only.
func (h *Host) PathOf(id string) (path string, err error) {
	e, err := h.known(id)
	switch {
	case err != nil:
		return "", err
	case e.temporary:
		return "", fault.New(fault.Conflict, "plugin.find", "The plugin "+id+
			" does not lie in the plugins folder: it was named for this run.", "")
	case e.from != fromFolder:
		return "", fault.New(fault.Conflict, "plugin.find", "The plugin "+id+
			" does not lie in the plugins folder: it comes from "+e.from+".", "")
	}
	return e.path(), nil
}

// List returns all plugins, sorted by id.
func (h *Host) List() []plugin.Status {
	h.mu.Lock()
	entries := make([]*entry, 0, len(h.entries))
	for _, e := range h.entries {
		entries = append(entries, e)
	}
	h.mu.Unlock()
	statuses := make([]plugin.Status, 0, len(entries))
	for _, e := range entries {
		if s := e.snapshot(); s.ID != "" {
			statuses = append(statuses, s)
		}
	}
	slices.SortFunc(statuses, func(a, b plugin.Status) int { return strings.Compare(a.ID, b.ID) })
	return statuses
}

// Status returns one plugin. Kind not_found when there is none.
func (h *Host) Status(id string) (plugin.Status, error) {
	e, err := h.known(id)
	if err != nil {
		return plugin.Status{}, err
	}
	return e.snapshot(), nil
}

// Folder returns the plugins folder and why it cannot be read, or nil.
func (h *Host) Folder() (string, *fault.Error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.o.Dir, h.folder
}

// Unread returns why the plugins folder could not be read since the program began; nil where it
// was read once, and its plugins serve as they were.
func (h *Host) Unread() *fault.Error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.read {
		return nil
	}
	return h.folder
}

// Absent returns why a plugin does not take part in what Conclave does, in a sentence; "" for one
// that does. It waits until the plugin is loaded. The error is the cause of ctx's end.
func (h *Host) Absent(ctx context.Context, id string) (why string, err error) {
	if err := h.WaitLoaded(ctx, id); err != nil {
		return "", err
	}
	e := h.entry(id)
	if e == nil {
		return "There is no such plugin in " + h.o.Dir + ".", nil
	}
	status := e.snapshot()
	granted, _ := h.o.Gate.Reach.Permissions(e.id)
	e.mu.Lock()
	serving, off := e.serving != nil, e.state.Disabled
	e.mu.Unlock()
	switch {
	case off:
		return "It is switched off.", nil
	case !serving && status.Problem != nil:
		return status.Problem.Message, nil
	case !serving:
		return "It waits for your approval.", nil
	}
	for _, p := range status.Manifest.Permissions {
		if slices.Contains(h.o.Hooking, p) && !slices.Contains(granted, p) {
			return "It does not have the permission " + p + ".", nil
		}
	}
	return "", nil
}

// Reload loads the plugin again and replaces its process, even when its files are the
// same.
func (h *Host) Reload(id string) error {
	e, err := h.known(id)
	if err != nil {
		return err
	}
	e.reloadForced()
	return nil
}

// SetEnabled switches the plugin on or off, durably. What is off is not called any more,
// by turns that began before either, and its calls under way end.
func (h *Host) SetEnabled(ctx context.Context, id string, on bool) error {
	if on {
		if err := h.o.Gate.Approvals.AskAgain(ctx, id); err != nil {
			return err
		}
	}
	return h.change(ctx, id, func(s *savedState) { s.Disabled = !on })
}

// SetToolEnabled says whether a tool of the plugin is offered to models, durably.
// Kind not_found when the plugin has no such tool.
func (h *Host) SetToolEnabled(ctx context.Context, id, name string, on bool) error {
	s, err := h.Status(id)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(s.Tools, func(t tool.Tool) bool { return t.Name == name }) {
		return fault.New(fault.NotFound, "plugin.tool", "The plugin "+id+" has no tool named "+name+".", "")
	}
	return h.change(ctx, id, func(s *savedState) {
		if s.Tools == nil {
			s.Tools = map[string]bool{}
		}
		s.Tools[name] = on
	})
}

func (h *Host) change(ctx context.Context, id string, do func(*savedState)) error {
	e, err := h.known(id)
	if err != nil {
		return err
	}
	return e.changeState(ctx, false, do)
}

// Updates returns a channel of reloads from now on, and a function that stops
// it. A reader that is 256 updates behind loses the oldest.
func (h *Host) Updates() (<-chan plugin.Update, func()) {
	c := make(chan plugin.Update, 256)
	h.mu.Lock()
	h.listeners[c] = struct{}{}
	h.mu.Unlock()
	return c, func() {
		h.mu.Lock()
		delete(h.listeners, c)
		h.mu.Unlock()
	}
}

func (h *Host) announce(u plugin.Update) {
	h.mu.Lock()
	for c := range h.listeners {
		select {
		case c <- u:
		default:
			select { // full: the oldest makes room
			case <-c:
			default:
			}
			select {
			case c <- u:
			default:
			}
		}
	}
	h.mu.Unlock()
	h.o.Bus.Changed(bus.Plugins, "")
	h.o.Bus.Changed(bus.Tools, "")
}

// Close ends every process and waits for all of the host's goroutines. It may be
// called more than once.
func (h *Host) Close() {
	h.mu.Lock()
	h.closed = true
	sessions := slices.Collect(maps.Keys(h.sessions))
	h.mu.Unlock()
	h.cancel(fault.New(fault.Canceled, "plugin.close", closingReason, ""))
	var ending sync.WaitGroup
	for _, s := range sessions {
		ending.Go(func() { s.end(closingReason) })
	}
	ending.Wait()
	h.wg.Wait()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, e := range h.entries {
		e.removeCopies()
		e.log.close()
	}
}

// Probe looks whether a plugin that runs elsewhere answers, and calls none of it. elsewhere
// is false for the others. The *Problem says what does not answer.
func (h *Host) Probe(ctx context.Context, id string) (p *plugin.Problem, elsewhere bool) {
	e := h.entry(id)
	if e == nil {
		return nil, false
	}
	e.mu.Lock()
	src := e.source
	e.mu.Unlock()
	d, ok := h.dialect(src.Dialect).(plugin.Prober)
	if !ok {
		return nil, false
	}
	return d.Probe(ctx, src), true
}

// adopt counts s among the processes that Close ends. It reports false when that
// is over.
func (h *Host) adopt(s *session) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return false
	}
	h.sessions[s] = struct{}{}
	return true
}

func (h *Host) dismiss(s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.sessions, s)
}

// spawn runs do in the background; Close waits for it. Once the host is closed it does nothing and
// reports false: Close itself ends what there is to end.
func (h *Host) spawn(do func()) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.closed {
		h.wg.Go(do)
	}
	return !h.closed
}

// storage returns the plugin's own data folder.
func (h *Host) storage(id string) string { return filepath.Join(h.o.Data, "storage", id) }

// since returns the time from t, never negative.
func since(t time.Time) time.Duration { return max(0, time.Since(t)) }

// LoadTimeout is how long a plugin may take from its start to a listed tool set.
const LoadTimeout = 10 * time.Second
