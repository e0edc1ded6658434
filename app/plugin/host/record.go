package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"conclave/app/base/jsonobject"
	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

// memory holds what the store keeps of a plugin. One at a time writes, who holds writing and takes what to
// write under the entry's lock (docs/adr/0013). It is safe for concurrent use.
type memory struct {
	e       *entry
	writing sync.Mutex

	// The entry's mu guards these.
	written   record // what matters of the record as it lies in the store; its parts are not changed
	forgotten bool   // the record is deleted, and not written again
	known     bool   // state and record were read
}

// record holds what the host remembers of a plugin between runs, so that an
// unchanged plugin is listed without being started.
type record struct {
	Digest     string          `json:"digest"`             // of the source that Manifest, Listing and Tools describe
	Settings   string          `json:"settings,omitempty"` // what was set when it was listed: entry.settings
	Manifest   plugin.Manifest `json:"manifest"`
	Listing    plugin.Listing  `json:"listing"`
	Tools      []storedTool    `json:"tools,omitempty"` // nil until it was listed by running
	Listed     bool            `json:"listed"`
	Generation uint64          `json:"generation"`
	Load       int64           `json:"load_us"`
	Loaded     time.Time       `json:"loaded"`
	Good       *goodRecord     `json:"good,omitempty"`
	Wakes      []string        `json:"wakes,omitempty"`   // what its process must be running for
	Options    json.RawMessage `json:"options,omitempty"` // JSON Schema of its settings
	Notes      []string        `json:"notes,omitempty"`   // what it says of itself
	Seeded     string          `json:"seeded,omitempty"`  // the version whose seeds are in its storage
	Hung       *hungLoad       `json:"hung,omitempty"`    // the newest load by running, if it took too long
}

// goodRecord is the newest version that loaded and was approved, whose files are
// kept in the last-good folder.
type goodRecord struct {
	Digest   string          `json:"digest"`
	Manifest plugin.Manifest `json:"manifest"`
	Tools    []storedTool    `json:"tools"`
	Loaded   time.Time       `json:"loaded"`
	Base     string          `json:"base"` // name of the file or folder inside the kept copy; empty without files
	Folder   bool            `json:"folder"`
	Row      string          `json:"row,omitempty"` // of a plugin without files, which has no copy
}

// storedTool is a tool.Tool with the fields its own JSON leaves out.
type storedTool struct {
	tool.Tool
	TimeoutMS int64 `json:"timeout_ms,omitempty"`
}

func toStored(tools []tool.Tool) []storedTool {
	kept := make([]storedTool, len(tools))
	for i, t := range tools {
		kept[i] = storedTool{t, t.Timeout.Milliseconds()}
	}
	return kept
}

func fromStored(kept []storedTool) []tool.Tool {
	tools := make([]tool.Tool, len(kept))
	for i, k := range kept {
		tools[i] = tool.Normal(k.Tool)
		tools[i].Timeout = time.Duration(k.TimeoutMS) * time.Millisecond
	}
	return tools
}

// savedState holds what the person set for a plugin, and where its code's words may be from.
type savedState struct {
	Disabled bool            `json:"disabled,omitempty"`
	Tools    map[string]bool `json:"tools,omitempty"` // name → offered, where it differs from the default
	// Later says by the name of a tool whether models find it by searching alone, where the person set that.
	Later map[string]bool `json:"later,omitempty"`
	// MainOnly are the names of tools that members of councils do not get.
	MainOnly map[string]bool `json:"main_only,omitempty"`
	Options  json.RawMessage `json:"options,omitempty"` // its settings, without secrets
	Secrets  []string        `json:"secrets,omitempty"` // the paths of those that are kept elsewhere
	AtOnce   int             `json:"at_once,omitempty"` // calls that run at once; 0 is the default
	// KeepRunning says that it is not ended when nobody has used it for a while.
	KeepRunning bool `json:"keep_running,omitempty"`
	// KeepWords says that models get the words that were approved, whatever the plugin says of its tools now.
	KeepWords bool   `json:"keep_words,omitempty"`
	Origin    string `json:"origin,omitempty"` // where it was added from; empty for what was put there
	// Outside says that Conclave opened a file or started a program for its code, and Shared who
	// wrote what its code was given of what plugins share. It may have kept that, and repeat it
	// in any later call.
	Outside bool          `json:"outside,omitempty"`
	Shared  []chat.Author `json:"shared,omitempty"`
	// Had are the permissions with which its code read by itself. Once one of them is taken back, it
	// may repeat what it read all the same.
	Had []string `json:"had,omitempty"`
	// Heard are the origins of the chats in which its code kept something. What it returns later may
	// hold text of theirs. Where these are more than can be named, Outside stands for them.
	Heard []chat.Origin `json:"heard,omitempty"`
}

