package connections_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/model"
	"conclave/app/model/connections"
	"conclave/app/model/modeltest"
	"conclave/app/test/testkit"
)

var must = testkit.Must

// memory stores settings and keys in memory.
type memory struct {
	raw      json.RawMessage
	revision uint64
	keys     map[string]string
}

func (m *memory) Settings(context.Context) (json.RawMessage, uint64, error) {
	return m.raw, m.revision, nil
}

func (m *memory) PutSettings(_ context.Context, value json.RawMessage, _ uint64) (uint64, error) {
	m.raw = value
	m.revision++
	return m.revision, nil
}

func (m *memory) GetFor(_ context.Context, name, address string) (string, error) {
	if key, ok := m.keys[name+" "+address]; ok {
		return key, nil
	}
	return "", fault.New(fault.NotFound, "test", "There is no key.", "")
}

func (m *memory) SetFor(_ context.Context, name, address, key string) error {
	m.keys[name+" "+address] = key
	return nil
}

func (m *memory) DeleteFor(_ context.Context, name, address string) error {
	delete(m.keys, name+" "+address)
	return nil
}

func (*memory) Sentence() string      { return "Keys are in memory." }
func (*memory) NeedsPassphrase() bool { return false }
func (*memory) Fresh() bool           { return false }
func (*memory) Unlock(string) error   { return nil }

// keyed is a provider that lists its key as its only model.
type keyed struct{ c model.Connection }

func (keyed) Open(string) model.Model { return modeltest.New() }

func (k keyed) Models(ctx context.Context) ([]model.Info, error) {
	key, err := k.c.Key(ctx)
	if err != nil {
		return nil, err
	}
	return []model.Info{{Connection: k.c.Name, ID: "with-" + key}}, nil
}

func TestAKeyIsForTheAddressThatItWasGivenFor(t *testing.T) {
	store := &memory{keys: map[string]string{}}
	m := connections.New(connections.Options{
		Settings: &settings.Current{Store: store}, Keys: store, Log: slog.New(slog.DiscardHandler),
		Provider: func(c model.Connection) (model.Provider, error) {
			if c.Kind == "demo" {
				return nil, errors.New("no demo here")
			}
			return keyed{c}, nil
		},
		Demo:    func(string) bool { return false },
		Unasked: func(ctx context.Context) context.Context { return ctx },
	})
	listed := func() string {
		t.Helper()
		_, _, err := m.Test(t.Context(), "work")
		must(t, err)
		known, err := m.Known(t.Context())
		must(t, err)
		for _, info := range known {
			if info.Connection == "work" {
				return info.ID
			}
		}
		return ""
	}
	c := model.Connection{Name: "work", Kind: "openai", URL: "https://one.example/v1"}
	must(t, m.Add(t.Context(), c, "first"))
	if got := listed(); got != "with-first" {
		t.Errorf("at its address it has %q", got)
	}
	c.URL = "https://two.example/v1"
	must(t, m.Update(t.Context(), c, ""))
	if got := listed(); got != "with-" {
		t.Errorf("at another address it has %q", got)
	}
	if len(store.keys) > 0 {
		t.Errorf("the old key is stored still: %v", store.keys)
	}
	must(t, m.Update(t.Context(), c, "second"))
	undo, err := m.Remove(t.Context(), "work")
	must(t, err)
	if _, err := m.Open(t.Context(), "work/large"); fault.KindOf(err) != fault.NotFound || len(store.keys) > 0 {
		t.Errorf("removed, it opens with %v; the keys are %v", err, store.keys)
	}
	must(t, undo(t.Context()))
	if got := listed(); got != "with-second" {
		t.Errorf("restored, it has %q", got)
	}
}
