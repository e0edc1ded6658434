package model

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Catalog holds the models that a server listed last. The zero value is empty. It is
// safe for concurrent use.
type Catalog struct {
	mu    sync.Mutex // guards known
	known map[string]Info
}

// Set replaces the models, by ID, with those that the server behind a link listed, and returns them in the
// order of their IDs. The map belongs to the catalog then.
func (c *Catalog) Set(link *Link, models map[string]Info) []Info {
	link.listed.Store(true)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = models
	return slices.SortedFunc(maps.Values(models), func(a, b Info) int { return strings.Compare(a.ID, b.ID) })
}

// Seed takes in what was listed in an earlier run of the program.
func (c *Catalog) Seed(models []Info) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known = map[string]Info{}
	for _, m := range models {
		c.known[m.ID] = m
	}
}

// Find returns a model, and whether it was listed.
func (c *Catalog) Find(id string) (Info, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	info, ok := c.known[id]
	return info, ok
}
