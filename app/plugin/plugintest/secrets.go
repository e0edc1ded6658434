package plugintest

import (
	"context"
	"sync"

	"conclave/app/base/fault"
)

// Secrets is a host.Secrets that lives as long as it is held. The zero value is
// empty. It is safe for concurrent use.
type Secrets struct {
	Refuses error // of Set; nil keeps

	mu   sync.Mutex // guards Kept
	Kept map[string]string
}

// Get implements host.Secrets.
func (s *Secrets) Get(_ context.Context, name string) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if secret, ok := s.Kept[name]; ok {
		return secret, nil
	}
	return "", fault.New(fault.NotFound, "secrets", "There is no secret "+name+".", "")
}

// Set implements host.Secrets.
func (s *Secrets) Set(_ context.Context, name, secret string) error {
	if s.Refuses != nil {
		return s.Refuses
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Kept == nil {
		s.Kept = map[string]string{}
	}
	s.Kept[name] = secret
	return nil
}

// Delete implements host.Secrets.
func (s *Secrets) Delete(_ context.Context, name string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.Kept, name)
	return nil
}
