package host

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"conclave/app/base/bus"
	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/plugin/watch"
	"conclave/app/tool"
	"conclave/app/tool/elicit"
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
	Services map[string]plugin.Service // by name; optional
	Secrets  Secrets                   // keeps the secret settings of plugins; optional
	Bus      *bus.Bus                  // optional
	Log      *slog.Logger
	// LoadTimeout limits how long a plugin may take from its start to a listed tool
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
	// Elicit has the person answer a question of a plugin. Optional: without it, nobody answers.
	Elicit func(ctx context.Context, q elicit.Question) elicit.Answer
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
// Scan or Watch, then Close. Its methods, and those of its parts, are safe for concurrent use.
//
// Goroutines: one follows permissions (followPermissions); each entry has at most one that
// loads (entry.run) and one that lists again (runner.listAgain); each running
// process has one that waits for it (session.watch). Close ends all of them, and
// waits.
type Host struct {
	Approvals *Approvals // decides about versions that wait
	// ToolChoices sets how single tools are offered.
	ToolChoices *ToolChoices
	Settings    *Settings // what a person fills in for a plugin
	Hooks       *Hooks    // the hooks and events of plugins
	Backends    *Backends // running plugins, for those who talk to them directly
	ThisRun     *ThisRun  // plugins that are loaded for one run only
	Calls       *Calls    // the calls that plugins work on
	Folder      *Folder   // the plugins folder
	Packages    *Packages // which packages plugins need
	SignIns     *SignIns  // the person's sign-ins to services of plugins
	Dialects    Dialects

	// Ports are those on which processes of plugins listen.
	Ports sandbox.PortsByPlugin

	o          Options
	ctx        context.Context // ends with Close; loads derive from it
	cancel     context.CancelCauseFunc
	slots      chan struct{} // bounds parallel loads
	spare      chan struct{} // bounds those of plugins that nobody decided about
	patient    chan struct{} // bounds those of plugins that may take long
	tasks      tasks
	updates    updates
	processes  processes
	identities identities

	unlisten func()     // to what the person decides
	scanning sync.Mutex // orders scans of the folder: none is put over what a later one found

	mu      sync.Mutex // guards entries
	entries map[string]*entry
}

// New returns a host without plugins; Scan or Watch reads them.
func New(o Options) *Host {
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
		o: o, slots: make(chan struct{}, parallelLoads), spare: make(chan struct{}, parallelLoads/2),
		patient: make(chan struct{}, patientLoads),
		entries: map[string]*entry{}, identities: identities{of: map[string]*entry{}},
		Calls: &Calls{working: map[string][]*work{}}, Dialects: o.Dialects,
		processes: processes{log: o.Log, live: map[*session]struct{}{}},
	}
	h.Approvals, h.Settings, h.Hooks, h.ToolChoices = &Approvals{h}, &Settings{h}, &Hooks{h}, &ToolChoices{h}
	h.Backends, h.ThisRun, h.Packages = &Backends{h}, &ThisRun{h}, &Packages{h}
	h.SignIns = &SignIns{h: h, pages: map[string]string{}}
	h.Folder = &Folder{
		Dir: o.Dir, endings: h.Dialects.Endings(), dialects: h.Dialects, expected: o.Expected, incumbent: h.incumbent,
	}
	h.ctx, h.cancel = context.WithCancelCause(context.Background()) // its own: Close ends it
	o.Gate.Questions.OnAsking(h.processes.asking)
	h.unlisten = o.Gate.Approvals.OnDecided(h.Approvals.Changed)
	news := o.Bus.Subscribe(bus.Permissions)
	h.tasks.spawn(func() { h.followPermissions(news) }) // ends with Close
	return h
}

// Scan reads the folder once and starts loading what is new or changed. It does not
// wait for the loads; WaitIdle does. The error is a fault about the folder itself.
func (h *Host) Scan() error { return h.scan(nil) }

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
	retrying.Go(func() { tidy(over, h) })          // ends once all is loaded, or with over
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

// tidy has the dialects remove what they made for versions of plugins that are gone, once all is loaded.
func tidy(ctx context.Context, h *Host) {
	if h.WaitIdle(ctx) != nil {
		return
	}
	var digests []string
	for _, e := range h.all() {
		now := e.now()
		digests = append(digests, now.status.Digest, now.running.digest, now.record.Digest)
		if now.record.Good != nil {
			digests = append(digests, now.record.Good.Digest)
		}
	}
	for _, d := range h.Dialects {
		if t, ok := d.(plugin.Tidier); ok {
			if err := t.Tidy(plugin.Runtime(h.o.Data), digests); err != nil {
				h.o.Log.Warn("files of plugins that are gone could not be removed", "err", err)
			}
		}
	}
}

// WaitIdle waits until no plugin is loading, or for ctx's end, whose cause it returns.
func (h *Host) WaitIdle(ctx context.Context) error {
	return h.tasks.wait(ctx, &h.tasks.loads)
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
		if err := h.tasks.wait(ctx, &e.inFlight); err != nil {
			return err
		}
	}
	return nil
}

// fewNew limits how many plugins that nobody decided about a chat waits for.
const fewNew = 8

