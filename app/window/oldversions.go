package window

import (
	"context"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/language"
	"conclave/app/base/limit"
	"conclave/app/chat"
	"conclave/app/chat/showing"
	"conclave/app/record/undo"
	"conclave/app/tool"
)

// maxChangesShown limits the files of one call that the page gets; the rest is counted.
const maxChangesShown = 100

// Changes returns what is kept of the files that a call changed, by the name in its record.
func (a *Activity) Changes(id string) (FileChanges, error) {
	set, err := a.core.Undo.Of(a.call(), id)
	if fault.KindOf(err) == fault.NotFound {
		return FileChanges{Files: []chat.FileChange{}}, nil
	}
	if err != nil {
		return FileChanges{}, err
	}
	return language.Shown(fileChanges(set)), nil
}

// Undo puts the files that a call changed back as they were before it.
func (a *Activity) Undo(id string) (FileChanges, error) { return a.turn(id, a.core.Undo.Undo) }

// Redo takes an Undo back.
func (a *Activity) Redo(id string) (FileChanges, error) { return a.turn(id, a.core.Undo.Redo) }

func (a *Activity) turn(id string, do func(context.Context, string) (undo.Outcome, error)) (FileChanges, error) {
	out, err := do(a.call(), id)
	if err != nil {
		return FileChanges{}, err
	}
	shown := fileChanges(out.Set)
	shown.Did = tool.OneLine(strings.TrimSpace(out.Sentence() + " " + out.Hint()))
	return language.Shown(shown), nil
}

// OldVersions returns what is kept of all files that calls changed.
func (a *Activity) OldVersions() (OldVersions, error) {
	usage, err := a.core.Undo.Usage(a.call())
	if err != nil {
		return OldVersions{}, err
	}
	return OldVersions{
		Sets: len(usage.Sets), Oldest: chat.Stamp(usage.Oldest), Old: limit.Size(usage.Old), Now: limit.Size(usage.Now),
		Any: usage.Old+usage.Now > 0, Days: int(undo.Kept / (24 * time.Hour)),
	}, nil
}

// EmptyOldVersions removes every old version for good.
func (a *Activity) EmptyOldVersions() (OldVersions, error) {
	if err := a.core.Undo.Empty(a.call()); err != nil {
		return OldVersions{}, err
	}
	return a.OldVersions()
}

// fileChanges returns a set as the page shows it.
func fileChanges(s undo.Set) FileChanges {
	shown := FileChanges{
		Kept: true, Undone: chat.Stamp(s.Undone), Partial: s.Unfinished, Files: []chat.FileChange{},
	}
	count := map[string]int{}
	for _, c := range s.Shown() {
		count[c.What()]++
		if len(shown.Files) == maxChangesShown {
			shown.More++
			continue
		}
		shown.Files = append(shown.Files, chat.FileChange{
			Path: tool.OneLine(c.Path()), What: c.What(), NotKept: c.NotKept(),
		})
	}
	var did []string
	for _, what := range []string{"created", "changed", "deleted"} {
		if n := count[what]; n > 0 {
			did = append(did, what+" "+limit.Counted(n, "file"))
		}
		delete(count, what)
	}
	for what, n := range count { // the one word there is for what is not known
		did = append(did, limit.Counted(n, "file")+" "+what)
	}
	if len(did) > 0 {
		shown.Sentence = showing.Sentence(strings.Join(did, ", ")) + "."
	}
	switch {
	case s.Interrupted:
		shown.Note = "Conclave was ended while the call ran: what changed until it started again is listed too."
	case s.Shared:
		shown.Note = "Another call used the folder at the same time, so that some of it may be that one's."
	}
	if s.Cut {
		shown.Note = strings.TrimSpace(shown.Note + " " + undo.TooManyFiles)
	}
	return shown
}
