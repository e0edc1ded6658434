package activity

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/limit"
	"conclave/app/chat"
)

// Reversal is an undo or a redo of the changes of a call.
type Reversal struct {
	Kind    Kind // Undone or Redone
	Time    time.Time
	Undo    string // names the old versions
	Call    uint64 // zero for what changed while no call ran
	Turn    string // of the call
	Changes []chat.FileChange
	Changed int    // how many files; Changes has the first of them
	Left    int    // how many were left as they are
	Why     string // they were
}

// Entry makes the entry of what was undone or redone, without its place in the chain, and its
// detail as it is written. of is the entry of the call, nil where the record has none, as of
// one in a temporary chat: then nothing is kept of what it was. erased says that the chat of
// the call was deleted for good, and with it the names of its files.
func (t Reversal) Entry(of *Entry, erased bool, mask func(string) string) (Entry, []byte, error) {
	e := Entry{
		Time: t.Time, Kind: t.Kind, Caller: "person", Undo: t.Undo, Changed: t.Changed, Left: t.Left,
	}
	if of != nil {
		e.Call, e.Chat, e.Turn, e.Tool, e.Plugin = of.Call, of.Chat, of.Turn, of.Tool, of.Plugin
	}
	if erased || of == nil && t.Call != 0 {
		return e, nil, nil
	}
	d := Detail{Salt: rand.Text(), Why: words(t.Why, mask), Changes: masking(t.Changes, mask)}
	return withDetail(e, d)
}

// masking returns changes without secrets in the names of files.
func masking(all []chat.FileChange, mask func(string) string) []chat.FileChange {
	var out []chat.FileChange
	for _, change := range all {
		change.Path = mask(change.Path)
		out = append(out, change)
	}
	return out
}

// turned is the sentence of an entry of what was undone or redone.
func turned(e Entry) string {
	call := "what a call did that is not on record"
	switch {
	case e.Call != 0:
		call = fmt.Sprintf("call %d of %s", e.Call, e.Tool)
	case strings.HasPrefix(e.Undo, "between-"): // as package undo names them
		call = "what changed while no call ran"
	}
	did := "undid "
	if e.Kind == Redone {
		did = "redid "
	}
	line := "You " + did + call + ": " + limit.Counted(e.Changed, "file") + " put back"
	if e.Left > 0 {
		line += fmt.Sprintf(", %d left as they are", e.Left)
	}
	return line + "."
}

// files names the files of such an entry, one a line, and why others were left.
func files(e Entry, d *Detail) []string {
	if d == nil {
		return nil
	}
	var out []string
	for _, change := range d.Changes {
		out = append(out, change.Path+" was "+change.What+".")
	}
	if more := e.Changed - len(d.Changes); more > 0 {
		out = append(out, fmt.Sprintf("And %d more.", more))
	}
	if d.Why != "" {
		out = append(out, "Left as it is: "+d.Why+".")
	}
	return out
}