// mayRepeat notes what the plugin's code may repeat from now on, in addition to what its state says. It holds
// at once; where it cannot be written it holds until the program ends.
func (m *memory) mayRepeat(more savedState) {
	was := m.e.now().state
	next := was.mayAlsoRepeat(more)
	if next.Outside == was.Outside && len(next.Shared) == len(was.Shared) && len(next.Had) == len(was.Had) &&
		len(next.Heard) == len(was.Heard) {
		return
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	m.e.mu.Lock()
	m.e.state = m.e.state.mayAlsoRepeat(more)
	raw, err := json.Marshal(m.e.state)
	m.e.mu.Unlock()
	if err == nil && !m.e.temporary {
		err = m.putState(context.WithoutCancel(m.e.h.ctx), raw)
	}
	if err != nil {
		m.e.h.o.Log.Warn("what a plugin may repeat could not be saved", "plugin", m.e.id, "err", err)
	}
}

// putState writes the state. Fields that a newer Conclave wrote stay in it. The caller holds writing.
func (m *memory) putState(ctx context.Context, state json.RawMessage) error {
	was, err := m.e.h.o.Store.PluginState(ctx, m.e.id)
	if err != nil {
		return err
	}
	return m.e.h.o.Store.PutPluginState(ctx, m.e.id, jsonobject.Keep(was, state, reflect.TypeFor[savedState]()))
}

// mayAlsoRepeat returns the state with what more adds to what the plugin's code may repeat.
func (s savedState) mayAlsoRepeat(more savedState) savedState {
	next := s
	next.Outside = next.Outside || more.Outside
	next.Shared = chat.AddAuthors(next.Shared, more.Shared...)
	for _, p := range more.Had {
		if !slices.Contains(next.Had, p) {
			next.Had = append(slices.Clip(next.Had), p)
		}
	}
	if next.Outside { // which says more
		next.Heard = nil
		return next
	}
	next.Heard = chat.AddOrigins(next.Heard, more.Heard...)
	if slices.Contains(next.Heard, chat.Origin{Kind: chat.FromMore}) {
		next.Outside, next.Heard = true, nil
	}
	return next
}

// gave notes who wrote what the plugin's code was given of what plugins share.
func (m *memory) gave(authors ...chat.Author) { m.mayRepeat(savedState{Shared: authors}) }

// repeats returns what the plugin's code may repeat, see savedState, while it has this access: what it
// reads by that is known without.
func (m *memory) repeats(now access) (outside bool, authors []chat.Author, heard []chat.Origin) {
	s := m.e.now().state
	gone := func(p string) bool { return !slices.Contains(now.reads(), p) }
	return s.Outside || slices.ContainsFunc(s.Had, gone), s.Shared, slices.Clone(s.Heard)
}

// authors returns who wrote what the plugin's code was given of what plugins share.
func (m *memory) authors() []chat.Author { return m.e.now().state.Shared }

func readJSON[T any](ctx context.Context, read func(context.Context, string) (json.RawMessage, error),
	id string,
) (T, error) {
	var value T
	raw, err := read(ctx, id)
	if err != nil || len(raw) == 0 {
		return value, err
	}
	return value, json.Unmarshal(raw, &value)
}

// offers reports whether a tool is offered to models: as the person set it, else as
// its plugin asks. Where tools are for the person to turn on (Facts.OptIn), those of
// a single script are on: it was dropped in for them.
func (v version) offers(t tool.Tool, set map[string]bool) bool {
	if on, ok := set[t.Name]; ok {
		return on
	}
	if !v.facts().OptIn {
		return t.Visibility != tool.Hidden
	}
	return t.InlineAvailable || (!v.src.Folder && !t.CouncilEligible)
}

// published returns the tools as the registry gets them, as the person set them: those not offered are
// hidden from models.
func (v version) published(set savedState) ([]tool.Tool, map[string]bool) {
	out := slices.Clone(v.tools)
	enabled := make(map[string]bool, len(out))
	facts, guide := v.facts(), tool.GuideIn(out)
	for i := range out {
		on := v.offers(out[i], set.Tools)
		out[i].Guide, out[i].KeepWords = guide, set.KeepWords
		out[i].Qualified, out[i].Convention = v.src.Folder && facts.Qualified, facts.Convention
		out[i].Code = v.digest
		enabled[out[i].Name] = on
		later, chosen := set.Later[out[i].Name]
		switch {
		case !on || facts.Injects:
			out[i].Visibility = tool.Hidden
		case later:
			out[i].Visibility = tool.Deferred
		case chosen || out[i].Visibility == "" || out[i].Visibility == tool.Hidden:
			out[i].Visibility = tool.Direct
		}
		if set.MainOnly[out[i].Name] && out[i].Role == "" {
			out[i].Role = tool.MainRole
		}
	}
	return out, enabled
}

// remember keeps v in the record.
func (m *memory) remember(v version) {
	if m.e.temporary {
		return
	}
	m.e.mu.Lock()
	rec := &m.e.record
	if rec.Wakes = m.e.life.reasons(); v.listed && (rec.Digest != v.digest || !rec.Listed) &&
		(m.e.serving == nil || m.e.serving.current() == nil) {
		rec.Wakes = v.wakes // the process that listed it was not kept
	}
	tools := toStored(v.tools)
	rec.Digest, rec.Manifest, rec.Listing, rec.Listed, rec.Tools = v.digest, v.manifest, v.listing, v.listed, tools
	rec.Settings = v.settings
	rec.Options, rec.Notes = v.options, v.notes
	rec.Load, rec.Loaded = m.e.status.Load.Microseconds(), m.e.status.Loaded
	if m.e.status.State == plugin.Ready && v.listed {
		rec.Good = &goodRecord{
			Digest: v.digest, Manifest: v.manifest, Tools: tools, Loaded: m.e.status.Loaded,
			Folder: v.src.Folder, Row: v.src.Row,
		}
		if v.src.HasFiles() {
			rec.Good.Base = filepath.Base(v.src.Path)
		}
	}
	m.e.mu.Unlock()
	if v.src.Tools != "" { // a program waits until it is registered, which is on the disk already
		m.e.h.tasks.spawn(m.save)
		return
	}
	m.save()
}

// forgetServed forgets the version that last served.
func (m *memory) forgetServed(ctx context.Context) error {
	if err := m.recall(ctx); err != nil {
		return err
	}
	m.e.mu.Lock()
	m.e.record.Good = nil
	m.e.mu.Unlock()
	m.save()
	return nil
}

// Forget ends the processes of a plugin that is removed, and deletes its last good version and
// its log, so that another one of its name does not get them.
func (h *Host) Forget(ctx context.Context, id string) error {
	e := h.entry(id)
	if e == nil {
		return nil
	}
	for _, s := range h.processes.of(id) {
		s.kill("The tool's process was ended because the person removed the plugin. What the call did until then stays.")
	}
	defer e.log.forget()
	return e.memory.forgetServed(ctx)
}

// Origin returns where the plugin was added from, empty when that is not known, and
// its manifest.
func (h *Host) Origin(ctx context.Context, id string) (from string, m plugin.Manifest, err error) {
	e, err := h.known(id)
	if err != nil {
		return "", plugin.Manifest{}, err
	}
	if err := e.memory.recall(ctx); err != nil {
		return "", plugin.Manifest{}, err
	}
	now := e.now()
	return now.state.Origin, now.status.Manifest, nil
}

// SetOrigin stores where the plugin was added from.
func (h *Host) SetOrigin(ctx context.Context, id, from string) error {
	was, _, err := h.Origin(ctx, id)
	if err != nil || was == from {
		return err
	}
	return h.change(ctx, id, func(s *savedState) { s.Origin = from })
}

// makeNormal makes the tools normal once, so that save sees without JSON that they are the same.
func (r *record) makeNormal() {
	same := r.Good != nil && reflect.DeepEqual(r.Good.Tools, r.Tools)
	r.Tools = toStored(fromStored(r.Tools))
	if same {
		r.Good.Tools = r.Tools
	}
}

// save writes the record, if there is anything new in it: a start that finds
// every plugin as it was writes nothing.
func (m *memory) save() {
	m.writing.Lock() // an older record must not be written over a newer one
	defer m.writing.Unlock()
	m.e.mu.Lock()
	now := m.e.record.withoutTimes()
	if m.forgotten || now.same(m.written) {
		m.e.mu.Unlock()
		return
	}
	raw, err := json.Marshal(m.e.record)
	m.e.mu.Unlock()
	if err == nil {
		err = m.e.h.o.Store.PutPluginCache(context.WithoutCancel(m.e.h.ctx), m.e.id, raw)
	}
	if err != nil {
		m.e.h.o.Log.Warn("the plugin's record could not be written", "plugin", m.e.id, "err", err)
		return
	}
	m.e.mu.Lock()
	m.written = now
	m.e.mu.Unlock()
}

// withoutTimes returns the record without the times of its version.
func (r record) withoutTimes() record {
	r.Load, r.Loaded = 0, time.Time{}
	if r.Good != nil {
		good := *r.Good
		good.Loaded = time.Time{}
		r.Good = &good
	}
	return r
}

// same reports whether two records are the same in the store. Most have the same parts, which needs no JSON
// to be seen; an empty list is as good as none.
func (r record) same(other record) bool {
	if reflect.DeepEqual(r, other) {
		return true
	}
	a, err := json.Marshal(r)
	b, cannot := json.Marshal(other)
	return err == nil && cannot == nil && bytes.Equal(a, b)
}

// recall reads the state and the record once. It is not interrupted by a newer
// save of the plugin: a read that was cut off must not pass for an empty record.
func (m *memory) recall(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	m.e.mu.Lock()
	known := m.known
	m.e.mu.Unlock()
	if known || m.e.temporary {
		return nil
	}
	state, err := readJSON[savedState](ctx, m.e.h.o.Store.PluginState, m.e.id)
	if err != nil {
		return fmt.Errorf("read the state of %s: %w", m.e.id, err)
	}
	rec, err := readJSON[record](ctx, m.e.h.o.Store.PluginCache, m.e.id)
	if err != nil {
		m.e.h.o.Log.Warn("a plugin's record cannot be read and is made again", "plugin", m.e.id, "err", err)
		rec = record{}
	}
	if err := rec.Manifest.Clean(); err != nil { // of a Conclave that did not clean it
		rec.Digest = ""
	}
	rec.makeNormal()
	m.e.mu.Lock()
	if m.known { // somebody else was quicker, and may have changed it since
		m.e.mu.Unlock()
		return nil
	}
	m.e.state, m.e.record, m.written, m.known = state, rec, rec.withoutTimes(), true
	m.e.status.Generation, m.e.status.Load, m.e.status.Loaded = rec.Generation,
		time.Duration(rec.Load)*time.Microsecond, rec.Loaded
	m.e.status.Options, m.e.status.Notes = rec.Options, rec.Notes
	if rec.Manifest.Name != "" {
		m.e.status.Manifest = rec.Manifest
	}
	m.e.mu.Unlock()
	return nil
}

// returned notes with the gate that something lies under the name of a plugin that may
// have left. A stranger does not bring back the version that served before.
func (m *memory) returned(c gate.PluginVersion) {
	stranger, err := m.e.h.o.Gate.Approvals.MarkReturned(m.e.h.ctx, c)
	if stranger {
		err = errors.Join(err, m.forgetServed(m.e.h.ctx))
	}
	if err != nil {
		m.e.h.o.Log.Warn("what a plugin that left had could not be withdrawn", "plugin", m.e.id, "err", err)
	}
}

// forgetStranger deletes the record of a plugin that registered, was decided about by
// nobody, and is gone: any program can make up names without end.
func (m *memory) forgetStranger() error {
	decided := slices.ContainsFunc(m.e.h.o.Gate.Approvals.List(), func(a gate.Approval) bool { return a.Plugin == m.e.id })
	if m.e.from == fromFolder || m.e.temporary {
		return nil
	}
	if decided {
		m.save() // before another of its name reads it
		return nil
	}
	m.writing.Lock()
	defer m.writing.Unlock()
	m.e.mu.Lock()
	m.forgotten = true
	m.e.mu.Unlock()
	return m.e.h.o.Store.DeletePluginCache(context.WithoutCancel(m.e.h.ctx), m.e.id)
}
