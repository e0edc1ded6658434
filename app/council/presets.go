package council

import (
	"cmp"
	"embed"
	"encoding/json"
	"fmt"
	"slices"
)

//go:embed presets/*.json
var presetFiles embed.FS

// presets lists the files of Presets in order.
var presets = []string{"three-chairs", "red-team", "editors-desk", "cost-steward"}

// Presets returns the councils that come with Conclave. Their members use the helper's model until a
// person chooses others.
func Presets() []Council {
	all := make([]Council, len(presets))
	for i, name := range presets {
		all[i] = preset(name)
	}
	return all
}

// SpeakingThrough returns the council with a helper model, where it has none, for members without a
// model.
func (c Council) SpeakingThrough(model string) Council {
	c.Helper.Model = cmp.Or(c.Helper.Model, model)
	return c
}

// Sample returns the council of the sample run, whose three members Demo guide plays, and its
// question.
func Sample() (c Council, question string) {
	return preset("sample"), "A team of four wants to publish a guide of 1,500 words on 18 December 2026. " +
		"It can begin on 30 November. Is that enough time, and who begins?"
}

// preset reads an embedded file.
func preset(name string) (c Council) {
	data, err := presetFiles.ReadFile("presets/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		panic(fmt.Sprintf("preset %s: %v", name, err))
	}
	return c
}

// ToolIDs returns the tools that members of the council have, each once.
func (c Council) ToolIDs() []string {
	var all []string
	for _, m := range c.Members {
		for _, id := range m.Tools {
			if !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	return all
}
