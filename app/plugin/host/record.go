package host

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"time"

	"conclave/app/base/jsonobject"
	"conclave/app/chat"
	"conclave/app/plugin"
	"conclave/app/tool"
)

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
		tools[i] = k.Tool
		tools[i].Timeout = time.Duration(k.TimeoutMS) * time.Millisecond
	}
	return tools
}

// savedState holds what the person set for a plugin, and where its code's words may be from.
type savedState struct {
	Disabled bool            `json:"disabled,omitempty"`
	Tools    map[string]bool `json:"tools,omitempty"`   // name → offered, where it differs from the default
	Options  json.RawMessage `json:"options,omitempty"` // its settings, without secrets
	Secrets  []string        `json:"secrets,omitempty"` // the paths of those that are kept elsewhere
	Origin   string          `json:"origin,omitempty"`  // where it was added from; empty for what was put there
	// Outside says that Conclave opened a file or started a program for its code, and Shared who
	// wrote what its code was given of what plugins share. It may have kept that, and tell of it
	// in any later call.
	Outside bool          `json:"outside,omitempty"`
	Shared  []chat.Author `json:"shared,omitempty"`
	// Had are the permissions with which its code read by itself. Once one of them is taken back, it
	// may tell of what it read all the same.
	Had []string `json:"had,omitempty"`
	// Heard are the origins of the chats in which its code kept something. What it returns later may
	// hold text of theirs. Where these are more than can be named, Outside stands for them.
	Heard []chat.Origin `json:"heard,omitempty"`
}

// tells notes what the plugin's code may tell of from now on: of what it was let read, and of what
// these authors wrote. It holds at once; where it cannot be written it holds until the program ends.
func (e *entry) tells(outside bool, authors ...chat.Author) {
	e.mayTellOf(savedState{Outside: outside, Shared: authors})
}

// mayTellOf notes what a state says besides of what the plugin's code may tell.
func (e *entry) mayTellOf(more savedState) {
	e.mu.Lock()
	next := e.alsoTells(more)
	same := next.Outside == e.state.Outside && len(next.Shared) == len(e.state.Shared) &&
		len(next.Had) == len(e.state.Had) && len(next.Heard) == len(e.state.Heard)
	e.mu.Unlock()
	if same {
		return
	}
	e.writing.Lock()
	defer e.writing.Unlock()
	e.mu.Lock()
	e.state = e.alsoTells(more)
	raw, err := json.Marshal(e.state)
	kept := !e.temporary
	e.mu.Unlock()
	if err == nil && kept {
		err = e.putState(context.WithoutCancel(e.h.ctx), raw)
	}
	if err != nil {
		e.h.o.Log.Warn("what a plugin may tell of could not be kept", "plugin", e.id, "err", err)
	}
}

// putState writes the state. Fields that a newer Conclave wrote stay in it. The caller holds writing.
func (e *entry) putState(ctx context.Context, state json.RawMessage) error {
	was, err := e.h.o.Store.PluginState(ctx, e.id)
	if err != nil {
		return err
	}
	return e.h.o.Store.PutPluginState(ctx, e.id, jsonobject.Keep(was, state, reflect.TypeFor[savedState]()))
}

