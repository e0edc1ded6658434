package undo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/test/testkit"
)

func must(t *testing.T, err error) { t.Helper(); testkit.Must(t, err) }

// world is a keeper and a folder that a plugin may write.
type world struct {
	*testing.T
	k      *Keeper
	folder string
	now    time.Time
	calls  uint64
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, folder: filepath.Join(t.TempDir(), "Notes"), now: time.Now()}
	must(t, os.Mkdir(w.folder, 0o755))
	w.reopen(filepath.Join(t.TempDir(), "undo"))
	return w
}

// newCrowd is a world of whose folder three names are looked at, with a file "1" of each name.
func newCrowd(t *testing.T, names ...string) *world {
	t.Helper()
	w := newWorld(t)
	w.k.archive.objects.names = 3
	for _, name := range names {
		w.put(name, "1")
	}
	return w
}

// reopen has another program go on with what is kept.
func (w *world) reopen(dir string) {
	w.k = Open(Options{Dir: dir, Now: func() time.Time { return w.now }})
	w.Cleanup(w.k.Close)
}

func (w *world) put(name, text string) {
	w.Helper()
	path := filepath.Join(w.folder, name)
	must(w.T, os.MkdirAll(filepath.Dir(path), 0o755))
	must(w.T, os.WriteFile(path, []byte(text), 0o644))
}

// text returns what lies at name; “-” is nothing.
func (w *world) text(name string) string {
	w.Helper()
	text, err := os.ReadFile(filepath.Join(w.folder, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	must(w.T, err)
	return string(text)
}

func (w *world) begin() *Watch {
	w.Helper()
	w.calls++
	watch, err := w.k.Begin(w.Context(), Call{ID: w.calls, Plugin: "notes", Tool: "notes:write"}, []string{w.folder})
	must(w.T, err)
	return watch
}

func (w *world) end(watch *Watch) Set {
	w.Helper()
	set, err := watch.End()
	must(w.T, err)
	return set
}

// call has a call do something.
func (w *world) call(do func()) Set {
	w.Helper()
	watch := w.begin()
	do()
	return w.end(watch)
}

func (w *world) undo(id string) Outcome {
	w.Helper()
	out, err := w.k.Undo(w.Context(), id)
	must(w.T, err)
	return out
}

// said is the changes in a line.
func said(s Set) string {
	var all []string
	for _, c := range s.Changes {
		line := c.What() + " " + c.Name
		if why := c.NotKept(); why != "" {
			line += " (" + why + ")"
		}
		all = append(all, line)
	}
	return strings.Join(all, ", ")
}

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestWhatACallChangedIsPutBack(t *testing.T) {
	w := newWorld(t)
	w.put("kept.md", "same")
	w.put("changed.md", "before")
	w.put("deep/er/deleted.md", "gone")
	w.put("replaced", "a file")
	must(t, os.Symlink("kept.md", filepath.Join(w.folder, "link")))
	must(t, os.Chmod(filepath.Join(w.folder, "changed.md"), 0o600))
	set := w.call(func() {
		w.put("changed.md", "after!") // the same size
		must(t, os.RemoveAll(filepath.Join(w.folder, "deep")))
		w.put("new/created.md", "new")
		must(t, os.Remove(filepath.Join(w.folder, "link")))
		must(t, os.Remove(filepath.Join(w.folder, "replaced")))
		must(t, os.Mkdir(filepath.Join(w.folder, "replaced"), 0o755))
	})
	check(t, "changes", said(set), "changed changed.md, deleted deep, deleted deep/er, deleted deep/er/deleted.md, "+
		"deleted link, created new, created new/created.md, changed replaced")
	out := w.undo("1")
	check(t, "left", len(out.Left), 0)
	check(t, "sentence", out.Sentence(), "8 files are as before the call.")
	for name, want := range map[string]string{
		"kept.md": "same", "changed.md": "before", "deep/er/deleted.md": "gone", "new/created.md": "-", "link": "same",
		"replaced": "a file",
	} {
		check(t, name, w.text(name), want)
	}
	info, err := os.Stat(filepath.Join(w.folder, "changed.md"))
	must(t, err)
	check(t, "mode", info.Mode().Perm(), 0o600)
	if _, err := os.Stat(filepath.Join(w.folder, "new")); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the folder that the call made is still there")
	}

	if _, err := w.k.Undo(t.Context(), "1"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("undone twice: %v", err)
	}
	redone, err := w.k.Redo(t.Context(), "1")
	must(t, err)
	check(t, "sentence", redone.Sentence(), "8 files are as after the call.")
	check(t, "redone", w.text("changed.md")+w.text("new/created.md")+w.text("deep/er/deleted.md"), "after!new-")
	w.undo("1")
	check(t, "undone again", w.text("changed.md"), "before")
}

func TestACallThatChangesNothingLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	set := w.call(func() {
		w.put("a", "2")
		w.put("a", "1")
		now := time.Now().Add(time.Hour)
		must(t, os.Chtimes(filepath.Join(w.folder, "a"), now, now))
	})
	check(t, "changes", len(set.Changes), 0)
	if _, err := w.k.Of(t.Context(), "1"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v, want that nothing is kept", err)
	}
}

