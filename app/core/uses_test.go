package core

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/record/activity"
	"conclave/app/test/testkit"
)

// What a person answers while a call runs is on record, and in the plugin's log: each command
// that was started, and a folder once in a call however many files of it are opened.
func TestWhatAPersonAnsweredAboutCommandsAndFoldersIsOnRecord(t *testing.T) {
	w := walled(t, "notes", `
import os, subprocess

def look(path: str) -> str:
    "Look at letters."
    for name in sorted(os.listdir(path)):
        with open(os.path.join(path, name)) as f:
            f.read()
    return "".join(subprocess.run(["echo", "sk-abcdefghijklmnopqrstuvwxyz0123"], capture_output=True, text=True).stdout
                   for _ in range(2))
`)
	letters := filepath.Join(t.TempDir(), "Letters")
	for _, name := range []string{"a", "b", "c"} {
		testkit.Write(t, filepath.Join(letters, name), "dear "+name)
	}
	in := w.called("notes:look", fmt.Sprintf(`{"path":%q}`, letters), agrees{gate.ThisChat})

	rows, err := w.Store.Activity.Activity(t.Context(), activity.Filter{Chat: in, Plugin: "notes", Oldest: true})
	must(t, err)
	var got []string
	for _, row := range rows {
		e, d, err := row.Read()
		must(t, err)
		if e.Kind == activity.Used {
			by, _, _ := strings.Cut(e.By, " ")
			got = append(got, e.Effect+" by "+by+": "+activity.UsedWords(e, d))
			if said := activity.Sentences(e, d); !strings.HasPrefix(said[len(said)-1], "It was allowed by ") {
				t.Errorf("the record says %q", said)
			}
		}
	}
	home, err := os.UserHomeDir()
	must(t, err)
	started := "was let start “echo •••” in " + home
	want := "allow by person: was let read files in " + letters +
		"\nallow by person: " + started + "\nallow by rule: " + started
	if strings.Join(got, "\n") != want {
		t.Errorf("on record is\n%s\nand not\n%s", strings.Join(got, "\n"), want)
	}
	var log []string
	for _, l := range w.Host.Log("notes", 0) {
		log = append(log, l.Text)
	}
	if all := strings.Join(log, "\n"); strings.Count(all, "It was let start “echo ") != 2 ||
		!strings.Contains(all, "It was let read files in "+letters+": you allowed it for this chat.") {
		t.Errorf("the log says\n%s", all)
	}
}
