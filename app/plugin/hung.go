package plugin

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"conclave/app/permit"
	conclave "conclave/app/version"
)

// hung is a load that took all the time it may have. The same would take as long
// again, so it is not repeated at every start of Conclave.
type hung struct {
	Load    string  `json:"load"` // what was loaded, as loadOf says
	Problem Problem `json:"problem"`
}

// loadOf is the digest of all that makes a load of v what it is: its code and its
// settings, what it may reach, and this version of Conclave.
func (e *entry) loadOf(v version) string {
	granted, _ := e.h.o.Gate.Permissions(e.id)
	raw, err := json.Marshal(struct {
		Code, Settings, Conclave string
		Granted                  []string
		Folders                  []permit.Folder
	}{v.digest, v.settings, conclave.Version, granted, e.h.o.Gate.Folders(e.id)})
	if err != nil {
		return "" // text and lists of it: it always marshals
	}
	return fmt.Sprintf("%x", sha256.Sum256(raw))
}

// knownToHang returns the problem of a load that took too long before; nil for
// one that is worth its time.
func (e *entry) knownToHang(v version) error {
	load := e.loadOf(v)
	e.mu.Lock()
	known := e.record.Hung
	e.mu.Unlock()
	if known == nil || known.Load != load {
		return nil
	}
	p := known.Problem
	p.Message += " It is not started again until its files, settings or permissions change, or it is reloaded."
	return &p
}

// noteHang remembers durably whether loading v took too long; err is how it ended.
func (e *entry) noteHang(v version, err error) {
	if e.temporary {
		return
	}
	var now *hung
	if err != nil {
		if p := asProblem(err); p.Kind == "deadline" {
			now = &hung{Load: e.loadOf(v), Problem: *p}
			now.Problem.Stderr = "" // the plugin's own words, which are its log's to keep
		}
	}
	e.mu.Lock()
	was := e.record.Hung
	e.record.Hung = now
	e.mu.Unlock()
	if was != nil || now != nil {
		e.save()
	}
}