// A program can set a file's times, and write within the time that one tick of the clock takes.
func TestAChangeThatHidesItsTimeIsSeen(t *testing.T) {
	w := newWorld(t)
	w.put("a", "before")
	path := filepath.Join(w.folder, "a")
	old := time.Now().Add(-time.Hour)
	must(t, os.Chtimes(path, old, old))
	w.now = time.Now().Add(time.Minute) // the look before finds nothing fresh
	set := w.call(func() {
		must(t, os.WriteFile(path, []byte("after!"), 0o644))
		must(t, os.Chtimes(path, old, old))
	})
	check(t, "changes", said(set), "changed a")
	w.undo("1")
	check(t, "a", w.text("a"), "before")
}

func TestAnUndoLeavesWhatWasChangedSince(t *testing.T) {
	w := newWorld(t)
	w.put("mine.md", "1")
	w.put("theirs.md", "1")
	w.call(func() { w.put("mine.md", "2"); w.put("theirs.md", "2") })
	w.put("mine.md", "I wrote on")
	out := w.undo("1")
	check(t, "sentence", out.Sentence(), "1 file is as before the call. Left as it is: "+
		filepath.Join(w.folder, "mine.md")+" (it was changed since).")
	check(t, "files", w.text("mine.md")+", "+w.text("theirs.md"), "I wrote on, 1")

	w.call(func() { w.put("a", "1") })
	w.put("a", "2")
	_, err := w.k.Undo(t.Context(), "2")
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Of(err).Message, "Nothing was put back") {
		t.Errorf("got %v", err)
	}
	check(t, "a", w.text("a"), "2")
}

func TestANumberThatSeveralCallsHaveUndoesNone(t *testing.T) {
	w := newWorld(t)
	names := map[string]string{}
	for _, turn := range []string{"one", "two"} { // of two temporary chats
		w.put(turn, "1")
		watch, err := w.k.Begin(t.Context(), Call{ID: 1, Turn: turn, Plugin: "notes", Tool: "notes:write"},
			[]string{w.folder})
		must(t, err)
		w.put(turn, "2")
		names[turn] = w.end(watch).ID
	}
	_, err := w.k.Undo(t.Context(), "1")
	if fault.KindOf(err) != fault.Invalid || !strings.Contains(fault.Of(err).Message, names["one"]+" (notes:write, ") ||
		!strings.Contains(fault.Of(err).Message, names["two"]+" (notes:write, ") {
		t.Errorf("got %v", err)
	}
	w.undo(names["one"])
	check(t, "files", w.text("one")+", "+w.text("two"), "1, 2")
	w.now = w.now.Add(Kept + time.Hour)
	if _, err := w.k.Undo(t.Context(), "1"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("once they are too old: %v", err)
	}
}

func TestChangesOfCallsOneAfterTheOtherAreUndoneOneByOne(t *testing.T) {
	w := newWorld(t)
	for _, text := range []string{"1", "2", "3"} {
		w.call(func() { w.put("a", text) })
	}
	if _, err := w.k.Undo(t.Context(), "2"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("the second was undone below the third: %v", err)
	}
	for _, step := range []struct{ id, want string }{{"3", "2"}, {"2", "1"}, {"1", "-"}} {
		w.undo(step.id)
		check(t, "after undoing "+step.id, w.text("a"), step.want)
	}
}

func TestCallsAtTheSameTimeSaySo(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	one := w.begin()
	w.put("a", "2")
	two := w.begin()
	w.put("b", "2")
	first, second := w.end(one), w.end(two)
	check(t, "first", said(first), "changed a, created b")
	check(t, "second", said(second), "created b")
	if !first.Shared || !second.Shared {
		t.Error("nothing says that another call ran")
	}
	w.undo("1")
	check(t, "files", w.text("a")+w.text("b"), "1-")
}

