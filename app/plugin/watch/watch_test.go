package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/test/testkit"
)

// write saves a file in one step: between two a busy machine may let the watcher see
// what lies there, and rightly tell of it twice.
var (
	must  = testkit.Must
	write = testkit.Save
)

// patient is the time that a test waits for what must come.
var patient = testkit.Patience

// follow runs Run over dir and returns what it emits, once it follows.
type follow struct {
	t       *testing.T
	dir     string
	changed chan []string
	states  chan error
}

func start(t *testing.T, dir string, first bool) *follow {
	t.Helper()
	f := &follow{t: t, dir: dir, changed: make(chan []string, 1000), states: make(chan error, 1000)}
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(t.Context())) // t's ends before its cleanups
	stop := errors.New("the test is over")
	ended := make(chan error, 1)
	go func() { // ends with ctx
		ended <- Run(ctx, dir, Options{OnState: func(err error) {
			f.states <- err
		}}, func(names []string) { f.changed <- names })
	}()
	t.Cleanup(func() {
		cancel(stop)
		select {
		case err := <-ended:
			if !errors.Is(err, stop) {
				t.Errorf("Run ended with %v, want its context's cause", err)
			}
		case <-time.After(patient):
			t.Error("Run did not end")
		}
	})
	if first {
		f.state("")
	}
	return f
}

// state waits for a state: "" means that the folder is followed.
func (f *follow) state(want fault.Kind) error {
	f.t.Helper()
	select {
	case err := <-f.states:
		if fault.KindOf(err) != want {
			f.t.Fatalf("the folder's state is %v, want kind %q", err, want)
		}
		return err
	case <-time.After(patient):
		f.t.Fatalf("no state of kind %q came", want)
		return nil
	}
}

// wants waits until exactly these names were emitted, in any portions.
func (f *follow) wants(names ...string) {
	f.t.Helper()
	f.wantsOf(names, names...)
}

// wantsOf waits until these names were emitted, and no others than those of all.
func (f *follow) wantsOf(all []string, names ...string) {
	f.t.Helper()
	missing := map[string]bool{}
	for _, n := range names {
		missing[n] = true
	}
	deadline := time.After(patient)
	for len(missing) > 0 {
		select {
		case got := <-f.changed:
			for _, n := range got {
				if !slices.Contains(all, n) {
					f.t.Fatalf("%s was emitted, want only %v", n, all)
				}
				delete(missing, n)
			}
		case <-deadline:
			f.t.Fatalf("not emitted: %v", missing)
		}
	}
}

// nothingElse proves that nothing is on its way: a marker that is made now is
// the next thing to be emitted.
func (f *follow) nothingElse() {
	f.t.Helper()
	marker := fmt.Sprintf("marker%d.py", time.Now().UnixNano())
	write(f.t, filepath.Join(f.dir, marker), "x")
	select {
	case got := <-f.changed:
		if !slices.Equal(got, []string{marker}) {
			f.t.Fatalf("%v was emitted, want nothing but the marker", got)
		}
	case <-time.After(patient):
		f.t.Fatal("the marker was not emitted")
	}
}

// nothingBut is nothingElse where what was done took several steps: these names may have
// been emitted for each of them.
func (f *follow) nothingBut(names ...string) {
	f.t.Helper()
	marker := fmt.Sprintf("marker%d.py", time.Now().UnixNano())
	write(f.t, filepath.Join(f.dir, marker), "x")
	f.wantsOf(append(names, marker), marker)
}

// inSteps are those of TestEdits that take several steps.
var inSteps = []string{
	"Vim saves", "a new folder with folders", "a folder is removed", "a folder is swapped for another",
	"a file becomes a folder", "what a link in the folder points to",
}

