package council

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestThePresetsCanBeUsedAsTheyAre(t *testing.T) {
	var modes []Mode
	sample, question := Sample()
	if question == "" {
		t.Error("the sample has no question")
	}
	for _, c := range append(Presets(), sample) {
		if err := c.Check(); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if !c.Enabled || len(c.Members) != 3 {
			t.Errorf("%s is on: %v, with %d members", c.Name, c.Enabled, len(c.Members))
		}
		for _, m := range c.Members {
			if m.Role == "" || m.Context.Span == AsMode || m.Color == "" {
				t.Errorf("%s: %s has no role, no context or no colour", c.Name, m.Name)
			}
			if c.Chair == "" && (m.Model != "" || m.Persona.Definition == "" || m.Persona.Behavior == "") {
				t.Errorf("%s: %s has a model, or is nobody", c.Name, m.Name)
			}
			if c.Chair != "" && (!strings.HasPrefix(m.Model, "demo/") || len(m.Tools) == 0) {
				t.Errorf("%s: %s speaks through %s with %q", c.Name, m.Name, m.Model, m.Tools)
			}
		}
		modes = append(modes, c.Mode)
	}
	if want := []Mode{Opinions, Advocate, Relay, Review, Review}; !slices.Equal(modes, want) {
		t.Errorf("the presets show the modes %v, want %v", modes, want)
	}
}

// Somebody who chooses a preset has chosen a model for the chat before.
func TestAPresetSpeaksThroughTheModelOfTheChat(t *testing.T) {
	c := Presets()[0]
	if got := c.SpeakingThrough("openai/gpt-5").Helper.Model; got != "openai/gpt-5" || c.Helper.Model != "" {
		t.Errorf("its members speak through %q, and in the preset through %q", got, c.Helper.Model)
	}
	c.Helper.Model = "box/llama"
	if got := c.SpeakingThrough("openai/gpt-5").Helper.Model; got != "box/llama" {
		t.Errorf("in place of the helper they speak through %q", got)
	}
}

// A preset that somebody changes is another's copy: the next one who asks has it as it came.
func TestAPresetIsACopy(t *testing.T) {
	Presets()[0].Members[0].Name = "Somebody"
	Presets()[0].Members[0].Tools = append(Presets()[0].Members[0].Tools, "x:y")
	data, err := json.Marshal(Presets()[0])
	if err != nil || strings.Contains(string(data), "Somebody") || strings.Contains(string(data), "x:y") {
		t.Errorf("a preset was changed for everybody: %s, %v", data, err)
	}
}
