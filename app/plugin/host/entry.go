package host

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/watch"
)

// entry is one plugin, of the folder or registered: what its source has, what serves, and the one
// goroutine that brings the second in line with the first. Whatever happens
// while it loads, it looks again afterwards, so the last edit wins.
//
// One lock, mu, guards what is known of the plugin; it is never held over a write or
// a wait. What is written of the plugin (its state, its record, the copy that it
// runs from) is written by one at a time, who holds writing and takes what to write
// under mu (docs/adr/0013). Locks are taken in the order writing, Host.mu, mu.
type entry struct {
	h          *Host
	id         string
	from       string   // which source has it
	temporary  bool     // offered for one run only; not from the folder
	named      string   // of a temporary one: the digest of the files that were named; mu guards it
	preview    bool     // for a look only: it gets no permission, and no service but its storage
	settingsOf string   // the plugin whose secret settings it has, when that is another
	redactor   redactor // the secrets its process was told
	log        *pluginLog
	approving  atomic.Bool   // the host is approving it, and need not reload it for that
	decisions  atomic.Uint64 // how many it has heard of

	injecting sync.Mutex // one injection at a time is taken up; taken before writing

	writing sync.Mutex   // orders what is written
	looks   watch.Looker // at its files
	queued  eventQueue   // has a lock of its own
	quota   quota        // and this

	inFlight inFlight // its loads; Host.mu guards it

	mu          sync.Mutex    // guards the fields below
	source      plugin.Source // zero when the plugin is gone
	dirty       bool          // something changed since the load began
	forced      bool          // load even what is the same
	decided     bool          // look even at what is the same: a person decided about it
	defined     string        // what source.Tools was when it was looked at
	loading     bool
	cancel      context.CancelCauseFunc // ends the load under way
	status      plugin.Status
	serving     *runner
	waiting     version    // what the card waits for a decision about
	state       savedState // changed by changeState alone, under writing too
	record      record
	written     []byte           // what matters of the record as it lies in the store
	forgotten   bool             // the record is deleted, and not written again
	known       bool             // state and record were read
	granted     []string         // the permissions its process knows of
	folders     []gate.Folder    // what its process may reach outside of its own
	programs    []string         // which programs it may start, where these are not all
	toolsDenied bool             // it may offer no tools
	startFailed time.Time        // when starting it for an event or a hook failed
	refusals    []plugin.Refusal // since it was loaded, the newest last
	wants       Requirements
	work        *plugin.PackageWork // installing them; not changed any more
}

func newEntry(h *Host, from string, src plugin.Source) *entry {
	e := &entry{h: h, id: src.ID, from: from, status: plugin.Status{
		ID: src.ID, Path: src.Display, State: plugin.Loading, Isolation: h.o.Launcher.Confinement(),
		Manifest: plugin.Manifest{Name: src.ID},
	}}
	e.log = newPluginLog(filepath.Join(h.o.Data, "logs", "plugins", src.ID+".log"), &e.redactor)
	return e
}

// setSource sets where the plugin is now (zero: nowhere) and reports whether that
// changed.
func (e *entry) setSource(src plugin.Source) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	moved := e.source != src
	e.source = src
	return moved
}

// currentSource returns where the plugin is now.
func (e *entry) currentSource() plugin.Source {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.source
}

// path is where the person knows it to lie.
func (e *entry) path() string { return e.currentSource().Display }

// changeState changes what the person set, writes it, and puts it in force; renew
// starts the plugin again whatever changed.
func (e *entry) changeState(ctx context.Context, renew bool, do func(*savedState)) error {
	if err := e.recall(ctx); err != nil {
		return err
	}
	e.writing.Lock() // two changes at once would each be of the same state, and one lost
	defer e.writing.Unlock()
	e.mu.Lock()
	was := e.state
	next := e.state
	next.Tools = maps.Clone(e.state.Tools)
	do(&next)
	raw, err := json.Marshal(next)
	e.mu.Unlock()
	if err == nil {
		err = e.putState(ctx, raw)
	}
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.state = next
	serving := e.serving
	e.mu.Unlock()
	if next.Disabled && serving != nil {
		serving.interrupt(errOff)
	}
	if !bytes.Equal(next.Options, was.Options) || !slices.Equal(next.Secrets, was.Secrets) || renew {
		e.requestLoad(loadRequest{interrupt: true, decided: true, force: true})
		return nil
	}
	if next.Disabled != was.Disabled || serving == nil {
		e.requestLoad(loadRequest{interrupt: true, decided: true})
		return nil
	}
	e.republish(serving)
	return nil
}

// snapshot returns the status as it is now; its ID is empty when the plugin is
// gone.
func (e *entry) snapshot() plugin.Status {
	granted, denied := e.h.o.Gate.Reach.Permissions(e.id)
	e.mu.Lock()
	s := e.status
	s.Facts = e.h.factsOf(s.Manifest.Dialect)
	if e.source == (plugin.Source{}) {
		s.ID = ""
	}
	s.Origin = e.state.Origin
	if e.toolsDenied && e.serving != nil {
		s.ToolsDenied, s.Tools, s.Enabled = true, nil, nil
	}
	s.Refused, s.Packages, s.PackageWork = slices.Clone(e.refusals), e.wants.Packages, e.work
	serving := e.serving
	if serving != nil && s.Listed {
		s.Notes = slices.Concat(s.Notes, registered(s.Manifest, s.Facts, len(s.Tools), e.reasonsNow(), granted))
	}
	e.mu.Unlock()
	s.Granted, s.Denied = granted, denied
	s.Folders = slices.Concat(e.h.o.Gate.Reach.Folders(e.id), e.h.o.Gate.Reach.Opened(e.id))
	s.Hosts, s.Ports = e.h.o.Gate.Reach.Hosts(e.id), e.h.o.Gate.Reach.Ports(e.id)
	s.Programs = e.h.o.Gate.Reach.Programs(e.id)
	s.Refused = standing(s.Refused, granted, s.Folders)
	s.Notes = slices.Concat(s.Notes, e.missingNotes(s))
	s.Enabled = maps.Clone(s.Enabled)
	if serving != nil && s.Serving && s.LastGood {
		s.Notes = append(slices.Clone(s.Notes), whichServes(serving.version().manifest, s))
	}
	if serving != nil {
		serving.describe(&s)
	}
	return s
}

func (e *entry) disabled() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.Disabled
}

// switchedOff reports whether the person switched a tool off: no model is offered it.
func (e *entry) switchedOff(name string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	on, set := e.state.Tools[name]
	return set && !on
}
