package chat_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/app/chat"
)

func TestNotesAreCountedAndNotRepeated(t *testing.T) {
	var notes []chat.Note
	var fresh int
	add := func(n chat.Note) {
		var is bool
		if notes, is = chat.AddNote(notes, n); is {
			fresh++
		}
	}
	for range 10_000 {
		add(chat.Note{Text: " A chunk was dropped. "})
	}
	if len(notes) != 1 || fresh != 1 || notes[0].Sentence() != "A chunk was dropped. (10000 times)" {
		t.Errorf("ten thousand equal ones are %+v", notes)
	}
	add(chat.Note{Text: "A chunk was dropped.", Imported: true})
	add(chat.Note{Text: "  "})
	if len(notes) != 2 || notes[1].Sentence() != "A note in the imported file: “A chunk was dropped.”" {
		t.Errorf("a file's are taken for Conclave's: %+v", notes)
	}
	for i := range 10_000 {
		add(chat.Note{Text: fmt.Sprintf("Odd chunk %d.", i), Count: i % 3})
	}
	last := notes[len(notes)-1]
	if len(notes) != chat.MostNotes || fresh != chat.MostNotes ||
		!strings.HasPrefix(last.Sentence(), "There were more notes about this message than are kept. (") {
		t.Errorf("%d notes, %d of them new, the last is %+v", len(notes), fresh, last)
	}
	long, _ := chat.AddNote(nil, chat.Note{Text: strings.Repeat("é", 100_000)})
	if n := utf8.RuneCountInString(long[0].Text); n != 1000 || !utf8.ValidString(long[0].Text) {
		t.Errorf("a long one has %d characters", n)
	}
}
