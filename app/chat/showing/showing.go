// Package showing holds what the transcript of the window and the views of both fronts show alike. It stands apart
// from the transcript so that the terminal's program does not link what draws Markdown.
package showing

import (
	"strings"
	"unicode/utf8"

	"conclave/app/chat"
)

// Words are the texts on a call's card that are not in its record.
type Words struct {
	Title  string // of the tool: "Save note"
	Doing  string // "save a note"
	Did    string // "Saved a note"
	Plugin string // display name; "" when the tool is of none
}

// Media is a content-addressed file; its bytes are at /media/<id>.
type Media struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime_type"`
	Size int64  `json:"size"`
}

// MediaOf returns m as the page gets it.
func MediaOf(m chat.Media) *Media {
	return &Media{ID: m.ID, Name: m.Name, MIME: m.MIME, Size: m.Size}
}

// Sentence returns s with a capital letter.
func Sentence(s string) string {
	if s == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(first)) + s[size:]
}
