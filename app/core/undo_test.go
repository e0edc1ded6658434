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