func TestWhatChangesBetweenCallsIsKeptAsNobodys(t *testing.T) {
	w := newWorld(t)
	w.put("a", "1")
	w.put("before the first", "1")
	w.call(func() {})
	w.put("a", "2")
	check(t, "the next call", said(w.call(func() {})), "")
	usage, err := w.k.Usage(t.Context())
	must(t, err)
	check(t, "sets", len(usage.Sets), 1)
	check(t, "changes", said(usage.Sets[0]), "changed a")
	check(t, "call", usage.Sets[0].Call, Call{})
	w.undo(usage.Sets[0].ID)
	check(t, "a", w.text("a"), "1")

	w.now = w.now.Add(time.Minute)
	w.put("a", "3") // up to the end of the program, which a plugin's process does not outlive
	w.k.Close()
	w.put("a", "4") // the person's own
	w.reopen(w.k.o.Dir)
	w.call(func() {})
	usage, err = w.k.Usage(t.Context())
	must(t, err)
	check(t, "sets", len(usage.Sets), 2)
	check(t, "after", usage.Sets[0].Changes[0].After.Size, 1)
	out, err := w.k.Undo(t.Context(), usage.Sets[0].ID)
	if err == nil {
		t.Errorf("what the person wrote was replaced: %+v", out)
	}
}

func TestWhatIsTooLargeIsSaidNotToBeKept(t *testing.T) {
	w := newWorld(t)
	w.k.archive.objects.most, w.k.archive.objects.total = 10, 25
	w.put("large", strings.Repeat("x", 11))
	w.put("just", strings.Repeat("y", 10))
	w.put("also", strings.Repeat("z", 10))
	w.put("over", strings.Repeat("z", 10))
	w.put("small", "1")
	set := w.call(func() {
		for _, name := range []string{"large", "just", "also", "over", "small"} {
			must(t, os.Remove(filepath.Join(w.folder, name)))
		}
		w.put("made", strings.Repeat("m", 11))
	})
	check(t, "changes", said(set), "deleted also, deleted just, deleted large (larger than 64 MiB), "+
		"created made (larger than 64 MiB), "+
		"deleted over (its folder has more than 256 MiB of smaller files), deleted small")
	out := w.undo("1")
	check(t, "left", len(out.Left), 3)
	check(t, "files", w.text("also")+w.text("just")+w.text("small")+w.text("large")+w.text("over"),
		"zzzzzzzzzzyyyyyyyyyy1--")
	check(t, "made", w.text("made"), strings.Repeat("m", 11))
}

func TestAFolderWithTooManyFilesIsWatchedAsFarAsThat(t *testing.T) {
	w := newCrowd(t, "a", "b", "c", "d")
	set := w.call(func() {
		for _, name := range []string{"a", "c", "d"} {
			w.put(name, "2")
		}
	})
	check(t, "changes", said(set), "changed a, changed c")
}

// Where there are too many names to look at, those that are known stay watched, and a file that
// was not seen is not replaced.
func TestInAFolderWithTooManyFilesUndoReplacesNothingThatItDidNotSee(t *testing.T) {
	w := newCrowd(t, "b", "c", "d")
	set := w.call(func() {
		w.put("a", "new") // so that the walk ends before d
		w.put("d", "2")
	})
	check(t, "changes", said(set), "created a, changed d")
	set = w.call(func() {
		for _, name := range []string{"b", "d"} {
			must(t, os.Remove(filepath.Join(w.folder, name)))
		}
	})
	check(t, "changes", said(set), "deleted b, deleted d")
	w.put("bb", "fills the look")
	w.put("d", "newer work")
	w.undo("2")
	check(t, "the one", w.text("b"), "1")
	check(t, "the other", w.text("d"), "newer work")
}

