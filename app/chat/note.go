package chat

import (
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/shorten"
)

// Note is a sentence for the person that is kept with a message: what of it was lost, cut or left
// out. No model is sent it.
type Note struct {
	Text     string `json:"text"`
	Count    int    `json:"count,omitempty"`    // how often it happened; 0 is once
	Imported bool   `json:"imported,omitempty"` // it stood in a file that was imported, and may be anybody's
}

// Bounds of the notes of one message. What a server sends, or a file holds, may give reason for
// thousands.
const (
	MostNotes = 20
	maxNote   = 1000 // characters of one text; the longest of Conclave's sentences has some 400
)

// otherNotes stands for the notes for which there was no room.
const otherNotes = "There were more notes about this message than are kept."

// AddNote adds a note. One with the text of an earlier one is counted and not repeated; beyond
// MostNotes they are only counted. fresh reports whether the text is new. It may change notes in place.
func AddNote(notes []Note, n Note) (all []Note, fresh bool) {
	if n.Text = shorten.To(strings.TrimSpace(n.Text), maxNote); n.Text == "" {
		return notes, false
	}
	same := func(have Note) bool { return have.Text == n.Text && have.Imported == n.Imported }
	i := slices.IndexFunc(notes, same)
	if i < 0 && len(notes) >= MostNotes-1 {
		n.Text, n.Imported = otherNotes, false
		i = slices.IndexFunc(notes, same)
	}
	if i < 0 {
		return append(notes, n), true
	}
	notes[i].Count = notes[i].times() + n.times()
	return notes, false
}

func (n Note) times() int { return max(n.Count, 1) }

// innerQuotes keeps words of a file within the quotes around them.
var innerQuotes = strings.NewReplacer("“", "‘", "”", "’")

// Sentence returns the note for a person. It says whose words those of an imported file are.
func (n Note) Sentence() string {
	text := n.Text
	if n.Imported {
		text = "A note in the imported file: “" + innerQuotes.Replace(text) + "”"
	}
	if n.Count > 1 {
		text = fmt.Sprintf("%s (%d times)", text, n.Count)
	}
	return text
}
