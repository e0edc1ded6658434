package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// errNewer ends a load that a newer save made pointless.
var errNewer = errors.New("a newer version was saved")

// errBusy is said of a plugin that is saved faster than it can be read.
var errBusy = &plugin.Problem{Kind: "unavailable", Message: "Its files change faster than they can be read.", Hint: "Save it once more when whatever writes it is done."}

// maxAgain bounds how often one load begins anew because the files changed under
// it. Whoever watches the folder looks again anyway.
const maxAgain = 5

// entry is one plugin of the folder: what lies there, what serves, and the one
// goroutine that brings the second in line with the first. Whatever happens
// while it loads, it looks again afterwards, so the last edit wins.
//
// Locks are taken in the order changing, publishing, Host.mu, mu.
type entry struct {
	h         *Host
	id        string
	temporary bool   // offered for one run only; not from the folder
	bare      bool   // for a look only: it gets no permission, and no service but its storage
	kin       string // the plugin whose secret settings it has, when that is another
	mask      mask   // the secrets its process was told
	log       *journal
	trusting  atomic.Bool   // it is approving itself, and need not hear of it
	decisions atomic.Uint64 // how many it has heard of

	late       latecomers // has a lock of its own
	changing   sync.Mutex // orders changes of the state
	saving     sync.Mutex // orders writes of the record
	publishing sync.Mutex // orders what goes to the registry
	pinning    sync.Mutex // orders what is copied to where it runs from
	wants      wants      // has a lock of its own
	refusals   refusals   // so has this
	quota      quota      // and this

	activity activity // its loads; Host.mu guards it

	mu      sync.Mutex    // guards the fields below
	source  plugin.Source // zero when the plugin is gone
	dirty   bool          // something changed since the load began
	forced  bool          // load even what is the same
	decided bool          // look even at what is the same: a person decided about it
	loading bool
	cancel  context.CancelCauseFunc // ends the load under way
	status  plugin.Status
	serving *runner
	waiting version    // what the card waits for a decision about
	state   savedState // changed by changeState alone, under changing too
	record  record
	written []byte          // what matters of the record as it lies in the store
	known   bool            // state and record were read
	granted []string        // the permissions its process knows of
	folders []permit.Folder // what its process may reach outside of its own
	muted   bool            // it may offer no tools
	tired   time.Time       // when starting it for an event or a hook failed
}

func newEntry(h *Host, src plugin.Source) *entry {
	e := &entry{h: h, id: src.ID, status: plugin.Status{
		ID: src.ID, Path: src.Display, State: plugin.Loading, Isolation: h.o.Launcher.Confinement(), Manifest: plugin.Manifest{Name: src.ID},
	}}
	e.log = newJournal(filepath.Join(h.o.Data, "logs", "plugins", src.ID+".log"), &e.mask)
	return e
}

// place says where the plugin lies now (zero: nowhere) and reports whether that
// is news.
func (e *entry) place(src plugin.Source) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	moved := e.source != src
	e.source = src
	return moved
}

func (e *entry) path() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.source.Display
}

// concerns reports whether a change of one of these names in the plugins folder
// may change the plugin: it is one of them, it imports one, or it does not load
// and may be waiting for one.
func (e *entry) concerns(names []string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.Contains(names, filepath.Base(e.source.Path)) {
		return true
	}
	if e.source.Folder {
		return false
	}
	return e.status.State == plugin.Failed || e.status.State == plugin.NeedsPackages || slices.ContainsFunc(e.status.Manifest.Files, func(file string) bool {
		first, _, _ := strings.Cut(file, "/")
		return slices.Contains(names, first)
	})
}

// kick makes the entry look at its files again. A load under way is given up:
// the last edit wins.
func (e *entry) kick() { e.look(look{interrupt: true}) }

// force makes it load again though nothing changed.
func (e *entry) force() { e.look(look{interrupt: true, force: true}) }

// reconsider is kick for a decision about it: the same files are not taken for a
// no-op. A load under way may be what was decided about, and goes on.
func (e *entry) reconsider() {
	e.decisions.Add(1)
	if !e.trusting.Load() {
		e.look(look{decided: true})
	}
}

// look says how to look again.
type look struct{ interrupt, force, decided bool }

func (e *entry) look(l look) {
	if !e.h.began(e) {
		return
	}
	e.mu.Lock()
	e.dirty = true
	e.forced = e.forced || l.force
	e.decided = e.decided || l.decided
	if e.cancel != nil && l.interrupt {
		e.cancel(errNewer)
	}
	busy := e.loading
	e.loading = true
	e.mu.Unlock()
	if busy {
		e.h.ended(e)
		return
	}
	go e.run() // ends when nothing is left to do; Close waits for it
}