// A file that is seen first once others are gone may have been there all the time.
func TestWhatALookSawFirstIsNotSaidToBeCreatedAndNotDeletedByAnUndo(t *testing.T) {
	w := newCrowd(t, "b", "c", "d", "e")
	set := w.call(func() {
		must(t, os.Remove(filepath.Join(w.folder, "b")))
		must(t, os.Remove(filepath.Join(w.folder, "c")))
		w.put("d", "2")
	})
	check(t, "changes", said(set), "deleted b, deleted c, changed d, seen first e ("+unseenWhy+")")
	check(t, "said to be cut", set.Cut, true)
	out := w.undo("1")
	check(t, "left", len(out.Left), 1)
	check(t, "b", w.text("b"), "1")
	check(t, "d", w.text("d"), "1")
	check(t, "e", w.text("e"), "1")
	// Of a folder that is seen as a whole again, what is new was created.
	must(t, os.Remove(filepath.Join(w.folder, "b")))
	must(t, os.Remove(filepath.Join(w.folder, "c")))
	w.call(func() {})
	set = w.call(func() { w.put("a", "new") })
	check(t, "changes", said(set), "created a")
	check(t, "said to be cut", set.Cut, false)
	w.undo("3")
	check(t, "a", w.text("a"), "-")
}

// What a plugin puts in place of a folder must not lead an undo elsewhere.
func TestNothingIsPutBackOverALink(t *testing.T) {
	w := newWorld(t)
	elsewhere := t.TempDir()
	w.put("deep/a", "1")
	w.call(func() { w.put("deep/a", "2") })
	must(t, os.RemoveAll(filepath.Join(w.folder, "deep")))
	must(t, os.Symlink(elsewhere, filepath.Join(w.folder, "deep")))
	must(t, os.WriteFile(filepath.Join(elsewhere, "a"), []byte("2"), 0o600))
	if _, err := w.k.Undo(t.Context(), "1"); fault.KindOf(err) != fault.Invalid {
		t.Errorf("got %v", err)
	}
	text, err := os.ReadFile(filepath.Join(elsewhere, "a"))
	must(t, err)
	check(t, "elsewhere", string(text), "2")
}

// A plugin that may write around a folder of which old versions are kept makes what holds it a link
// to where another folder of that name lies, or a file.
func TestAttackWhatHoldsAFolderBecomesALinkBeforeItsUndo(t *testing.T) {
	for what, of := range map[string]string{"a folder": "deep", "a file": "deep/a"} {
		t.Run(what, func(t *testing.T) {
			w := newWorld(t)
			top, elsewhere := filepath.Dir(w.folder), t.TempDir()
			w.put("deep/a", "1")
			w.put("deep/gone", "1")
			watch, err := w.k.Begin(t.Context(), Call{ID: 1}, []string{filepath.Join(w.folder, of)})
			must(t, err)
			w.put("deep/a", "2")
			must(t, os.Remove(filepath.Join(w.folder, "deep", "gone")))
			w.end(watch)
			must(t, os.Mkdir(filepath.Join(elsewhere, "deep"), 0o755))
			must(t, os.WriteFile(filepath.Join(elsewhere, "deep", "a"), []byte("2"), 0o644))
			must(t, errors.Join(os.Rename(w.folder, filepath.Join(top, "kept")), os.Symlink(elsewhere, w.folder)))
			if out, err := w.k.Undo(t.Context(), "1"); fault.KindOf(err) != fault.Unavailable {
				t.Errorf("it put back %v: %v", out.Done, err)
			}
			check(t, "elsewhere", w.text("deep/a"), "2")
			check(t, "elsewhere, another", w.text("deep/gone"), "-")
			must(t, errors.Join(os.Remove(w.folder), os.Rename(filepath.Join(top, "kept"), w.folder)))
			w.undo("1")
			check(t, "where it was", w.text("deep/a"), "1")
		})
	}
}

func TestADamagedCopyIsNeverPutBack(t *testing.T) {
	w := newWorld(t)
	w.put("a", "before")
	set := w.call(func() { w.put("a", "after") })
	must(t, os.WriteFile(w.k.archive.objects.path(set.Changes[0].Before.Text), []byte("befo"), 0o600))
	_, err := w.k.Undo(t.Context(), "1")
	if fault.KindOf(err) != fault.Unavailable ||
		!strings.Contains(fault.Of(err).Message, "a (its old version is damaged).") {
		t.Errorf("half a copy: %v", err)
	}
	check(t, "a", w.text("a"), "after")
}

