package undo

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"conclave/app/base/fault"
	"conclave/app/base/place"
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
	before := w.k.archive.objects.path(set.Changes[0].Before.Text)
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
	check(t, "left", strings.Join(left, "; "), "a: its old version is damaged; deleted: it was changed since; "+
		"saved: it was changed since; zz of saved: it was changed since")
	check(t, "files", strings.Join([]string{w.text("saved"), w.text("deleted"), w.text("kept"), w.text("made")}, ", "),
		"I wrote on, mine, 1, -")
}

// smallDisk returns a folder with a file system of a MiB, which only root may mount.
func smallDisk(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=700,size=1m"); err != nil {
		t.Skipf("a small disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() { must(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return dir
}

// leave fills a disk until so many bytes are free.
func leave(t *testing.T, disk string, free int64) {
	t.Helper()
	var at syscall.Statfs_t
	must(t, syscall.Statfs(disk, &at))
	must(t, os.WriteFile(filepath.Join(disk, "ballast"), make([]byte, int64(at.Bfree)*at.Bsize-free), 0o600))
}

// lines is a text of so many bytes in which no two places are alike.
func lines(word string, size int) string {
	var b strings.Builder
	for n := 0; b.Len() < size; n++ {
		fmt.Fprintf(&b, "%s %d\n", word, n)
	}
	return b.String()[:size]
}

// granted are a folder that a plugin was given, a single file, and a single file that no other can
// take the place of, here since it is a mount.
var granted = map[string]func(w *world, disk string) (given, file string){
	"a folder": func(_ *world, disk string) (string, string) { return disk, filepath.Join(disk, "diary.txt") },
	"a file": func(_ *world, disk string) (string, string) {
		return filepath.Join(disk, "diary.txt"), filepath.Join(disk, "diary.txt")
	},
	"a file that stays the same file": func(w *world, disk string) (string, string) {
		file := filepath.Join(disk, "diary.txt")
		must(w.T, os.WriteFile(file, nil, 0o600))
		must(w.T, syscall.Mount(file, file, "", syscall.MS_BIND, ""))
		w.Cleanup(func() { must(w.T, syscall.Unmount(file, syscall.MNT_DETACH)) })
		return file, file
	},
}

func TestUndoAndRedoOnAFullDiskLeaveOneOfTheVersionsAndWorkOnceThereIsRoom(t *testing.T) {
	for name, prepare := range granted {
		for _, back := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", undo ", back), func(t *testing.T) {
				w := newWorld(t)
				disk := smallDisk(t)
				given, file := prepare(w, disk)
				long, short := lines("old", 300_000), "NEW"
				if !back {
					long, short = short, lines("new", 300_000)
				}
				must(t, os.WriteFile(file, []byte(long), 0o600))
				watch, err := w.k.Begin(t.Context(), Call{ID: 1}, []string{given})
				must(t, err)
				must(t, os.WriteFile(file, []byte(short), 0o600))
				w.end(watch)
				turn, other := w.k.Undo, w.k.Redo
				want, was := long, short
				if !back {
					w.undo("1")
					turn, other, want, was = w.k.Redo, w.k.Undo, short, long
				}
				for free := int64(0); free < 320_000; free += 40_000 {
					leave(t, disk, free)
					out, err := turn(t.Context(), "1")
					text, failed := os.ReadFile(file)
					must(t, failed)
					switch {
					case err == nil && string(text) == want && !out.Partial():
					case fault.KindOf(err) != fault.Unavailable || string(text) != was ||
						!strings.Contains(fault.Of(err).Message, "diary.txt (there is no space for it on its disk)."):
						t.Fatalf("with %d bytes free: %v, and the file has %d bytes", free, err, len(text))
					}
					must(t, os.Remove(filepath.Join(disk, "ballast")))
					if err == nil {
						_, err = other(t.Context(), "1")
						must(t, err)
					}
				}
				_, err = turn(t.Context(), "1")
				must(t, err)
				text, err := os.ReadFile(file)
				must(t, err)
				check(t, "the file with room", string(text) == want, true)
				if left, _ := filepath.Glob(filepath.Join(disk, "*.conclave-part")); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
			})
		}
	}
}

func TestAnUndoThatPutBackAPartGoesOnOnceThereIsRoom(t *testing.T) {
	w := newWorld(t)
	w.folder = smallDisk(t)
	for i := range 10 {
		w.put(strconv.Itoa(i), lines("old", 50_000))
	}
	w.call(func() {
		for i := range 10 {
			w.put(strconv.Itoa(i), "")
		}
	})
	leave(t, w.folder, 200_000)
	out := w.undo("1")
	if len(out.Done) == 0 || len(out.Done)+len(out.Left) != 10 || !out.Partial() ||
		!out.Set.Unfinished || out.Hint() == "" {
		t.Fatalf("done %d, left %+v, %+v", len(out.Done), out.Left, out.Set.Unfinished)
	}
	out = w.undo("1") // still no room, and none for a copy of what was put back
	check(t, "partial", out.Partial() && out.Set.Unfinished && out.Set.Undone.IsZero(), true)
	must(t, os.Remove(filepath.Join(w.folder, "ballast")))
	out = w.undo("1")
	check(t, "sentence", out.Sentence(), "10 files are as before the call.")
	check(t, "the last", w.text("9"), lines("old", 50_000))
	check(t, "over", out.Set.Unfinished, false)
	if _, err := w.k.Undo(t.Context(), "1"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("undone twice: %v", err)
	}

	leave(t, w.folder, 0)
	must(t, os.Remove(filepath.Join(w.folder, "ballast")))
	_, err := w.k.Redo(t.Context(), "1")
	must(t, err)
	leave(t, w.folder, 200_000)
	w.undo("1")
	_, err = w.k.Redo(t.Context(), "1") // takes the part back
	must(t, err)
	check(t, "the first", w.text("0"), "")
}

