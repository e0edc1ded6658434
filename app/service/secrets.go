package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"conclave/app/base/fault"
	"conclave/app/base/pattern"
	"conclave/app/plugin"
)

// Keys keeps secrets by name; keys.Store is the real one. Get fails with kind
// not_found when there is none.
type Keys interface {
	Get(ctx context.Context, name string) (string, error)
	Set(ctx context.Context, name, key string) error
	Delete(ctx context.Context, name string) error
}

// Bounds of a plugin's secrets (contracts/spindle, section 5.3).
const (
	maxSecret  = 64 << 10
	maxSecrets = 256
)

var secretKey = pattern.Lazy(`^[A-Za-z0-9_\-.]+$`)

// Secrets stores the secrets of plugins: those that they keep, and those that a person gave them,
// which they use without seeing them.
type Secrets struct {
	o *Options

	mu       sync.Mutex             // guards changing
	changing map[string]*sync.Mutex // orders changes of a plugin's list of secrets
}

type secretArgs struct {
	Key   string `json:"key"`
	Value string `json:"value"`
}

// A plugin's secrets lie with the person's own keys, below a name no connection
// can have. The names of them are one more secret, since a keychain lists
// nothing.
func secretName(id, key string) string { return "plugin/" + id + "/" + key }

func secretIndex(id string) string { return "plugin/" + id }

func (a secretArgs) check() error {
	if len(a.Key) > 128 || !secretKey().MatchString(a.Key) {
		return invalid("The name of a secret has 1 to 128 letters, digits, dots, dashes or underscores.")
	}
	return nil
}

func (s *Secrets) get(ctx context.Context, by plugin.Caller, a secretArgs) (any, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	value, err := s.o.Keys.Get(ctx, secretName(by.Plugin, a.Key))
	if fault.KindOf(err) == fault.NotFound {
		return map[string]any{"value": nil}, nil
	}
	if err != nil {
		return nil, err
	}
	return map[string]any{"value": value}, nil
}

func (s *Secrets) has(ctx context.Context, by plugin.Caller, a secretArgs) (any, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	names, err := s.names(ctx, secretIndex(by.Plugin))
	return map[string]any{"has": slices.Contains(names, a.Key)}, err
}

func (s *Secrets) list(ctx context.Context, by plugin.Caller, _ struct{}) (any, error) {
	names, err := s.names(ctx, secretIndex(by.Plugin))
	return map[string]any{"keys": names}, err
}

func (s *Secrets) put(ctx context.Context, by plugin.Caller, a secretArgs) (any, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	if len(a.Value) > maxSecret {
		return nil, invalid(fmt.Sprintf("A secret may hold at most %d KB.", maxSecret>>10))
	}
	defer s.lockSecrets(by.Plugin)()
	if err := s.addName(ctx, secretIndex(by.Plugin), a.Key, maxSecrets); err != nil {
		return nil, err
	}
	return done, s.o.Keys.Set(ctx, secretName(by.Plugin, a.Key), a.Value)
}

func (s *Secrets) delete(ctx context.Context, by plugin.Caller, a secretArgs) (any, error) {
	if err := a.check(); err != nil {
		return nil, err
	}
	defer s.lockSecrets(by.Plugin)()
	there, err := s.remove(ctx, secretIndex(by.Plugin), a.Key, secretName(by.Plugin, a.Key))
	return map[string]any{"deleted": there}, err
}

// All returns the secrets that a plugin has, so that they can be taken out of what
// leaves this computer.
func (s *Secrets) All(ctx context.Context, id string) ([]string, error) {
	names, err := s.names(ctx, secretIndex(id))
	if err != nil {
		return nil, err
	}
	var secrets []string
	for _, name := range names {
		value, err := s.o.Keys.Get(ctx, secretName(id, name))
		if fault.KindOf(err) == fault.NotFound {
			continue
		}
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, value)
	}
	names, err = s.names(ctx, givenIndex(id))
	for _, name := range names {
		if g, err := s.given(ctx, id, name); err == nil {
			secrets = append(secrets, g.Value)
		}
	}
	return secrets, err
}

// names reads a list of names, which is stored as a secret.
func (s *Secrets) names(ctx context.Context, index string) ([]string, error) {
	text, err := s.o.Keys.Get(ctx, index)
	names := []string{}
	switch {
	case fault.KindOf(err) == fault.NotFound:
		return names, nil
	case err != nil:
		return names, err
	}
	if json.Unmarshal([]byte(text), &names) != nil {
		return []string{}, fault.New(fault.Damaged, "service.secrets", "The list of this plugin's secrets cannot be read.",
			"")
	}
	return names, nil
}

// addName adds a name to a list of at most so many.
func (s *Secrets) addName(ctx context.Context, index, name string, most int) error {
	names, err := s.names(ctx, index)
	if err != nil || slices.Contains(names, name) {
		return err
	}
	if len(names) >= most {
		return invalid(fmt.Sprintf("A plugin may keep at most %d secrets.", most))
	}
	names = append(names, name)
	slices.Sort(names)
	return s.writeNames(ctx, index, names)
}

// remove deletes the secret under key and its name in a list. there is false when the list has no
// such name; then nothing is deleted.
func (s *Secrets) remove(ctx context.Context, index, name, key string) (there bool, err error) {
	names, err := s.names(ctx, index)
	i := slices.Index(names, name)
	if err != nil || i < 0 {
		return false, err
	}
	if err := s.o.Keys.Delete(ctx, key); err != nil && fault.KindOf(err) != fault.NotFound {
		return true, err
	}
	return true, s.writeNames(ctx, index, slices.Delete(names, i, i+1))
}

func (s *Secrets) writeNames(ctx context.Context, index string, names []string) error {
	if len(names) == 0 {
		if err := s.o.Keys.Delete(ctx, index); err != nil && fault.KindOf(err) != fault.NotFound {
			return err
		}
		return nil
	}
	text, err := json.Marshal(names)
	if err != nil {
		return err
	}
	return s.o.Keys.Set(ctx, index, string(text))
}

// lockSecrets orders the changes of one plugin's secrets.
func (s *Secrets) lockSecrets(id string) (unlock func()) {
	s.mu.Lock()
	m := s.changing[id]
	if m == nil {
		m = &sync.Mutex{}
		s.changing[id] = m
	}
	s.mu.Unlock()
	m.Lock()
	return m.Unlock
}
