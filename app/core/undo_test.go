package core

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"conclave/app/activity"
	"conclave/app/chat"
	"conclave/app/llm/llmtest"
	"conclave/app/permit"
	"conclave/app/testkit"
	"conclave/app/turn"
)

// allower is a person who is asked and says yes to that one thing.
type allower struct{}

// Ask implements permit.Asker.
func (allower) Ask(context.Context, permit.Request) (permit.Answer, error) {
	return permit.Answer{Effect: permit.Allow, Scope: permit.Once}, nil
}

func TestWhatACallWroteInAFolderThatItAskedForIsUndoneAndOnRecord(t *testing.T) {
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 was not found")
	}
	w := &whole{t: t, data: t.TempDir()}
	testkit.Write(t, filepath.Join(w.data, "plugins", "notes.py"), `
import os

def write(path: str, text: str) -> str:
    "Write a file, and another beside it."
    with open(path, "w") as f:
        f.write(text)
    with open(path + ".new", "w") as f:
        f.write(text)
    return "written"
`)
	w.open()
	if has := w.launcher.Confinement(); has.Level != "process+landlock" || has.Network != "" {
		t.Skip("this system holds no process:", has)
	}
	must(t, w.Host.Approve(t.Context(), "notes", false))
	w.settle()
	letters := filepath.Join(t.TempDir(), "Letters")
	letter := filepath.Join(letters, "a.txt")
	testkit.Write(t, letter, "dear a")
	write, ok := w.Tools.Set().ByID("notes:write")
	if !ok {
		t.Fatal("the plugin has no tool")
	}

	in := w.chat()
	model := llmtest.New(
		[]llmtest.Step{llmtest.Call("one", write.WireName, fmt.Sprintf(`{"path":%q,"text":"cruel a"}`, letter))},
		[]llmtest.Step{llmtest.Say("Done.")})
	_, err := w.Conversations.Run(t.Context(), turn.Request{
		Conversation: in, Text: "Write.", Model: model, Tools: w.Tools.Set().ForModel(), Asker: allower{},
	}, nil)
	must(t, err)
	records, err := w.Store.Calls(t.Context(), chat.CallFilter{Conversation: in})
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

	rows, err := w.Store.Activity(t.Context(), activity.Filter{Chat: in, Limit: 1})
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
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("python3 was not found")
	}
	w := &whole{t: t, data: t.TempDir()}
	testkit.Write(t, filepath.Join(w.data, "plugins", "papers.py"), `
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
	w.open()
	if has := w.launcher.Confinement(); has.Level != "process+landlock" || has.Network != "" {
		t.Skip("this system holds no process:", has)
	}
	must(t, w.Host.Approve(t.Context(), "papers", false))
	letters := filepath.Join(t.TempDir(), "Letters")
	letter, moved := filepath.Join(letters, "a.txt"), filepath.Join(letters, "b.txt")
	testkit.Write(t, letter, "dear a")
	_, err := w.Gate.GrantFolder(t.Context(), "papers", permit.Folder{Path: letters, Write: true})
	must(t, err)
	w.settle()
	call := func(name, arguments string, asked int) chat.CallRecord {
		t.Helper()
		found, ok := w.Tools.Set().ByID("papers:" + name)
		if !ok {
			t.Fatal("the plugin has no tool " + name)
		}
		if _, err := w.Gate.AddRule(t.Context(), permit.Rule{
			Effect: permit.Allow, Plugin: "papers", Tool: name, Scope: permit.Always, Callers: []permit.Caller{permit.Main},
		}); err != nil {
			t.Fatal(err)
		}
		person, in := &refuser{}, w.chat() // each in a chat of its own, which holds nobody's text yet
		_, err := w.Conversations.Run(t.Context(), turn.Request{
			Conversation: in, Text: "Go.", Tools: w.Tools.Set().ForModel(), Asker: person,
			Model: llmtest.New([]llmtest.Step{llmtest.Call("c", found.WireName, arguments)},
				[]llmtest.Step{llmtest.Say("Done.")}),
		}, nil)
		must(t, err)
		if len(person.asked) != asked {
			t.Fatalf("%s was asked about %d times, want %d: %+v", name, len(person.asked), asked, person.asked)
		}
		records, err := w.Store.Calls(t.Context(), chat.CallFilter{Conversation: in})
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
