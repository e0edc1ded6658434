package model

import (
	"slices"
	"strings"
	"unicode"

	"conclave/app/base/hidden"
)

// maxID and maxTitle bound what a server calls a model, in bytes: real ids have up to 120.
const (
	maxID    = 400
	maxTitle = 400
)

// Listed returns those of a server's models whose ids can be shown as they are: in one line,
// with nothing hidden. An id is sent back as it came, so it cannot be mended. Titles are.
func Listed(models []Info) []Info {
	shown := slices.DeleteFunc(slices.Clone(models), func(m Info) bool { return !showable(m.ID) })
	for i := range shown {
		shown[i].Title = line(shown[i].Title, maxTitle)
	}
	return shown
}

// showable reports whether an id is one line that hides nothing.
func showable(id string) bool {
	return id != "" && len(id) <= maxID && line(id, maxID) == id
}

// line returns a server's words as one line that hides nothing, and is bounded.
func line(text string, most int) string {
	text, _ = hidden.Strip(strings.ToValidUTF8(text, "\uFFFD"))
	text = strings.Join(strings.FieldsFunc(text, unicode.IsSpace), " ")
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "")
	}
	return text
}