func (e *entry) run() {
	defer e.h.ended(e)
	for again := 0; ; {
		e.mu.Lock()
		if !e.dirty || e.h.ctx.Err() != nil {
			e.loading = false
			e.mu.Unlock()
			return
		}
		e.dirty = false
		force := e.forced
		e.forced = false
		src := e.source
		ctx, cancel := context.WithCancelCause(e.h.ctx)
		e.cancel = cancel
		e.mu.Unlock()

		var err error
		select {
		case e.h.slots <- struct{}{}:
			err = e.load(ctx, src, force, again < maxAgain)
			<-e.h.slots
		case <-ctx.Done():
		}
		e.mu.Lock()
		e.cancel = nil
		if ctx.Err() != nil { // what was left undone is done next
			e.forced, e.decided = e.forced || force, true
		}
		if errors.Is(err, errNewer) && ctx.Err() == nil {
			again++
			e.dirty, e.forced = true, e.forced || force
		}
		e.mu.Unlock()
		cancel(nil)
	}
}

// settle writes the new state of the entry and announces it.
func (e *entry) settle(v version, state plugin.State, problem *plugin.Problem, began time.Time, more func(*plugin.Status)) {
	e.mu.Lock()
	if v.digest != "" && v.digest != e.record.Digest && problem == nil {
		e.record.Generation++
	}
	e.waiting = version{}
	if state == plugin.NeedsApproval || state == plugin.Quarantined {
		e.waiting = v
	}
	s := &e.status
	s.State, s.Problem, s.Digest, s.Path = state, problem, v.digest, v.src.Display
	s.Generation = e.record.Generation
	s.Load = since(began)
	if v.manifest.Contract != "" {
		s.Manifest, s.Imports, s.Options, s.Notes = v.manifest, v.listing.Imports, v.options, v.notes
	}
	if more != nil {
		more(s)
	}
	u := plugin.Update{Plugin: e.id, Generation: s.Generation, State: state, Took: s.Load, Problem: problem, Tools: ids(s.Tools)}
	if state == plugin.NeedsApproval || state == plugin.Quarantined {
		u.Tools = ids(v.candidate(e.h).Tools) // those of the version that waits
	}
	e.mu.Unlock()
	e.h.announce(u)
}

func ids(tools []tool.Tool) []string {
	out := make([]string, len(tools))
	for i, t := range tools {
		out[i] = t.ID()
	}
	return out
}

// changeState changes what the person set, writes it, and puts it in force; renew
// starts the plugin anew whatever changed.
func (e *entry) changeState(ctx context.Context, renew bool, do func(*savedState)) error {
	if err := e.recall(ctx); err != nil {
		return err
	}
	e.changing.Lock() // two changes at once would each be of the same state, and one lost
	defer e.changing.Unlock()
	e.mu.Lock()
	was := e.state
	next := e.state
	next.Tools = maps.Clone(e.state.Tools)
	do(&next)
	raw, err := json.Marshal(next)
	e.mu.Unlock()
	if err == nil {
		err = e.h.o.Cache.PutPluginState(ctx, e.id, raw)
	}
	if err != nil {
		return err
	}
	e.mu.Lock()
	e.state = next
	serving := e.serving
	e.mu.Unlock()
	if !bytes.Equal(next.Options, was.Options) || !slices.Equal(next.Secrets, was.Secrets) || renew {
		e.look(look{interrupt: true, decided: true, force: true})
		return nil
	}
	if next.Disabled != was.Disabled || serving == nil {
		e.look(look{interrupt: true, decided: true})
		return nil
	}
	e.republish(serving)
	return nil
}

// snapshot returns the status as it is now; its ID is empty when the plugin is
// gone.
func (e *entry) snapshot() plugin.Status {
	granted, denied := e.h.o.Gate.Permissions(e.id)
	e.mu.Lock()
	s := e.status
	s.Facts = e.h.factsOf(s.Manifest.Contract)
	if e.source == (plugin.Source{}) {
		s.ID = ""
	}
	s.Origin = e.state.Origin
	if e.muted && e.serving != nil {
		s.Muted, s.Tools, s.Enabled = true, nil, nil
	}
	serving := e.serving
	if serving != nil && s.Listed {
		s.Notes = slices.Concat(s.Notes, registered(s.Manifest, len(s.Tools), e.wakesNow(), granted))
	}
	e.mu.Unlock()
	s.Granted, s.Denied, s.Folders = granted, denied, e.h.o.Gate.Folders(e.id)
	s.Refused = e.refusals.open(granted, s.Folders)
	e.wants.describe(&s)
	s.Enabled = maps.Clone(s.Enabled)
	if serving != nil && s.Serving && s.LastGood {
		s.Notes = append(slices.Clone(s.Notes), serves(serving.version().manifest, s))
	}
	if serving != nil {
		serving.describe(&s)
	}
	return s
}

// serves says which version serves while the newest save does not.
func serves(m plugin.Manifest, s plugin.Status) string {
	which := "The version that you approved"
	if s.Problem != nil {
		which = "The last version that loaded"
	}
	if m.Version != "" {
		which += ", " + m.Version + ","
	}
	return which + " serves meanwhile; it was put in service on " + s.Loaded.Local().Format("2 January 2006 at 15:04") + "."
}
