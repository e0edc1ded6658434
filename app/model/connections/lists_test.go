package connections_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"conclave/app/base/settings"
	"conclave/app/model"
	"conclave/app/model/connections"
	"conclave/app/model/modeltest"
)

// counted is a provider that lists one model, and counts how often.
type counted struct {
	c     model.Connection
	times *atomic.Int32
	fails *atomic.Bool
}

func (counted) Open(string) model.Model { return modeltest.New() }

func (k counted) Models(context.Context) ([]model.Info, error) {
	k.times.Add(1)
	if k.fails.Load() {
		return nil, errors.New("the server is down")
	}
	return []model.Info{{Connection: k.c.Name, ID: "vast", Title: "Vast", Context: 333000}}, nil
}

func TestWhatAConnectionListedIsThereAtTheNextStart(t *testing.T) {
	store, path := &memory{keys: map[string]string{}}, filepath.Join(t.TempDir(), "models.json")
	var times atomic.Int32
	var fails atomic.Bool
	start := func() *connections.Models {
		return connections.New(connections.Options{
			Settings: &settings.Current{Store: store}, Keys: store, Log: slog.New(slog.DiscardHandler), Lists: path,
			Provider: func(c model.Connection) (model.Provider, error) {
				if c.Kind == "demo" {
					return nil, errors.New("no demo here")
				}
				return counted{c, &times, &fails}, nil
			},
			Demo:    func(string) bool { return false },
			Unasked: func(ctx context.Context) context.Context { return ctx },
		})
	}
	shows := func(m *connections.Models, want bool, when string) {
		t.Helper()
		info := m.Info(t.Context(), "work/vast")
		if got := info.Context == 333000 && info.Title == "Vast"; got != want {
			t.Errorf("%s the model is %+v", when, info)
		}
	}
	m := start()
	c := model.Connection{Name: "work", Kind: "openai", URL: "https://one.example/v1"}
	must(t, m.Add(t.Context(), c, ""))
	_, _, err := m.Test(t.Context(), "work")
	must(t, err)

	m = start()
	shows(m, true, "after a restart")
	if asked, _ := m.Asked(c); time.Since(asked) > time.Minute {
		t.Errorf("it was asked at %v", asked)
	}
	m.Refresh(t.Context(), time.Hour)
	if n := times.Load(); n != 1 {
		t.Errorf("a new list was requested again: %d times", n)
	}
	fails.Store(true)
	m.Refresh(t.Context(), 0)
	if n := times.Load(); n != 2 {
		t.Errorf("an old list was requested %d times", n-1)
	}
	shows(m, true, "after a refresh that failed")

	c.URL = "https://two.example/v1"
	must(t, m.Update(t.Context(), c, ""))
	shows(m, false, "at another address")
	c.URL = "https://one.example/v1"
	must(t, m.Update(t.Context(), c, ""))
	undo, err := m.Remove(t.Context(), "work")
	must(t, err)
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "{}" {
		t.Errorf("removed, the file holds %s, %v", raw, err)
	}
	must(t, undo(t.Context()))
	shows(start(), true, "taken back, and after a restart,")

	must(t, os.WriteFile(path, []byte("null"), 0o600))
	fails.Store(false)
	m = start()
	shows(m, false, "with a damaged file")
	m.Refresh(t.Context(), time.Hour)
	shows(m, true, "refreshed")
}
