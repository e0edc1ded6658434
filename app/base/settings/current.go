package settings

import (
	"context"
	"encoding/json"
	"sync"

	"conclave/app/base/fault"
)

// Store keeps the settings as one JSON value. Each write must name the
// revision that it changes. Errors are *fault.Error.
type Store interface {
	Settings(ctx context.Context) (value json.RawMessage, revision uint64, err error)
	PutSettings(ctx context.Context, value json.RawMessage, revision uint64) (uint64, error)
}

// Current reads and changes the settings in the store, and remembers the newest.
// It is safe for concurrent use.
type Current struct {
	Store    Store
	Changed  func()            // called after a change, by whoever; may be nil
	Switched func(chat string) // called when another chat is opened; may be nil

	mu       sync.Mutex // guards the fields below
	read     bool
	raw      json.RawMessage
	revision uint64
	decoded  *Settings // raw, for all readers; nil until one asks
}

// Settings returns the settings; what the store lacks is as by default. All callers share their
// slices and maps, so none may change those.
func (c *Current) Settings(ctx context.Context) (Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.read && c.decoded != nil {
		return *c.decoded, nil
	}
	set, err := c.settings(ctx)
	if err == nil {
		c.decoded = &set
	}
	return set, err
}

// settings reads the settings for one caller, who may change them.

func (c *Current) settings(ctx context.Context) (Settings, error) {
	set := Default()
	if !c.read {
		raw, revision, err := c.Store.Settings(ctx)
		if err != nil {
			return set, err
		}
		c.raw, c.revision, c.read, c.decoded = raw, revision, true, nil
	}
	if len(c.raw) == 0 {
		return set, nil
	}
	if err := json.Unmarshal(c.raw, &set); err != nil {
		return Default(), fault.Wrap(fault.Damaged, "settings", "The settings cannot be read.",
			"Restore a copy with conclave restore.", err)
	}
	return set, nil
}

// ChangeSettings checks and writes what change made of the settings.
func (c *Current) ChangeSettings(ctx context.Context, change func(*Settings)) (Settings, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	set, err := c.settings(ctx)
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
	if string(raw) == string(c.raw) {
		return set, nil
	}
	revision, err := c.Store.PutSettings(ctx, raw, c.revision)
	if err != nil {
		c.read = false // somebody else changed them: read again next time
		return set, err
	}
	c.raw, c.revision, c.decoded = raw, revision, nil
	if c.Changed != nil {
		c.Changed()
	}
	if c.Switched != nil && set.OpenChat != opened {
		c.Switched(set.OpenChat)
	}
	return set, nil
}
