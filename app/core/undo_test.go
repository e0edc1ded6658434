package core

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"conclave/app/chat"
	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/test/testkit"
)

func TestWhatACallWroteInAFolderThatItAskedForIsUndoneAndOnRecord(t *testing.T) {
	w := walled(t, "notes", `
import os

def write(path: str, text: str) -> str:
    "Write a file, and another beside it."
    with open(path, "w") as f:
        f.write(text)
    with open(path + ".new", "w") as f:
        f.write(text)
    return "written"
`)
	letters := filepath.Join(t.TempDir(), "Letters")
	letter := filepath.Join(letters, "a.txt")
	testkit.Write(t, letter, "dear a")
	in := w.called("notes:write", fmt.Sprintf(`{"path":%q,"text":"cruel a"}`, letter), agrees{gate.Once})
	records, err := w.Store.Calls.Calls(t.Context(), chat.CallFilter{Conversation: in})
	must(t, err)
	if len(records) != 1 || records[0].Changed != 2 || records[0].Undo == "" || records[0].Unkept != "" {
		t.Fatalf("the records are %+v", records)
	}
	out, err := w.Undo.Undo(t.Context(), records[0].Undo)
	must(t, err)
	if got, err := os.ReadFile(letter); string(got) != "dear a" || len(out.Done) != 2 {
		t.Errorf("after undoing, %+v, it holds %q, %v", out, got, err)
	}
	if _, err := os.Stat(letter + ".new"); !os.IsNotExist(err) {
		t.Errorf("the file that was made: %v", err)
	}

	rows, err := w.Store.Activity.Activity(t.Context(), activity.Filter{Chat: in, Limit: 1})
	must(t, err)
	e, d, err := rows[0].Read()
	must(t, err)
	got := activity.Sentences(e, d)
	want := []string{
		fmt.Sprintf("You undid call %d of notes:write: 2 files put back.", records[0].ID),
		letter + " was changed.", letter + ".new was deleted.",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("on record is %q, want %q", got, want)
	}
}

// What a tool may do in a folder that its plugin may write is allowed for longer than once,
// until a call of it deletes something there: what that was is put back, and from then on the
// person is asked each time.
func TestAToolThatDeletedAFileIsAskedAboutEachTime(t *testing.T) {
	w := walled(t, "papers", `
import os

def tidy(path: str) -> str:
    "Tidy a file up."
    os.remove(path)
    return "tidied"

def move(path: str, to: str) -> str:
    "Move a file."
    os.rename(path, to)
    return "moved"
`)
	letters := filepath.Join(t.TempDir(), "Letters")
	letter, moved := filepath.Join(letters, "a.txt"), filepath.Join(letters, "b.txt")
	testkit.Write(t, letter, "dear a")
	_, err := w.Gate.Reach.GrantFolder(t.Context(), "papers", gate.Folder{Path: letters, Write: true})
	must(t, err)
	w.settle()
	call := func(name, arguments string, asked int) chat.CallRecord {
		t.Helper()
		if _, err := w.Gate.Rules.Add(t.Context(), gate.Rule{
			Effect: gate.Allow, Plugin: "papers", Tool: name, Scope: gate.Always, Callers: []gate.Caller{gate.Main},
		}); err != nil {
			t.Fatal(err)
		}
		person := &refuser{}
		in := w.called("papers:"+name, arguments, person)
		if len(person.asked) != asked {
			t.Fatalf("%s was asked about %d times, want %d: %+v", name, len(person.asked), asked, person.asked)
		}
		records, err := w.Store.Calls.Calls(t.Context(), chat.CallFilter{Conversation: in})
		must(t, err)
		return records[0]
	}

	call("move", fmt.Sprintf(`{"path":%q,"to":%q}`, letter, moved), 0)
	call("move", fmt.Sprintf(`{"path":%q,"to":%q}`, moved, letter), 0)
	record := call("tidy", fmt.Sprintf(`{"path":%q}`, letter), 0)
	if _, err := os.Stat(letter); !os.IsNotExist(err) || record.Undo == "" {
		t.Fatalf("it did not delete: %v, %+v", err, record)
	}
	if _, err := w.Undo.Undo(t.Context(), record.Undo); err != nil {
		t.Fatal(err)
	}
	call("tidy", fmt.Sprintf(`{"path":%q}`, letter), 1)
	if got, err := os.ReadFile(letter); string(got) != "dear a" {
		t.Errorf("it holds %q, %v", got, err)
	}
	call("move", fmt.Sprintf(`{"path":%q,"to":%q}`, letter, moved), 0)
}

// An undo puts another file in the place of the one that a plugin was given: its process, which goes
// on, writes that one as it wrote the first.
func TestAPluginWritesTheFileItWasGivenAfterAnUndoToo(t *testing.T) {
	w := walled(t, "diary", `
def write(path: str, text: str) -> str:
    "Write a file."
    with open(path, "w") as f:
        f.write(text)
    return "written"
`)
	diary := filepath.Join(t.TempDir(), "diary.txt")
	testkit.Write(t, diary, "dear diary")
	_, err := w.Gate.Reach.GrantFolder(t.Context(), "diary", gate.Folder{Path: diary, Write: true})
	must(t, err)
	w.settle()
	for range 2 {
		in := w.called("diary:write", fmt.Sprintf(`{"path":%q,"text":"NEW"}`, diary), agrees{gate.Once})
		records, err := w.Store.Calls.Calls(t.Context(), chat.CallFilter{Conversation: in})
		must(t, err)
		if got, _ := os.ReadFile(diary); string(got) != "NEW" || records[0].Undo == "" {
			t.Fatalf("it holds %q, and the record is %+v", got, records)
		}
		_, err = w.Undo.Undo(t.Context(), records[0].Undo)
		must(t, err)
		if got, _ := os.ReadFile(diary); string(got) != "dear diary" {
			t.Fatalf("after undoing it holds %q", got)
		}
	}
}