func TestOldVersionsGoAfter30Days(t *testing.T) {
	w := newWorld(t)
	w.put("a", "the old version")
	w.call(func() { w.put("a", "2") })
	w.now = w.now.Add(Kept)
	usage, err := w.k.Usage(t.Context())
	must(t, err)
	check(t, "sets on the last day", len(usage.Sets), 1)
	check(t, "old", usage.Old, int64(len("the old version")))
	w.now = w.now.Add(time.Second)
	if _, err := w.k.Undo(t.Context(), "1"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("got %v, want that nothing is kept", err)
	}
	usage, err = w.k.Usage(t.Context())
	must(t, err)
	check(t, "sets", len(usage.Sets), 0)
	check(t, "old", usage.Old, 0)
}

func TestTheOldestVersionsGoFirstWhenThereIsTooMuch(t *testing.T) {
	w := newWorld(t)
	for i := range 5 {
		w.now = w.now.Add(time.Minute)
		w.call(func() { w.put("a", strings.Repeat(strconv.Itoa(i), 10)) })
	}
	w.k.archive.most = 30
	usage, err := w.k.Usage(t.Context())
	must(t, err)
	if usage.Old+usage.Now > 30 || len(usage.Sets) == 0 || usage.Sets[0].Call.ID != 5 {
		t.Errorf("got %d sets with %d bytes, the newest of them %s", len(usage.Sets), usage.Old+usage.Now, usage.Sets[0].ID)
	}
	w.undo("5")
	check(t, "a", w.text("a"), "3333333333")
}

func TestEmptyRemovesEveryOldVersion(t *testing.T) {
	w := newWorld(t)
	w.put("a", "secret")
	w.call(func() { w.put("a", "2") })
	running := w.begin()
	must(t, w.k.Empty(t.Context()))
	must(t, filepath.WalkDir(w.k.o.Dir, func(path string, e fs.DirEntry, err error) error {
		if text, _ := os.ReadFile(path); string(text) == "secret" {
			t.Errorf("%s is still there", path)
		}
		return err
	}))
	w.put("a", "3")
	check(t, "the call that runs", said(w.end(running)), "changed a")
	w.undo("2")
	check(t, "a", w.text("a"), "2")
}

// TestAKillLosesNoVersion kills a program at random moments while it takes calls and undoes
// them, and has another go on.
func TestAKillLosesNoVersion(t *testing.T) {
	if dir := os.Getenv("UNDO_KILLED"); dir != "" {
		untilKilled(t, dir)
	}
	w := newWorld(t)
	dir := w.k.o.Dir
	for round := range 8 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestAKillLosesNoVersion$")
		cmd.Env = append(os.Environ(), "UNDO_KILLED="+w.folder, "UNDO_DIR="+dir, "UNDO_ROUND="+strconv.Itoa(round))
		out, err := cmd.StdoutPipe()
		must(t, err)
		must(t, cmd.Start())
		for range round + 1 { // each round it is killed some steps later
			var one string
			_, err := fmt.Fscanln(out, &one)
			must(t, err)
		}
		must(t, cmd.Process.Kill())
		_ = cmd.Wait()

		before := w.all()
		w.now = time.Now()
		w.reopen(dir)
		usage, err := w.k.Usage(t.Context())
		must(t, err)
		last := slices.IndexFunc(usage.Sets, func(s Set) bool { return s.Call.ID/1000 == uint64(round) && s.Call.ID > 0 })
		if last < 0 { // killed before it wrote
			w.k.Close()
			continue
		}
		set, id := usage.Sets[last], usage.Sets[last].ID
		for _, c := range set.Changes {
			for _, s := range []*State{c.Before, c.After} {
				if s == nil || s.Kind != "file" {
					continue
				}
				file, err := w.k.archive.objects.open(s.Text) // whole
				must(t, err)
				must(t, file.Close())
			}
		}
		if !set.Undone.IsZero() && !set.Unfinished {
			_, err = w.k.Redo(t.Context(), id)
			must(t, err)
			before = w.all()
		}
		w.undo(id)
		_, err = w.k.Redo(t.Context(), id)
		must(t, err)
		if !set.Unfinished && !slices.Equal(w.all(), before) {
			t.Errorf("round %d: undo and redo made\n%q of\n%q", round, w.all(), before)
		}
		w.k.Close()
	}
}

// all is every file with its text.
func (w *world) all() []string {
	var all []string
	must(w.T, filepath.WalkDir(w.folder, func(path string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && !strings.Contains(path, "conclave-part") {
			all = append(all, filepath.Base(path)+"="+w.text(filepath.Base(path)))
		}
		return err
	}))
	return all
}

