package mcp

import (
	"context"
	"slices"
	"sync"
	"time"
)

// unwatchTime bounds the wait for a server to confirm that nobody watches a resource any longer.
const unwatchTime = 5 * time.Second

// watch is one who wants to know when a resource changes.
type watch struct{ news func(ended bool) }

// Watches implements plugin.Sharer.
func (b *backend) Watches() bool { return b.session.Server().Capabilities.Subscribe }

// Watch implements plugin.Sharer. The server is asked once, however many watch a resource.
func (b *backend) Watch(ctx context.Context, uri string, news func(ended bool)) (func(), error) {
	b.watching.Lock()
	defer b.watching.Unlock()
	w, over := &watch{news}, make(chan struct{})
	if b.watch(uri, w) == 1 {
		if err := b.session.Subscribe(ctx, uri); err != nil {
			b.unwatch(uri, w)
			return nil, err
		}
	}
	go func() { // ends with the session, or with stop
		select {
		case <-b.session.Done():
			news(true)
		case <-over:
		}
	}()
	return sync.OnceFunc(func() {
		b.watching.Lock()
		defer b.watching.Unlock()
		close(over)
		if b.unwatch(uri, w) > 0 {
			return
		}
		ctx, stop := context.WithTimeout(context.Background(), unwatchTime)
		defer stop()
		if err := b.session.Unsubscribe(ctx, uri); err != nil && b.to.Log != nil {
			b.to.Log("debug", "the end of a watch was not taken: "+err.Error())
		}
	}), nil
}

// watch adds one who watches, and returns how many there are.
func (b *backend) watch(uri string, w *watch) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.watched[uri] = append(b.watched[uri], w)
	return len(b.watched[uri])
}

// unwatch takes one away who watches, and returns how many are left.
func (b *backend) unwatch(uri string, w *watch) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := slices.DeleteFunc(slices.Clone(b.watched[uri]), func(one *watch) bool { return one == w })
	if b.watched[uri] = left; len(left) == 0 {
		delete(b.watched, uri)
	}
	return len(left)
}

// updated tells those who watch a resource that it changed.
func (b *backend) updated(uri string) {
	b.mu.Lock()
	all := b.watched[uri]
	b.mu.Unlock()
	for _, w := range all {
		w.news(false)
	}
}
