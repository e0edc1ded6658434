package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"sync"

	"conclave/app/base/place"
)

// maxEras bounds the servers whose era is kept: more than anybody has.
const maxEras = 1000

// eras keeps which era of the protocol each server turned out to speak, by its row, so that the next start does not ask
// it (MC-07). What cannot be read or written is asked again. It is safe for concurrent use.
type eras struct {
	path string // of the file; empty keeps them in memory alone

	mu  sync.Mutex // guards all
	all map[string]string
}

func keyOf(row string) string {
	sum := sha256.Sum256([]byte(row))
	return hex.EncodeToString(sum[:16])
}

// of returns the era of the server with a row; empty where it is not known.
func (e *eras) of(row string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readLocked()
	return e.all[keyOf(row)]
}

// set keeps the era of a server.
func (e *eras) set(row, era string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.readLocked()
	key := keyOf(row)
	if e.all[key] == era {
		return
	}
	if len(e.all) >= maxEras {
		clear(e.all)
	}
	e.all[key] = era
	if raw, err := json.Marshal(e.all); err == nil && e.path != "" {
		_ = place.Save(e.path, raw) // where that fails the server is asked again
	}
}

func (e *eras) readLocked() {
	if e.all != nil {
		return
	}
	e.all = map[string]string{}
	if e.path == "" {
		return
	}
	if raw, err := os.ReadFile(e.path); err == nil && json.Unmarshal(raw, &e.all) != nil {
		e.all = map[string]string{}
	}
	if e.all == nil { // the file holds null
		e.all = map[string]string{}
	}
}
