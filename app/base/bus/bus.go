// Package bus notifies its subscribers that something has a new revision.
//
// A notice says only what changed and its newest revision; the subscriber pulls the
// new state from its owner (docs/adr/0005). That makes the bus simple and lossless
// with bounded memory: for each subscriber and each (topic, id) it keeps only the
// newest notice until the subscriber takes it. The package imports nothing of
// Conclave's.
package bus

import (
	"context"
	"sync"
)

// Topic names what kind of thing changed.
type Topic string

// The topics the window knows.
const (
	Chats       Topic = "chats"       // the list of conversations
	Chat        Topic = "chat"        // one conversation; id is its id
	Plugins     Topic = "plugins"     // plugins and their states
	Tools       Topic = "tools"       // the tool set
	Questions   Topic = "questions"   // questions of plugins that wait for an answer
	Watches     Topic = "watches"     // resources that are kept fresh
	Permissions Topic = "permissions" // requests that wait, rules, approvals; with an id, what that plugin may do
	Models      Topic = "models"      // connections and their models
	Settings    Topic = "settings"    // settings
	Log         Topic = "log"         // one plugin's log; id is the plugin's id
	Toasts      Topic = "toasts"      // notices of plugins
	Links       Topic = "links"       // links that were opened in other programs
	Activity    Topic = "activity"    // the record of what tools did
	Edits       Topic = "edits"       // a plugin changed one conversation; id is its id
	Council     Topic = "council"     // one run of a council; id is its id
	Councils    Topic = "councils"    // the councils that are set, id is empty; the runs of a chat, id is its id
)

// Notice says that a thing has a new revision. Revisions of one (topic, id)
// only grow.
type Notice struct {
	Topic    Topic  `json:"topic"`
	ID       string `json:"id"`
	Revision uint64 `json:"revision"`
}

type key struct {
	topic Topic
	id    string
}

// Bus delivers notices. Use New. Its methods are safe for concurrent use and never
// block.
type Bus struct {
	mu        sync.Mutex // guards listeners and revisions
	listeners map[*Subscription]struct{}
	revisions map[key]uint64
}

// New returns a bus without subscribers.
func New() *Bus {
	return &Bus{listeners: map[*Subscription]struct{}{}, revisions: map[key]uint64{}}
}

// Changed makes a new revision of the thing and returns it.
func (b *Bus) Changed(topic Topic, id string) uint64 {
	b.mu.Lock()
	k := key{topic, id}
	b.revisions[k]++
	n := Notice{topic, id, b.revisions[k]}
	b.mu.Unlock()
	b.Publish(n)
	return n.Revision
}

// Revision returns the newest revision that Changed made of the thing, 0 when it
// never changed.
func (b *Bus) Revision(topic Topic, id string) uint64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.revisions[key{topic, id}]
}

// Publish delivers a notice whose revision its owner made. A subscriber that has not
// taken an older notice of the same thing gets only this one.
func (b *Bus) Publish(n Notice) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for s := range b.listeners {
		s.put(n)
	}
}

// Subscribe returns a subscription to the topics, or to all when none is named. Close
// it when done.
func (b *Bus) Subscribe(topics ...Topic) *Subscription {
	s := &Subscription{bus: b, wake: make(chan struct{}, 1), waiting: map[key]uint64{}}
	if len(topics) > 0 {
		s.topics = map[Topic]bool{}
		for _, t := range topics {
			s.topics[t] = true
		}
	}
	b.mu.Lock()
	b.listeners[s] = struct{}{}
	b.mu.Unlock()
	return s
}

// Subscription is the queue of one subscriber, with the newest notice of each thing.
type Subscription struct {
	bus    *Bus
	topics map[Topic]bool // nil: all
	wake   chan struct{}

	mu      sync.Mutex // guards waiting and order
	waiting map[key]uint64
	order   []key
}

func (s *Subscription) put(n Notice) {
	if s.topics != nil && !s.topics[n.Topic] {
		return
	}
	k := key{n.Topic, n.ID}
	s.mu.Lock()
	if old, ok := s.waiting[k]; !ok {
		s.order = append(s.order, k)
		s.waiting[k] = n.Revision
	} else {
		s.waiting[k] = max(old, n.Revision)
	}
	s.mu.Unlock()
	select {
	case s.wake <- struct{}{}:
	default: // a wake-up is already due
	}
}

// Next waits for notices and returns all that wait, oldest thing first, each
// with its newest revision. It fails only with ctx's cause.
func (s *Subscription) Next(ctx context.Context) ([]Notice, error) {
	for {
		if notices := s.take(); len(notices) > 0 {
			return notices, nil
		}
		select {
		case <-s.wake:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

func (s *Subscription) take() []Notice {
	s.mu.Lock()
	defer s.mu.Unlock()
	notices := make([]Notice, 0, len(s.order))
	for _, k := range s.order {
		notices = append(notices, Notice{k.topic, k.id, s.waiting[k]})
	}
	clear(s.waiting)
	s.order = s.order[:0]
	return notices
}

// Close ends the subscription. It may be called more than once.
func (s *Subscription) Close() {
	s.bus.mu.Lock()
	delete(s.bus.listeners, s)
	s.bus.mu.Unlock()
}
