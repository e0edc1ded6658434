package activity_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"conclave/app/chat"
	"conclave/app/record/activity"
)

// The entries of undoing and redoing, in words.
func TestWhatWasUndoneIsASentenceAndItsFilesGoWithTheChat(t *testing.T) {
	mask := func(text string) string { return strings.ReplaceAll(text, "open sesame", "•••") }
	turning := activity.Reversal{
		Kind: activity.Undone, Time: time.Now(), Undo: "7-abcd", Call: 7, Turn: "turn", Changed: 3, Left: 1,
		Changes: []chat.FileChange{{Path: "/notes/open sesame.txt", What: "deleted"}, {Path: "/notes/b", What: "changed"}},
		Why:     "/notes/open sesame (it was changed since)",
	}
	of := &activity.Entry{Call: 7, Chat: "c1", Turn: "turn", Tool: "notes:write", Plugin: "notes"}
	between, redone := turning, turning
	between.Call, between.Undo, between.Left, between.Why = 0, "between-1", 0, ""
	redone.Kind = activity.Redone
	did := " 7 of notes:write: 3 files put back, 1 left as they are."
	files := "\n/notes/•••.txt was deleted.\n/notes/b was changed.\nAnd 1 more."
	left := "\nLeft as it is: /notes/••• (it was changed since)."
	for name, c := range map[string]struct {
		t      activity.Reversal
		of     *activity.Entry
		erased bool
		says   string
	}{
		"a call":                 {turning, of, false, "You undid call" + did + files + left},
		"again":                  {redone, of, false, "You redid call" + did + files + left},
		"of a chat that is gone": {turning, of, true, "You undid call" + did},
		"of a temporary chat": {
			turning, nil, false, "You undid what a call did that is not on record: 3 files put back, 1 left as they are.",
		},
		"between calls": {between, nil, false, "You undid what changed while no call ran: 3 files put back." + files},
	} {
		e, raw, err := c.t.Entry(c.of, c.erased, mask)
		if err != nil {
			t.Fatal(err)
		}
		var d *activity.Detail
		if raw != nil {
			d = &activity.Detail{}
			if err := json.Unmarshal(raw, d); err != nil {
				t.Fatal(err)
			}
		}
		if got := strings.Join(activity.Sentences(e, d), "\n"); got != c.says {
			t.Errorf("%s says\n%s\nand should say\n%s", name, got, c.says)
		}
		if e.Caller != "person" || (e.Detail == "") != (raw == nil) || raw != nil && e.Detail != activity.Hash(raw) {
			t.Errorf("%s: %+v with the detail %s", name, e, raw)
		}
	}
}