// TestEdits does things to a folder of three plugins and says what is emitted.
func TestEdits(t *testing.T) {
	cases := map[string]struct {
		do   func(t *testing.T, dir string)
		want []string
	}{
		"a file is saved": {func(t *testing.T, dir string) {
			write(t, dir+"/a.py", "two")
		}, []string{"a.py"}},
		"a save changes nothing": {func(t *testing.T, dir string) {
			write(t, dir+"/a.py", "one")
		}, nil},
		"a file is touched": {func(t *testing.T, dir string) {
			must(t, os.Chtimes(dir+"/a.py", time.Now(), time.Now()), os.Chmod(dir+"/a.py", 0o600))
		}, nil},
		"the same length, the same second": {func(t *testing.T, dir string) {
			info, err := os.Stat(dir + "/a.py")
			must(t, err)
			write(t, dir+"/a.py", "0ne")
			must(t, os.Chtimes(dir+"/a.py", info.ModTime(), info.ModTime()))
		}, []string{"a.py"}},
		"an atomic save": {func(t *testing.T, dir string) {
			write(t, dir+"/.a.py.tmp123", "two")
			must(t, os.Rename(dir+"/.a.py.tmp123", dir+"/a.py"))
		}, []string{"a.py"}},
		"an atomic save under a visible name": {func(t *testing.T, dir string) {
			write(t, dir+"/a.py.tmp", "two")
			must(t, os.Rename(dir+"/a.py.tmp", dir+"/a.py"))
		}, []string{"a.py"}},
		"an atomic save that changes nothing": {func(t *testing.T, dir string) {
			write(t, dir+"/a.py~", "one")
			must(t, os.Rename(dir+"/a.py~", dir+"/a.py"))
		}, nil},
		"Vim saves": {func(t *testing.T, dir string) {
			write(t, dir+"/4913", "")
			must(t, os.Remove(dir+"/4913"), os.Rename(dir+"/a.py", dir+"/a.py~"))
			write(t, dir+"/a.py", "two")
			must(t, os.Remove(dir+"/a.py~"))
		}, []string{"a.py"}},
		"Emacs saves": {func(t *testing.T, dir string) {
			must(t, os.Symlink("me@host.1:2", dir+"/.#a.py"))
			write(t, dir+"/#a.py#", "tw")
			write(t, dir+"/a.py", "two")
			must(t, os.Remove(dir+"/#a.py#"), os.Remove(dir+"/.#a.py"))
		}, []string{"a.py"}},
		"a new file": {func(t *testing.T, dir string) {
			write(t, dir+"/new.py", "x")
		}, []string{"new.py"}},
		"a new empty file": {func(t *testing.T, dir string) {
			write(t, dir+"/new.py", "")
		}, []string{"new.py"}},
		"a new folder with folders": {func(t *testing.T, dir string) {
			write(t, dir+"/new/src/deep/x.ts", "x")
		}, []string{"new"}},
		"a file is removed": {func(t *testing.T, dir string) {
			must(t, os.Remove(dir+"/a.py"))
		}, []string{"a.py"}},
		"a folder is removed": {func(t *testing.T, dir string) {
			must(t, os.RemoveAll(dir+"/dir"))
		}, []string{"dir"}},
		"a file is renamed": {func(t *testing.T, dir string) {
			must(t, os.Rename(dir+"/a.py", dir+"/c.py"))
		}, []string{"a.py", "c.py"}},
		"a folder is renamed": {func(t *testing.T, dir string) {
			must(t, os.Rename(dir+"/dir", dir+"/other"))
		}, []string{"dir", "other"}},
		"a file takes another's place": {func(t *testing.T, dir string) {
			must(t, os.Rename(dir+"/a.py", dir+"/b.py"))
		}, []string{"a.py", "b.py"}},
		"a folder moves in": {func(t *testing.T, dir string) {
			outside := t.TempDir()
			write(t, outside+"/p/x/y.py", "x")
			must(t, os.Rename(outside+"/p", dir+"/p"))
		}, []string{"p"}},
		"a folder moves out": {func(t *testing.T, dir string) {
			must(t, os.Rename(dir+"/dir", t.TempDir()+"/dir"))
		}, []string{"dir"}},
		"a folder is swapped for another": {func(t *testing.T, dir string) {
			outside := t.TempDir()
			write(t, outside+"/dir/main.py", "other")
			must(t, os.Rename(dir+"/dir", outside+"/old"), os.Rename(outside+"/dir", dir+"/dir"))
		}, []string{"dir"}},
		"deep inside a folder": {func(t *testing.T, dir string) {
			write(t, dir+"/dir/lib/util.py", "changed")
		}, []string{"dir"}},
		"a file is added deep inside": {func(t *testing.T, dir string) {
			write(t, dir+"/dir/lib/more/x.py", "new")
		}, []string{"dir"}},
		"dist is source": {func(t *testing.T, dir string) {
			write(t, dir+"/dir/dist/backend.js", "new")
		}, []string{"dir"}},
		"a file becomes a folder": {func(t *testing.T, dir string) {
			must(t, os.Remove(dir+"/a.py"))
			write(t, dir+"/a.py/main.py", "one")
		}, []string{"a.py"}},
		"what is no part of a plugin": {func(t *testing.T, dir string) {
			for _, name := range []string{
				".git/HEAD", "node_modules/x/i.js", "__pycache__/a.pyc", "dir/.git/HEAD",
				"dir/node_modules/x/i.js", "dir/__pycache__/a.pyc", "dir/.venv/x.py", "dir/.main.py.swp", "dir/main.py~",
				"dir/x.part", ".hidden.py", "dir/.env",
			} {
				write(t, dir+"/"+name, "x")
			}
		}, nil},
		"an empty folder inside": {func(t *testing.T, dir string) {
			must(t, os.Mkdir(dir+"/dir/empty", 0o755))
		}, nil},
		"several at once": {func(t *testing.T, dir string) {
			write(t, dir+"/a.py", "two")
			write(t, dir+"/b.py", "two")
			write(t, dir+"/dir/main.py", "two")
		}, []string{"a.py", "b.py", "dir"}},
		"a link out": {func(t *testing.T, dir string) {
			outside := t.TempDir() + "/secret.py"
			write(t, outside, "x")
			must(t, os.Symlink(outside, dir+"/dir/link.py"))
		}, nil}, // nothing that runs sees it
		"what a link in the folder points to": {func(t *testing.T, dir string) {
			must(t, os.Remove(dir+"/b.py"), os.Symlink("a.py", dir+"/b.py"))
			write(t, dir+"/a.py", "two")
		}, []string{"a.py", "b.py"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for _, file := range []string{"a.py", "b.py", "dir/main.py", "dir/lib/util.py"} {
				write(t, filepath.Join(dir, file), "one")
			}
			write(t, dir+"/b.py", "b")
			f := start(t, dir, true)
			c.do(t, dir)
			f.wants(c.want...)
			if slices.Contains(inSteps, name) {
				f.nothingBut(c.want...)
			} else {
				f.nothingElse()
			}
		})
	}
}

