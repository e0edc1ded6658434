package turn

import (
	"slices"
	"strings"
	"sync"

	"conclave/app/chat"
	"conclave/app/tool"
)

// notes gathers the notes of the message that is written next. It is safe for concurrent use.
type notes struct {
	mu  sync.Mutex
	all []chat.Note
}

// noteOf returns a sentence as a note: one line without hidden characters, since parts of it come from
// servers and files.
func noteOf(text string) chat.Note {
	shown, _ := tool.Strip(text)
	return chat.Note{Text: strings.Join(strings.Fields(shown), " ")}
}

// remark shows the person a sentence that is not saved.
func (t *run) remark(text string) { t.emit(chat.Event{Kind: chat.EventNoted, Note: text}) }

// note shows the person a sentence about the answer, and saves it with the message that is written
// next. A note that this message has already is counted.
func (t *run) note(text string) {
	if said := t.notes.add(noteOf(text)); said != "" {
		t.emit(chat.Event{Kind: chat.EventNoted, Note: said, Kept: true})
	}
}

// add returns the note to show the person: nothing if it was only counted.
func (n *notes) add(one chat.Note) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	all, fresh := chat.AddNote(n.all, one)
	n.all = all
	if !fresh {
		return ""
	}
	return all[len(all)-1].Text
}

// hear adds what a tool says to the person alone, by an event of its call: it is saved with the message that is written
// next.
func (n *notes) hear(e chat.Event) {
	if e.Kind == chat.EventNoted && e.Kept {
		n.add(noteOf(e.Note))
	}
}

// soFar returns the notes so far.
func (n *notes) soFar() []chat.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.all)
}

// take returns the notes so far and begins with none.
func (n *notes) take() []chat.Note {
	n.mu.Lock()
	defer n.mu.Unlock()
	all := n.all
	n.all = nil
	return all
}
