package host

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"

	"conclave/app/gate"
	"conclave/app/plugin"
)

// entry is one plugin, of the folder or registered: what its source has, what serves, and the one
// goroutine that brings the second in line with the first. Whatever happens
// while it loads, it looks again afterwards, so the last edit wins.
//
// One lock, mu, guards its life (life.go); it is never held over a write or a wait. Its parts have a lock
// for what is theirs. Locks are taken in the order memory.writing, Host.mu, mu (docs/adr/0013).
type entry struct {
	h          *Host
	id         string
	from       string   // which source has it
	temporary  bool     // offered for one run only; not from the folder
	named      string   // of a temporary one: the digest of the files that were named; mu guards it
	preview    bool     // for a look only: it gets no permission, and no service but its storage
	settingsOf string   // the plugin whose secret settings it has, when that is another
	redactor   redactor // the secrets that its process got
	log        *pluginLog
	traffic    traffic
	approving  atomic.Bool // the host is approving it, and need not reload it for that

	injecting sync.Mutex // one injection at a time is taken up; taken before writing

	// These parts have a lock each.
	memory   memory // its writing is taken before mu
	files    files
	queued   eventQueue
	quota    quota
	needs    needs
	refusals refusals
	rests    restCount

	inFlight inFlight // its loads; Host.mu guards it

	mu     sync.Mutex              // guards the fields below
	life                           // changed by step
	cancel context.CancelCauseFunc // ends the load under way
}

func newEntry(h *Host, from string, src plugin.Source) *entry {
	e := &entry{h: h, id: src.ID, from: from, life: life{status: plugin.Status{
		ID: src.ID, Path: src.Display, State: plugin.Loading, Isolation: h.o.Launcher.Confinement(),
		Manifest: plugin.Manifest{Name: src.ID},
	}}}
	e.log = newPluginLog(filepath.Join(h.o.Data, "logs", "plugins", src.ID+".log"), &e.redactor)
	e.memory.e, e.queued.e = e, e
	e.files.dialects, e.files.log = h.Dialects, h.o.Log
	e.files.copies = filepath.Join(h.o.Data, "last-good", src.ID)
	return e
}

// grantee returns the id of the plugin whose permissions it has: a plugin that is loaded a second time for a
// run has those of the first.
func (e *entry) grantee() string { return cmp.Or(e.settingsOf, e.id) }

// inUse returns the versions whose copies stay, of v among them.
func (e *entry) inUse(v version) []string {
	now, used := e.now(), []string{short(v.digest)}
	if now.record.Good != nil {
		used = append(used, short(now.record.Good.Digest))
	}
	if now.serving != nil {
		used = append(used, short(now.serving.version().digest))
	}
	return used
}

// now returns the state as it is now.
func (e *entry) now() life {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.life
}

// runner returns what serves, or nil.
func (e *entry) runner() *runner {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.serving
}

// path is where the person knows it to lie.
func (e *entry) path() string { return e.now().source.Display }

// change changes what the person set, writes it, and puts it in force; renew
// starts the plugin again whatever changed.
func (m *memory) change(ctx context.Context, renew bool, do func(*savedState)) error {
	if err := m.recall(ctx); err != nil {
		return err
	}
	m.writing.Lock() // two changes at once would each be of the same state, and one lost
	defer m.writing.Unlock()
	was := m.e.now().state
	next := was
	next.Tools, next.Later, next.MainOnly = maps.Clone(was.Tools), maps.Clone(was.Later), maps.Clone(was.MainOnly)
	do(&next)
	raw, err := json.Marshal(next)
	if err == nil {
		err = m.putState(ctx, raw)
	}
	if err != nil {
		return err
	}
	m.e.mu.Lock()
	m.e.state = next
	serving := m.e.serving
	m.e.mu.Unlock()
	if next.Disabled && serving != nil {
		serving.interrupt(errOff)
	}
	if !bytes.Equal(next.Options, was.Options) || !slices.Equal(next.Secrets, was.Secrets) || renew {
		m.e.requestLoad(request{interrupt: true, decided: true, force: true})
		return nil
	}
	if next.Disabled != was.Disabled || serving == nil {
		m.e.requestLoad(request{interrupt: true, decided: true})
		return nil
	}
	m.e.step(republished{serving})
	return nil
}

// snapshot returns the status as it is now; its ID is empty when the plugin is
// gone.
func (e *entry) snapshot() plugin.Status {
	granted, denied := e.h.o.Gate.Reach.Permissions(e.id)
	now := e.now()
	s, serving := now.status, now.serving
	s.Facts = e.h.Dialects.facts(s.Manifest.Dialect)
	if now.source == (plugin.Source{}) {
		s.ID = ""
	}
	if d, ok := e.h.Dialects.named(s.Manifest.Dialect).(plugin.Describer); ok {
		s.About = d.Describe(e.id, s.Manifest, s.Tools)
	}
	s.Origin, s.OwnFiles = now.state.Origin, now.source.HasFiles()
	s.AtOnce, s.AtOnceSet, s.KeepRunning = now.atOnce(), now.state.AtOnce > 0, now.state.KeepRunning
	s.KeepWords, s.OnlyWords = now.state.KeepWords, now.onlyWords()
	if now.toolsDenied && serving != nil {
		s.ToolsDenied, s.Tools, s.Enabled = true, nil, nil
	}
	if serving != nil && s.Listed {
		s.Notes = slices.Concat(s.Notes, registered(s.Manifest, s.Facts, len(s.Tools), now.reasons(), granted))
	}
	s.Granted, s.Denied = granted, denied
	s.Packages, s.PackageWork = e.needs.shown()
	e.h.SignIns.describe(&s)
	s.Folders = slices.Concat(e.h.o.Gate.Reach.Folders(e.id), e.h.o.Gate.Reach.Opened(e.id))
	hosts, ports := e.h.o.Gate.Reach.Single(e.id)
	s.Hosts, s.Ports = gate.RuleSentences(hosts, s.Manifest.Name), gate.RuleSentences(ports, s.Manifest.Name)
	s.Programs = e.h.o.Gate.Reach.Programs(e.id)
	s.Refused = standing(ungranted(e.h.o.Gate, s.Data, e.refusals.all()), granted, s.Folders)
	s.Notes = slices.Concat(s.Notes, missingNotes(e.h.o.Gate, e.id, s))
	if other, ok := e.h.Same(now.source.Same); ok && other != e.id && !now.state.Disabled {
		s.Notes = append(s.Notes, plugin.AlreadyThere(other)+" Remove or turn off one of them.")
	}
	s.Enabled, s.MainOnly = maps.Clone(s.Enabled), now.state.MainOnly
	if serving != nil && s.Serving && s.LastGood {
		s.Notes = append(slices.Clone(s.Notes), whichServes(serving.version().manifest, s))
	}
	if serving != nil {
		serving.describe(&s)
	}
	return s
}

func (e *entry) disabled() bool { return e.now().state.Disabled }

// switchedOff reports whether the person switched a tool off: no model is offered it.
func (e *entry) switchedOff(name string) bool {
	on, set := e.now().state.Tools[name]
	return set && !on
}

// whichServes returns which version serves while the newest save does not.
func whichServes(m plugin.Manifest, s plugin.Status) string {
	newest := "A new version waits for your approval."
	if s.Problem != nil {
		newest = "The newest version did not load."
	}
	which := "The version of "
	if m.Version != "" {
		which = "Version " + m.Version + " of "
	}
	return newest + " " + which + s.Loaded.Local().Format("January 2, 2006 at 15:04") + " is used."
}
