package connections

import (
	"encoding/json"
	"os"
	"sync"
	"time"

	"conclave/app/base/place"
	"conclave/app/model"
)

// list holds what a connection listed last.
type list struct {
	Kind    string        `json:"kind"`    // of the connection then, and its address:
	Address string        `json:"address"` // another server's list is not shown
	Asked   time.Time     `json:"asked"`
	Took    time.Duration `json:"took_ns"`
	Models  []model.Info  `json:"models"`
}

// lists keeps what connections listed, by name, in a file: so it is there at the next start. The file can be
// deleted at any time; without a path everything is in memory alone. It is safe for concurrent use.
type lists struct {
	path string

	mu   sync.Mutex // guards the fields below
	read bool
	all  map[string]list
}

// load reads the file once. One that cannot be read is as good as none.
func (l *lists) load() {
	if l.read {
		return
	}
	l.read, l.all = true, map[string]list{}
	if l.path == "" {
		return
	}
	if raw, err := os.ReadFile(l.path); err == nil && json.Unmarshal(raw, &l.all) != nil {
		l.all = map[string]list{}
	}
	if l.all == nil { // the file holds null
		l.all = map[string]list{}
	}
}

// of returns what a connection listed at its present address, and nothing where it did not.
func (l *lists) of(c model.Connection) (kept list, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.load()
	if kept, ok = l.all[c.Name]; !ok || kept.Kind != c.Kind || kept.Address != c.URL {
		return list{}, false
	}
	return kept, true
}

// put keeps what a connection listed; nil forgets it. The error says that it is in memory alone.
func (l *lists) put(name string, kept *list) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.load()
	if kept == nil {
		delete(l.all, name)
	} else {
		l.all[name] = *kept
	}
	if l.path == "" {
		return nil
	}
	raw, err := json.Marshal(l.all)
	if err != nil {
		return err
	}
	return place.Save(l.path, raw)
}
