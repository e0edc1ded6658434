package settings_test

import (
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