func TestWhatIsThereAtTheStartIsNotEmitted(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.py", "one")
	write(t, dir+"/dir/main.py", "one")
	start(t, dir, true).nothingElse()
}

// Whoever lists the folder meanwhile has seen it, and would keep it for ever.
func TestWhatIsGoneBeforeItCameToRestIsTold(t *testing.T) {
	f := start(t, t.TempDir(), true)
	write(t, f.dir+"/x/a.py", "1")
	must(t, os.RemoveAll(f.dir+"/x"))
	f.wants("x")
	f.nothingBut("x")
}

func TestEditsInANewFolderAreFollowed(t *testing.T) {
	f := start(t, t.TempDir(), true)
	write(t, f.dir+"/p/src/x.py", "1")
	f.wants("p")
	for i := range 5 {
		write(t, f.dir+"/p/src/x.py", fmt.Sprint("edit ", i))
		f.wants("p")
	}
	must(t, os.Rename(f.dir+"/p/src", f.dir+"/p/lib"))
	f.wants("p")
	write(t, f.dir+"/p/lib/x.py", "after the rename")
	f.wants("p")
	f.nothingBut("p")
}

func TestTheLastEditWins(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/a.py", "0")
	var last string
	read := make(chan string, 1000)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ready := make(chan struct{}, 1)
	go func() { // ends with ctx
		_ = Run(ctx, dir, Options{OnState: func(error) { ready <- struct{}{} }}, func([]string) {
			content, _ := os.ReadFile(dir + "/a.py")
			read <- string(content)
		})
	}()
	<-ready
	for i := range 200 {
		last = fmt.Sprint("edit ", i)
		write(t, dir+"/a.py", last)
	}
	deadline := time.After(patient)
	for got := ""; got != last; {
		select {
		case got = <-read:
		case <-deadline:
			t.Fatalf("the last edit was not passed on; the last one that was is %q", got)
		}
	}
}

func TestAFileThatNeverRestsIsPassedOn(t *testing.T) {
	dir := t.TempDir()
	write(t, dir+"/p/log.txt", "0")
	f := start(t, dir, true)
	stop := make(chan struct{})
	stopped := make(chan struct{})
	go func() { // ends with stop
		defer close(stopped)
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
				_ = os.WriteFile(dir+"/p/log.txt", []byte(strings.Repeat("x", i%1000)), 0o644)
			}
		}
	}()
	f.wants("p")
	close(stop)
	<-stopped
}

