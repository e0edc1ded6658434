package service

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin"
)

// writing are the services whose arguments the store keeps. Each alone has a
// bound; what a plugin writes in a loop has this one.
var writing = []string{
	"chats.update", "chats.append", "chats.edit", "variables.set",
	"world_books.create", "world_books.update", "world_books.entries.create", "world_books.entries.update",
	"characters.create", "characters.update", "personas.create", "personas.update",
}

// leastWritten counts for the smallest thing that is kept, as the store needs it.
const leastWritten = 4 << 10

// written counts what a plugin may still write: limit.PluginWrites at once, which comes
// back within an hour.
type written struct {
	left int64
	at   time.Time
}

// writeLimit bounds what each plugin writes.
type writeLimit struct {
	o *Options

	mu    sync.Mutex // guards wrote
	wrote map[string]*written
}

// bounded is a service that counts what the caller writes.
func (s *writeLimit) bounded(service plugin.Service) plugin.Service {
	do := service.Do
	service.Do = func(ctx context.Context, by plugin.Caller, args json.RawMessage) (any, error) {
		if !s.mayWrite(by.Plugin, max(leastWritten, int64(len(args)))) {
			s.o.Log.Warn("a plugin writes too much", "plugin", by.Plugin, "bytes", len(args))
			return nil, fault.New(fault.NotAllowed, "service.write",
				"the plugin wrote more than 128 MiB into Conclave within an hour, and has to wait", "")
		}
		return do(ctx, by, args)
	}
	return service
}

// mayWrite takes n bytes of what the plugin may write.
func (s *writeLimit) mayWrite(id string, n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now, most := s.o.Now(), int64(limit.PluginWrites)
	w, known := s.wrote[id]
	if !known {
		w = &written{left: most, at: now}
		s.wrote[id] = w
	}
	w.left = min(most, w.left+int64(float64(most)*now.Sub(w.at).Hours()))
	w.at = now
	if w.left < n {
		return false
	}
	w.left -= n
	return true
}