// untilKilled takes calls and undoes them until somebody kills it.
func untilKilled(t *testing.T, folder string) {
	k := Open(Options{Dir: os.Getenv("UNDO_DIR")})
	round, err := strconv.ParseUint(os.Getenv("UNDO_ROUND"), 10, 64)
	must(t, err)
	ctx := context.Background()
	for n := round*1000 + 1; ; n++ {
		call := Call{ID: n, Plugin: "notes"}
		watch, err := k.Begin(ctx, call, []string{folder})
		must(t, err)
		fmt.Println("step")
		for i := range 5 {
			name := filepath.Join(folder, strconv.Itoa(i))
			must(t, os.WriteFile(name, fmt.Appendf(nil, "%d of %d", i, n), 0o600))
		}
		must(t, os.Remove(filepath.Join(folder, strconv.FormatUint(n%5, 10))))
		fmt.Println("step")
		_, err = watch.End()
		must(t, err)
		_, err = k.Undo(ctx, call.Handle())
		must(t, err)
		fmt.Println("step")
	}
}

func TestAFolderThatIsOpenedDuringACallIsKeptFromThen(t *testing.T) {
	w := newWorld(t)
	w.put("in/file", "one")
	w.put("in/other", "mine")
	w.put("beside", "same")
	in := filepath.Join(w.folder, "in")
	watch, err := w.k.Begin(t.Context(), Call{ID: 1, Plugin: "notes"}, nil)
	must(t, err)
	w.put("in/other", "mine, from before it was opened")
	must(t, watch.Add(t.Context(), in))
	w.put("in/file", "two")
	must(t, watch.Add(t.Context(), filepath.Join(in, "deeper"))) // has it already
	must(t, watch.Add(t.Context(), w.folder))                    // what is in in was looked at before
	w.put("in/file", "three")
	w.put("beside", "changed")
	set := w.end(watch)
	check(t, "changes", said(set), "changed beside, changed file")
	check(t, "sentence", w.undo("1").Sentence(), "2 files are as before the call.")
	for name, want := range map[string]string{
		"in/file": "one", "in/other": "mine, from before it was opened", "beside": "same",
	} {
		check(t, name, w.text(name), want)
	}

	must(t, watch.Add(t.Context(), t.TempDir())) // late: the call has ended
	check(t, "a folder that is added late", len(watch.folders), 2)
}

func TestAKillLeavesNestedFoldersOfACallTheirOwnChanges(t *testing.T) {
	w := newWorld(t)
	w.put("in/file", "one")
	watch, err := w.k.Begin(t.Context(), Call{ID: 1, Plugin: "notes"}, []string{filepath.Join(w.folder, "in")})
	must(t, err)
	w.put("in/file", "two")
	must(t, watch.Add(t.Context(), w.folder))
	w.put("beside", "new")
	w.reopen(w.k.o.Dir) // as after a kill: nothing ended
	set, err := w.k.Of(t.Context(), "1")
	must(t, err)
	check(t, "changes", said(set), "created beside, changed file")
	w.undo("1")
	check(t, "the file", w.text("in/file"), "one")
}

func TestWhatIsUndoneGoesOnRecordAlsoInPart(t *testing.T) {
	w := newWorld(t)
	var record []string
	broken := false
	w.k.o.Record = func(ctx context.Context, o Outcome) error {
		if broken {
			return errors.New("no space")
		}
		line := fmt.Sprint(o.Back, o.Set.Call.ID, len(o.Left))
		for _, c := range o.Changes() {
			line += " " + c.What() + " " + c.Name
		}
		record = append(record, line)
		return ctx.Err()
	}
	w.put("a", "1")
	w.put("gone", "1")
	w.call(func() {
		w.put("a", "2")
		w.put("new", "2")
		must(t, os.Remove(filepath.Join(w.folder, "gone")))
	})
	w.put("a", "mine")
	w.undo("1")
	_, err := w.k.Redo(t.Context(), "1")
	must(t, err)
	check(t, "record", strings.Join(record, "\n"),
		"true 1 1 created gone deleted new\nfalse 1 1 deleted gone created new")

	broken = true
	out, err := w.k.Undo(t.Context(), "1")
	if fault.KindOf(err) != fault.Unavailable || !strings.Contains(err.Error(), "could not be put on record") {
		t.Errorf("no record: %v", err)
	}
	check(t, "what was done all the same", len(out.Done), 2)
}
