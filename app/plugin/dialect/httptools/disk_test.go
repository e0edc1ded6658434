package httptools_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"
)

// slowDisk is a memory whose records of plugins are not written before release is closed.
type slowDisk struct {
	*memory
	release chan struct{}
}

// PutPluginCache implements host.Store.
func (s slowDisk) PutPluginCache(ctx context.Context, id string, record json.RawMessage) error {
	<-s.release
	return s.memory.PutPluginCache(ctx, id, record)
}

func TestARegistrationWaitsForTheDiskOnce(t *testing.T) {
	release := make(chan struct{})
	b := newBench(t, func(b *bench) {
		b.memory = &memory{all: map[string]json.RawMessage{}}
		b.plugins = slowDisk{b.memory, release}
	})
	s := saying(t, "ok")
	b.register("x", s.URL, its(nil))
	id := "p-" + s.port()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	if err := b.host.WaitLoaded(ctx, id); err != nil { // its record is not written yet
		t.Errorf("a registration waits for the record of its plugin: %v", err)
	}
	close(release)
	b.close()
	if raw, err := b.memory.PluginCache(t.Context(), id); err != nil || len(raw) == 0 {
		t.Errorf("its record is %q, %v", raw, err)
	}
	b.open()
}
