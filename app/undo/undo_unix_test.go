//go:build unix

package undo

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAnUndoLeavesWhatIsChangedWhileItRuns(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"a", "deleted", "kept", "made", "saved"} {
		if name != "made" {
			w.put(name, "1")
		}
	}
	must(t, os.Link(filepath.Join(w.folder, "saved"), filepath.Join(w.folder, "zz of saved")))
	set := w.call(func() {
		for _, name := range []string{"a", "kept", "made", "saved"} {
			w.put(name, "2")
		}
		must(t, os.Remove(filepath.Join(w.folder, "deleted")))
	})
	before := w.k.objects.path(set.Changes[0].Before.Text)
	kept, err := os.ReadFile(before)
	must(t, err)
	must(t, os.Remove(before))
	must(t, syscall.Mkfifo(before, 0o600)) // opening it waits for who writes
	var out Outcome
	done := make(chan struct{})
	go func() { // ends once the copy was read
		defer close(done)
		out, err = w.k.Undo(w.Context(), "1")
	}()
	pipe, failed := os.OpenFile(before, os.O_WRONLY, 0)
	must(t, failed)
	w.put("saved", "I wrote on") // while the first is put back
	w.put("deleted", "mine")
	must(t, os.Remove(before))
	must(t, os.WriteFile(before, kept, 0o600))
	must(t, pipe.Close())
	<-done
	must(t, err)
	var left []string
	for _, l := range out.Left {
		left = append(left, filepath.Base(l.Path)+": "+l.Why)
	}
	check(t, "left", strings.Join(left, "; "), "a: it could not be written; deleted: it was changed since; "+
		"saved: it was changed since; zz of saved: it was changed since")
	check(t, "files", strings.Join([]string{w.text("saved"), w.text("deleted"), w.text("kept"), w.text("made")}, ", "),
		"I wrote on, mine, 1, -")
}