func TestTheFolderMayComeGoAndBeReplaced(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "deep", "plugins")
	f := start(t, dir, false)
	if err := f.state(fault.NotFound); !strings.Contains(err.Error(), dir) {
		t.Errorf("%v does not name the folder", err)
	}
	write(t, parent+"/aside/plugins/a.py", "one")
	must(t, os.Rename(parent+"/aside", parent+"/deep")) // its parent did not exist either
	f.state("")
	write(t, dir+"/a.py", "two")
	f.wants("a.py")

	must(t, os.Rename(dir, dir+".old"))
	f.state(fault.NotFound)
	must(t, os.Rename(dir+".old", dir))
	f.state("")
	write(t, dir+"/a.py", "three")
	f.wants("a.py")

	write(t, parent+"/next/b.py", "one") // another folder takes its place at once
	must(t, os.Rename(dir, dir+".old"), os.Rename(parent+"/next", dir))
	for { // it may be noticed as gone in between
		if err := <-f.states; err == nil {
			break
		}
	}
	write(t, dir+"/b.py", "two")
	f.wants("b.py")

	must(t, os.Rename(dir, dir+".gone"))
	f.state(fault.NotFound)
	write(t, dir, "a file")
	f.state(fault.Invalid)
	must(t, os.Remove(dir))
	f.state(fault.NotFound)
	must(t, os.Mkdir(dir, 0o755))
	f.state("")
	f.nothingElse()
}

func TestAnUnreadableFolderSaysSo(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	f := start(t, t.TempDir(), true)
	must(t, os.Chmod(f.dir, 0))
	f.state(fault.Unavailable)
	must(t, os.Chmod(f.dir, 0o700))
	f.state("")
	f.nothingElse()
}

func TestALinkAsTheFolder(t *testing.T) {
	parent := t.TempDir()
	must(t, os.Mkdir(parent+"/one", 0o755), os.Mkdir(parent+"/two", 0o755), os.Symlink("one", parent+"/plugins"))
	f := start(t, parent+"/plugins", true)
	f.nothingElse()
	must(t, os.Symlink("two", parent+"/next"), os.Rename(parent+"/next", parent+"/plugins"))
	f.state("")
	f.nothingElse()
}

func TestIgnored(t *testing.T) {
	for _, name := range []string{
		".git", ".x.py.swp", "x.py~", "#x.py#", ".#x.py", "4913", "x.tmp", "x.py.tmp",
		"x.py.tmp.4711", "x.py.tmp4711", "~$x.py", "x.part", "node_modules", "__pycache__", "venv", "x.pyc",
		"x.py___jb_tmp___",
	} {
		if !Ignored(name) {
			t.Errorf("%s is not ignored", name)
		}
	}
	for _, name := range []string{
		"x.py", "dist", "build", "tmp", "x.tmpl", "x.template.ts", "_manifest.json", "party.py",
		"4914", "environment.py",
	} {
		if Ignored(name) {
			t.Errorf("%s is ignored", name)
		}
	}
}

// BenchmarkSaveToEmit is the time from a finished save to the call of changed.
func BenchmarkSaveToEmit(b *testing.B) {
	dir := b.TempDir()
	for i := range 20 {
		write(b, fmt.Sprintf("%s/p%d.py", dir, i), strings.Repeat("x = 1\n", 700))
	}
	changed := make(chan time.Time, 10)
	ready := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	go func() { // ends with ctx
		_ = Run(ctx, dir, Options{OnState: func(error) { ready <- struct{}{} }}, func([]string) { changed <- time.Now() })
	}()
	<-ready
	var took []time.Duration
	for i := 0; b.Loop(); i++ {
		content := strings.Repeat("x = 1\n", 700) + fmt.Sprint(i)
		write(b, dir+"/.p0.py.tmp", content)
		saved := time.Now()
		must(b, os.Rename(dir+"/.p0.py.tmp", dir+"/p0.py"))
		took = append(took, (<-changed).Sub(saved))
	}
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 50)), "p50-ms")
	b.ReportMetric(testkit.Milliseconds(testkit.Percentile(took, 95)), "p95-ms")
}
