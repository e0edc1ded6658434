package tool

import (
	"encoding/json"
	"unicode/utf8"
)

// A plugin may say how its tools are used together, in a text for models. It stands in the annotations of its first
// tool, so that it is a part of what a person approves of that, and pinned with it.
const guideKey = "conclave/guide"

// maxGuide bounds a guide in bytes: a page; each request to a model has it.
const maxGuide = 4 << 10

// WithGuide returns the annotations of a tool with a guide, cleaned and cut. Annotations that are no object stay as
// they are.
func WithGuide(annotations json.RawMessage, guide string) json.RawMessage {
	guide = guideOf(guide)
	all := map[string]json.RawMessage{}
	if guide == "" || len(annotations) > 0 && json.Unmarshal(annotations, &all) != nil {
		return annotations
	}
	if all == nil { // annotations are null
		all = map[string]json.RawMessage{}
	}
	text, err := json.Marshal(guide)
	if err != nil {
		return annotations // it is text
	}
	all[guideKey] = text
	out, err := json.Marshal(all)
	if err != nil {
		return annotations // each part was JSON
	}
	return out
}

// GuideIn returns the guide in the annotations of a plugin's tools; empty for none.
func GuideIn(tools []Tool) string {
	if len(tools) == 0 || len(tools[0].Annotations) == 0 {
		return ""
	}
	var said struct {
		Guide string `json:"conclave/guide"`
	}
	if json.Unmarshal(tools[0].Annotations, &said) != nil {
		return ""
	}
	return guideOf(said.Guide)
}

// guideOf returns a text as a guide: cleaned, and cut.
func guideOf(text string) string {
	text, _ = Clean(text)
	if len(text) <= maxGuide {
		return text
	}
	cut := maxGuide - len("…")
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}