// alsoTells returns the state with what more says of what the plugin's code may tell. The caller
// holds mu.
func (e *entry) alsoTells(more savedState) savedState {
	next := e.state
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
func (e *entry) gave(authors ...chat.Author) { e.tells(false, authors...) }

// told returns what the plugin's code may tell of, see savedState, while it has this access: what it
// reads by that is known without.
func (e *entry) told(now access) (outside bool, authors []chat.Author, heard []chat.Origin) {
	e.mu.Lock()
	defer e.mu.Unlock()
	gone := func(p string) bool { return !slices.Contains(now.reads(), p) }
	return e.state.Outside || slices.ContainsFunc(e.state.Had, gone), e.state.Shared, slices.Clone(e.state.Heard)
}

// authors returns who wrote what the plugin's code was given of what plugins share.
func (e *entry) authors() []chat.Author {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.Shared
}

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

// offers says whether a tool is offered to models: as the person set it, else as
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

// published returns the tools as the registry gets them: those not offered are
// hidden from models.
func (v version) published(set map[string]bool) ([]tool.Tool, map[string]bool) {
	out := slices.Clone(v.tools)
	enabled := make(map[string]bool, len(out))
	facts := v.facts()
	for i := range out {
		on := v.offers(out[i], set)
		out[i].Qualified, out[i].Convention = v.src.Folder && facts.Qualified, facts.Convention
		out[i].Code = v.digest
		enabled[out[i].Name] = on
		switch {
		case !on || facts.Injects:
			out[i].Visibility = tool.Hidden
		case out[i].Visibility == "" || out[i].Visibility == tool.Hidden:
			out[i].Visibility = tool.Direct
		}
	}
	return out, enabled
}

// remember keeps v in the record.
func (e *entry) remember(v version) {
	if e.temporary {
		return
	}
	e.mu.Lock()
	rec := &e.record
	if rec.Wakes = e.reasonsNow(); v.listed && (rec.Digest != v.digest || !rec.Listed) &&
		(e.serving == nil || e.serving.current() == nil) {
		rec.Wakes = v.wakes // the process that listed it was not kept
	}
	rec.Digest, rec.Manifest, rec.Listing, rec.Listed, rec.Tools = v.digest, v.manifest, v.listing, v.listed,
		toStored(v.tools)
	rec.Settings = v.settings
	rec.Options, rec.Notes = v.options, v.notes
	rec.Load, rec.Loaded = e.status.Load.Microseconds(), e.status.Loaded
	if e.status.State == plugin.Ready && v.listed {
		rec.Good = &goodRecord{
			Digest: v.digest, Manifest: v.manifest, Tools: toStored(v.tools), Loaded: e.status.Loaded,
			Folder: v.src.Folder, Row: v.src.Row,
		}
		if v.src.HasFiles() {
			rec.Good.Base = filepath.Base(v.src.Path)
		}
	}
	e.mu.Unlock()
	if v.src.Tools != "" { // a program waits until it is registered, which is on the disk already
		e.h.spawn(e.save)
		return
	}
	e.save()
}

// forgetServed forgets the version that last served.
func (e *entry) forgetServed(ctx context.Context) error {
	if err := e.recall(ctx); err != nil {
		return err
	}
	e.mu.Lock()
	e.record.Good = nil
	e.mu.Unlock()
	e.save()
	return nil
}

// Forget ends the processes of a plugin that is removed, and deletes its last good version and
// its log, so that another one of its name does not get them.
func (h *Host) Forget(ctx context.Context, id string) error {
	e := h.entry(id)
	if e == nil {
		return nil
	}
	for _, s := range h.sessionsOf(id) {
		s.kill("The tool's process was ended because the person removed the plugin. What the call did until then stays.")
	}
	defer e.log.forget()
	return e.forgetServed(ctx)
}

// Origin returns where the plugin was added from, empty when that is not known, and
// its manifest.
func (h *Host) Origin(ctx context.Context, id string) (from string, m plugin.Manifest, err error) {
	e, err := h.known(id)
	if err != nil {
		return "", plugin.Manifest{}, err
	}
	if err := e.recall(ctx); err != nil {
		return "", plugin.Manifest{}, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.state.Origin, e.status.Manifest, nil
}

// SetOrigin stores where the plugin was added from.
func (h *Host) SetOrigin(ctx context.Context, id, from string) error {
	was, _, err := h.Origin(ctx, id)
	if err != nil || was == from {
		return err
	}
	return h.change(ctx, id, func(s *savedState) { s.Origin = from })
}

// save writes the record, if there is anything new in it: a start that finds
// every plugin as it was writes nothing.
func (e *entry) save() {
	e.writing.Lock() // an older record must not be written over a newer one
	defer e.writing.Unlock()
	e.mu.Lock()
	now := e.record.withoutTimes()
	same := e.forgotten || now != nil && bytes.Equal(now, e.written)
	raw, err := json.Marshal(e.record)
	e.mu.Unlock()
	if same {
		return
	}
	if err == nil {
		err = e.h.o.Store.PutPluginCache(context.WithoutCancel(e.h.ctx), e.id, raw)
	}
	if err != nil {
		e.h.o.Log.Warn("the plugin's record could not be written", "plugin", e.id, "err", err)
		return
	}
	e.mu.Lock()
	e.written = now
	e.mu.Unlock()
}

// withoutTimes returns the record without the times of its version.
func (r record) withoutTimes() []byte {
	r.Load, r.Loaded = 0, time.Time{}
	if r.Good != nil {
		good := *r.Good
		good.Loaded = time.Time{}
		r.Good = &good
	}
	raw, err := json.Marshal(r)
	if err != nil {
		return nil // save says so
	}
	return raw
}

// recall reads the state and the record once. It is not interrupted by a newer
// save of the plugin: a read that was cut off must not pass for an empty record.
func (e *entry) recall(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx)
	e.mu.Lock()
	known := e.known
	e.mu.Unlock()
	if known || e.temporary {
		return nil
	}
	state, err := readJSON[savedState](ctx, e.h.o.Store.PluginState, e.id)
	if err != nil {
		return fmt.Errorf("read the state of %s: %w", e.id, err)
	}
	rec, err := readJSON[record](ctx, e.h.o.Store.PluginCache, e.id)
	if err != nil {
		e.h.o.Log.Warn("a plugin's record cannot be read and is made anew", "plugin", e.id, "err", err)
		rec = record{}
	}
	if err := rec.Manifest.Clean(); err != nil { // of a Conclave that did not clean it
		rec.Digest = ""
	}
	e.mu.Lock()
	if e.known { // somebody else was quicker, and may have changed it since
		e.mu.Unlock()
		return nil
	}
	e.state, e.record, e.written, e.known = state, rec, rec.withoutTimes(), true
	e.status.Generation, e.status.Load, e.status.Loaded = rec.Generation,
		time.Duration(rec.Load)*time.Microsecond, rec.Loaded
	e.status.Options, e.status.Notes = rec.Options, rec.Notes
	if rec.Manifest.Name != "" {
		e.status.Manifest = rec.Manifest
	}
	e.mu.Unlock()
	return nil
}