// A file that is written over in itself is cut off at any byte; a power cut may have lost what
// was behind the old end.
func TestWhatAnUndoWroteInPartIsNotTakenForAnEdit(t *testing.T) {
	for name, sizes := range map[string][2]int{"longer": {3, 9000}, "shorter": {9000, 3}, "as long": {9000, 9000}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			file := filepath.Join(w.folder, "diary.txt")
			after, before := lines("new", sizes[0]), lines("old", sizes[1])
			must(t, os.WriteFile(file, []byte(before), 0o600))
			watch, err := w.k.Begin(t.Context(), Call{ID: 1}, []string{file})
			must(t, err)
			must(t, os.WriteFile(file, []byte(after), 0o600))
			set := w.end(watch)
			states := map[string]string{"nothing": after, "all": before}
			if len(before) > 1000 {
				cut := before[:1000]
				if len(after) > len(cut) {
					cut += after[len(cut):]
				}
				states["a part"], states["zeros"] = cut, cut
				if len(after) < 1000 {
					states["zeros"] = before[:700] + strings.Repeat("\x00", 5000)
				}
			} else {
				states["a part"] = before + after[len(before):]
			}
			for what, text := range states {
				for _, back := range []bool{true, false} {
					must(t, os.WriteFile(file, []byte(text), 0o600))
					set.Unfinished = true
					must(t, w.k.archive.beginReversal(reversal{set.ID, true})) // as after a kill
					must(t, w.k.archive.saveSet(set))
					w.k.Close()
					w.reopen(w.k.o.Dir)
					if _, err := w.k.Usage(t.Context()); err != nil {
						t.Fatal(err)
					}
					if got := w.text("diary.txt"); got != before && got != after {
						t.Fatalf("%s: the next program left %d bytes", what, len(got))
					}
					turn, want := w.k.Undo, before
					if !back {
						turn, want = w.k.Redo, after
					}
					_, err := turn(t.Context(), "1")
					must(t, err)
					check(t, what, w.text("diary.txt") == want, true)
				}
			}

			must(t, os.WriteFile(file, []byte(before+"I wrote on"), 0o600)) // a person's edit stays
			set.Unfinished = true
			must(t, w.k.archive.beginReversal(reversal{set.ID, true}))
			must(t, w.k.archive.saveSet(set))
			w.k.Close()
			w.reopen(w.k.o.Dir)
			if _, err := w.k.Undo(t.Context(), "1"); fault.KindOf(err) != fault.Invalid {
				t.Errorf("the edit: %v", err)
			}
			check(t, "the edit", w.text("diary.txt"), before+"I wrote on")
		})
	}
}

func TestWhatAnUndoThatWasCutOffChangedIsNobodyElses(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.put("b", "1")
	set := w.call(func() { w.put("a", "2"); w.put("b", "2") })
	set.Unfinished = true
	must(t, w.k.archive.beginReversal(reversal{set.ID, true})) // as after a kill in the middle
	must(t, w.k.archive.saveSet(set))
	w.put("a", "1")
	w.put("c", "a plugin's, which ran on")
	left := filepath.Join(w.folder, "b.1-x-1.conclave-part")
	ended := exec.CommandContext(t.Context(), "true")
	must(t, ended.Run())
	left = strings.Replace(left, "b.1-", "b."+strconv.Itoa(ended.Process.Pid)+"-", 1)
	mine := place.Part(filepath.Join(w.folder, "b"))
	must(t, errors.Join(os.WriteFile(left, nil, 0o600), os.WriteFile(mine, nil, 0o600)))
	w.reopen(w.k.o.Dir)
	check(t, "the next call", said(w.call(func() {})), "")
	usage, err := w.k.Usage(t.Context())
	must(t, err)
	check(t, "sets", len(usage.Sets), 2)
	check(t, "of nobody", said(usage.Sets[0]), "created c")
	check(t, "the rest", w.undo("1").Sentence(), "2 files are as before the call.")
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file that an ended program was writing is still there")
	}
	if _, err := os.Stat(mine); err != nil {
		t.Errorf("the file that this program is writing: %v", err)
	}
}

func TestAFolderThatIsAwayIsSaidToBe(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.call(func() { w.put("a", "2") })
	must(t, os.Rename(w.folder, w.folder+".away"))
	_, err := w.k.Undo(t.Context(), "1")
	if fault.KindOf(err) != fault.Unavailable ||
		!strings.Contains(fault.Of(err).Message, "a (its folder is gone or cannot be opened).") {
		t.Errorf("away: %v", err)
	}
	must(t, os.Rename(w.folder+".away", w.folder))
	w.undo("1")
	check(t, "a", w.text("a"), "1")
}
