package settings_test

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/settings"
	"conclave/app/model"
	"conclave/app/test/testkit"
)

var must = testkit.Must

func TestDefaultsAreAllowed(t *testing.T) {
	must(t, settings.Default().Check())
}

func TestKeysOfANewerVersionSurviveASave(t *testing.T) {
	s := settings.Default()
	must(t, json.Unmarshal([]byte(`{"theme":"dark","hologram":{"depth":3}}`), &s))
	s.TextSize = 17
	out, err := json.Marshal(s)
	must(t, err)
	for _, want := range []string{`"hologram":{"depth":3}`, `"theme":"dark"`, `"text_size":17`} {
		if !strings.Contains(string(out), want) {
			t.Errorf("saved settings %s lack %s", out, want)
		}
	}
}

func TestAFileTakesNoKeyFromTextFields(t *testing.T) {
	s := settings.Default()
	must(t, json.Unmarshal([]byte(`{"keys":{"a":"Tab","b":"E","c":"Shift+Enter","d":"Esc","e":"Mod+E","f":"F7",
		"g":"Shift+F6","h":"Alt+Up","i":"","j":"F"}}`), &s))
	want := map[string]string{"e": "Mod+E", "f": "F7", "g": "Shift+F6", "h": "Alt+Up", "i": ""}
	if !maps.Equal(s.Keys, want) {
		t.Errorf("got the shortcuts %v, want %v", s.Keys, want)
	}
	must(t, s.Check())
}

func TestAValueThatCannotBeIsNamed(t *testing.T) {
	tests := map[string]struct {
		change func(*settings.Settings)
		names  string
	}{
		"theme":                {func(s *settings.Settings) { s.Theme = "neon" }, "neon"},
		"text too large":       {func(s *settings.Settings) { s.TextSize = 99 }, "99"},
		"narrow dock":          {func(s *settings.Settings) { s.DockWidth = 10 }, "dock_width"},
		"connection name":      {connection(model.Connection{Name: "My Server", Kind: "openai"}), "My Server"},
		"connection kind":      {connection(model.Connection{Name: "a", Kind: "telepathy"}), "telepathy"},
		"address":              {connection(model.Connection{Name: "a", Kind: "openai", URL: "localhost:1"}), "localhost:1"},
		"key in the address":   {connection(model.Connection{Name: "a", Kind: "openai", URL: "https://user:pw@h/v1"}), "key"},
		"shortcut of a letter": {func(s *settings.Settings) { s.Keys["newChat"] = "Shift+E" }, "newChat"},
		"name of the built-in": {connection(model.Connection{Name: "demo", Kind: "openai"}), "demo"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			s := settings.Default()
			test.change(&s)
			err := s.Check()
			if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Of(err).Message, test.names) {
				t.Errorf("got %v, want a fault of kind invalid that names %q", err, test.names)
			}
		})
	}
}

func connection(c model.Connection) func(*settings.Settings) {
	return func(s *settings.Settings) { s.Connections = append(s.Connections, c) }
}

// kept is a store of settings that counts how often they are read.
type kept struct {
	value    json.RawMessage
	revision uint64
	reads    int
}

func (k *kept) Settings(context.Context) (json.RawMessage, uint64, error) {
	k.reads++
	return k.value, k.revision, nil
}

func (k *kept) PutSettings(_ context.Context, value json.RawMessage, revision uint64) (uint64, error) {
	if revision != k.revision {
		return 0, fault.New(fault.Conflict, "test", "They were changed meanwhile.", "")
	}
	k.value, k.revision = value, k.revision+1
	return k.revision, nil
}

func TestSettingsAreDecodedOnceUntilTheyChange(t *testing.T) {
	store := &kept{value: json.RawMessage(`{"theme":"dark","connections":[{"name":"a","kind":"openai"}]}`)}
	current := &settings.Current{Store: store}
	read := func() settings.Settings {
		t.Helper()
		set, err := current.Settings(t.Context())
		must(t, err)
		return set
	}
	first := read()
	if n := testing.AllocsPerRun(100, func() { read() }); n > 2 || store.reads != 1 {
		t.Errorf("a look at settings that did not change makes %v allocations; the store was read %d times", n, store.reads)
	}
	_, err := current.ChangeSettings(t.Context(), func(s *settings.Settings) { s.Connections[0].Title = "changed" })
	must(t, err)
	if got := read().Connections[0].Title; got != "changed" || first.Connections[0].Title != "" {
		t.Errorf("after a change, readers get %q, and what was read before is %q", got, first.Connections[0].Title)
	}
	store.revision++ // by another program
	store.value = json.RawMessage(`{"theme":"light"}`)
	if _, err := current.ChangeSettings(t.Context(), func(s *settings.Settings) { s.Zoom = 200 }); err == nil {
		t.Error("a change over somebody else's was written")
	}
	if got := read().Theme; got != settings.Light {
		t.Errorf("after somebody else's change, readers get the theme %s", got)
	}
}
