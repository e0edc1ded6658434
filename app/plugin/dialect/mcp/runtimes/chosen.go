package runtimes

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"sync"

	"conclave/app/base/place"
)

// Chosen keeps the programs that a person chose for commands that are not on the PATH, such as uvx. The zero value
// keeps them in memory alone. It is safe for concurrent use.
type Chosen struct {
	Path string // of the file that keeps them; empty for none

	mu  sync.Mutex // guards all
	all map[string]string
}

// Choose has a command be the program at path from now on. The error is a sentence for the person.
func (c *Chosen) Choose(command, path string) error {
	if !filepath.IsAbs(path) {
		return fmt.Errorf("%s is not the whole path of a program", path)
	}
	if err := executable(path); err != nil {
		return fmt.Errorf("%s cannot be started: %w", path, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readLocked()
	next := maps.Clone(c.all)
	next[command] = path
	if c.Path != "" {
		raw, err := json.MarshalIndent(next, "", "  ")
		if err != nil {
			return err
		}
		if err := place.Save(c.Path, raw); err != nil {
			return err
		}
	}
	c.all = next
	return nil
}

// readLocked reads the file once. One that cannot be read has chosen nothing.
func (c *Chosen) readLocked() {
	if c.all != nil {
		return
	}
	c.all = map[string]string{}
	raw, err := os.ReadFile(c.Path)
	if err != nil || json.Unmarshal(raw, &c.all) != nil || c.all == nil {
		c.all = map[string]string{}
	}
}

// In returns an environment in which these commands are the programs that were chosen.
func (c *Chosen) In(e *Environment) *Environment {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.readLocked(); len(c.all) == 0 {
		return e
	}
	with := *e
	with.chosen = c.all // which is replaced, never changed
	return &with
}
