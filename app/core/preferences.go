package core

import (
	"context"
	"encoding/json"
	"sync"

	"conclave/app/fault"
	"conclave/app/settings"
	"conclave/store"
)

// Preferences reads and changes settings in the store, and remembers the newest.
// It is safe for concurrent use.
type Preferences struct {
	store    *store.Store
	changed  func()            // hears that they changed, whoever did it; nil when nobody does
	switched func(chat string) // hears of another chat being opened; nil when nobody does

	mu       sync.Mutex // guards the fields below
	read     bool
	raw      json.RawMessage
	revision uint64
}

// Settings returns the settings; what the store lacks is as by default.
func (p *Preferences) Settings(ctx context.Context) (settings.Settings, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.settings(ctx)
}

func (p *Preferences) settings(ctx context.Context) (settings.Settings, error) {
	set := settings.Default()
	if !p.read {
		raw, revision, err := p.store.Settings(ctx)
		if err != nil {
			return set, err
		}
		p.raw, p.revision, p.read = raw, revision, true
	}
	if len(p.raw) == 0 {
		return set, nil
	}
	if err := json.Unmarshal(p.raw, &set); err != nil {
		return settings.Default(), fault.Wrap(fault.Damaged, "core.settings", "The settings cannot be read.",
			"Restore a copy with conclave restore.", err)
	}
	return set, nil
}

// ChangeSettings checks and writes what change made of the settings.
func (p *Preferences) ChangeSettings(ctx context.Context, change func(*settings.Settings)) (settings.Settings, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	set, err := p.settings(ctx)
	if err != nil {
		return set, err
	}
	opened := set.OpenChat
	change(&set)
	if err := set.Check(); err != nil {
		return set, err
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return set, err
	}
	if string(raw) == string(p.raw) {
		return set, nil
	}
	revision, err := p.store.PutSettings(ctx, raw, p.revision)
	if err != nil {
		p.read = false // somebody else changed them: read anew next time
		return set, err
	}
	p.raw, p.revision = raw, revision
	if p.changed != nil {
		p.changed()
	}
	if p.switched != nil && set.OpenChat != opened {
		p.switched(set.OpenChat)
	}
	return set, nil
}