// WaitOffered waits until the plugins whose tools and hooks a chat may have are not
// loading. New plugins, which have neither before a person approved them, are waited for
// only where they are few, so that the person is asked about them. Starts that may take long
// (plugin.Patient) are not waited for. The error is the cause of ctx's end.
func (h *Host) WaitOffered(ctx context.Context) error {
	var decided, fresh []*entry
	for _, e := range h.all() {
		switch {
		case !h.tasks.busy(&e.inFlight):
		case e.decidedAbout():
			decided = append(decided, e)
		default:
			fresh = append(fresh, e)
		}
	}
	if len(fresh) <= fewNew {
		return h.tasks.waitOffered(ctx, &h.tasks.loads)
	}
	for _, e := range decided {
		if err := h.tasks.waitOffered(ctx, &e.inFlight); err != nil {
			return err
		}
	}
	return nil
}

// decidedAbout reports whether the person decided about the plugin once, or named it for
// this run.
func (e *entry) decidedAbout() bool { return e.temporary || e.h.o.Gate.Approvals.Decided(e.id) }

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
	for _, e := range h.all() {
		if path := e.path(); filepath.Base(path) == name || path == name {
			return e.id, nil
		}
	}
	for _, link := range h.Folder.LinksOut() {
		if link.Name == name || plugin.IDOf(link.Name, filepath.Ext(link.Name) == "") == name {
			return "", fault.New(fault.NotFound, "plugin.find", link.Sentence()+".", link.Hint())
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return "", h.unknown(name)
}

// known returns the plugin with an id. Kind not_found names what there is.
func (h *Host) known(id string) (*entry, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[id]; e != nil {
		return e, nil
	}
	return nil, h.unknown(id)
}

// unknown returns the error for a plugin that does not exist, with those that do. The caller holds mu.
func (h *Host) unknown(name string) error {
	ids := slices.Sorted(maps.Keys(h.entries))
	if problem := h.Folder.Unread(); problem != nil {
		return problem
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
// is none, conflict for one that was loaded for this run only, or that is one of several in its file.
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
	case h.shares(e):
		return "", fault.New(fault.Conflict, "plugin.find", "The plugin "+id+" is one of several in "+e.path()+".",
			"Take its entry out of that file.")
	}
	return e.path(), nil
}

// shares reports whether a plugin is one of several entries of a file or folder.
func (h *Host) shares(e *entry) bool {
	src := e.now().source
	return src.Row != "" && slices.ContainsFunc(h.all(), func(other *entry) bool {
		return other != e && other.now().source.Display == src.Display
	})
}

// Same returns the id of the plugin that is the same thing as a source with this Same: one that serves, else
// the first by id.
func (h *Host) Same(same string) (id string, ok bool) {
	if same == "" {
		return "", false
	}
	serves := false
	for _, e := range h.all() {
		now := e.now()
		if now.source.Same != same || now.state.Disabled {
			continue
		}
		if first := !ok || e.id < id; serves == (now.serving != nil) && first || !serves && now.serving != nil {
			id, ok, serves = e.id, true, now.serving != nil
		}
	}
	return id, ok
}

// List returns all plugins, sorted by id.
func (h *Host) List() []plugin.Status {
	all := h.all()
	slices.SortFunc(all, func(a, b *entry) int { return strings.Compare(a.id, b.id) })
	statuses := make([]plugin.Status, 0, len(all))
	for _, e := range all {
		if s := e.snapshot(); s.ID != "" {
			statuses = append(statuses, s)
		}
	}
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
	now := e.now()
	granted, _ := h.o.Gate.Reach.Permissions(e.id)
	switch {
	case now.state.Disabled:
		return "It is switched off.", nil
	case now.serving == nil && now.status.Problem != nil:
		return now.status.Problem.Message, nil
	case now.serving == nil:
		return "It waits for your approval.", nil
	}
	for _, p := range now.status.Manifest.Permissions {
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

func (h *Host) change(ctx context.Context, id string, do func(*savedState)) error {
	e, err := h.known(id)
	if err != nil {
		return err
	}
	return e.memory.change(ctx, false, do)
}

// Updates returns a channel of reloads from now on, and a function that stops
// it. A reader that is 256 updates behind loses the oldest.
func (h *Host) Updates() (<-chan plugin.Update, func()) { return h.updates.listen() }

func (h *Host) announce(u plugin.Update) {
	h.updates.send(u)
	h.o.Bus.Changed(bus.Plugins, "")
	h.o.Bus.Changed(bus.Tools, "")
}

// all returns the plugins, in no order.
func (h *Host) all() []*entry {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Collect(maps.Values(h.entries))
}

// Close ends every process and waits for all of the host's goroutines. It may be
// called more than once.
func (h *Host) Close() {
	h.tasks.close()
	h.unlisten()
	h.cancel(fault.New(fault.Canceled, "plugin.close", closingReason, ""))
	h.processes.end()
	h.tasks.wg.Wait()
	for _, e := range h.all() {
		if e.temporary {
			e.files.remove()
		}
		e.log.close()
	}
}

// Probe looks whether a plugin that runs elsewhere answers, and calls none of it. elsewhere
// is false for the others. The *Problem names what does not answer.
func (h *Host) Probe(ctx context.Context, id string) (p *plugin.Problem, elsewhere bool) {
	e := h.entry(id)
	if e == nil {
		return nil, false
	}
	src := e.now().source
	d, ok := h.Dialects.named(src.Dialect).(plugin.Prober)
	if !ok {
		return nil, false
	}
	return d.Probe(ctx, src), true
}

// storage returns the plugin's own data folder.
func (o Options) storage(id string) string { return filepath.Join(o.Data, "storage", id) }

// patientLoads limits how many plugins that may take long load at once: they wait more than they compute.
const patientLoads = 32

// parallelLoads limits how many plugins load at once.
const parallelLoads = 4

// LoadTimeout limits how long a plugin may take from its start to a listed tool set.
const LoadTimeout = 10 * time.Second
