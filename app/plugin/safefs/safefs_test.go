package safefs_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"conclave/app/base/limit"
	"conclave/app/plugin/safefs"
	"conclave/app/test/testkit"
)

var must, write = testkit.Must, testkit.Write

func holds(t testing.TB, path, want string) {
	t.Helper()
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("%s holds %q, want %q; %v", path, got, want, err)
	}
}

// Every operation, with a link at each level of the name that it is given.
func TestNoOperationLeadsOverALink(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "precious", "file"), "precious")
	for level, name := range map[string]string{"the folder's own child": "link", "deep": filepath.Join("a", "b", "link")} {
		for where, target := range map[string]string{"out": filepath.Join(outside, "precious"), "inside": "."} {
			t.Run(level+" "+where, func(t *testing.T) {
				dir := filepath.Join(t.TempDir(), "storage")
				write(t, filepath.Join(dir, "file"), "own")
				must(t, os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o700), os.Symlink(target, filepath.Join(dir, name)))
				f, err := safefs.Open(dir)
				must(t, err)
				defer f.Close()
				through := filepath.Join(name, "file")
				_, _, readErr := f.Read(through, 10)
				_, statErr := f.Stat(through)
				_, lstatErr := f.Lstat(through)
				for what, err := range map[string]error{
					"read": readErr, "stat": statErr, "lstat": lstatErr, "write": f.Write(through, []byte("x")),
					"make":   f.MakeFolder(filepath.Join(name, "x")),
					"remove": f.Remove(through), "move from": f.Rename(through, "moved"), "move to": f.Rename("file", through),
					"walk": f.Walk(name, func(string, fs.DirEntry) error { return errors.New("it listed something") }),
				} {
					if !errors.Is(err, safefs.ErrLink) {
						t.Errorf("%s: got %v", what, err)
					}
				}
				holds(t, filepath.Join(outside, "precious", "file"), "precious")
				holds(t, filepath.Join(dir, "file"), "own")
			})
		}
	}
}

func TestAFolderThatIsALinkIsNotOpened(t *testing.T) {
	top, outside := t.TempDir(), t.TempDir()
	must(t, os.Symlink(outside, filepath.Join(top, "storage")))
	for what, open := range map[string]func(string) (*safefs.Folder, error){
		"open": safefs.Open,
		"make": safefs.OpenOrMake,
	} {
		if _, err := open(filepath.Join(top, "storage")); !errors.Is(err, safefs.ErrLink) {
			t.Errorf("%s: got %v", what, err)
		}
	}
}

func TestAWriteReplacesALinkAndASecondName(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "precious")
	write(t, outside, "precious")
	must(t, os.Symlink(outside, filepath.Join(dir, "soft")), os.Link(outside, filepath.Join(dir, "hard")))
	f, err := safefs.Open(dir)
	must(t, err)
	defer f.Close()
	must(t, f.Write("hard", []byte("new")))
	if err := f.Write("soft", []byte("new")); err != nil {
		t.Errorf("a link at the name itself: %v", err)
	}
	holds(t, outside, "precious")
	holds(t, filepath.Join(dir, "hard"), "new")
	holds(t, filepath.Join(dir, "soft"), "new")
	must(t, f.Remove("soft"))
	holds(t, outside, "precious")
}

// A plugin that swaps a folder for a link as fast as it can gets nothing outside.
func TestSwappingAFolderForALinkMeanwhileReachesNothing(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	write(t, filepath.Join(outside, "file"), "precious")
	f, err := safefs.Open(dir)
	must(t, err)
	defer f.Close()
	stop, over := make(chan struct{}), make(chan struct{})
	go func() { // ended by stop
		defer close(over)
		at := filepath.Join(dir, "a")
		for {
			select {
			case <-stop:
				return
			default:
			}
			_ = os.RemoveAll(at) // each step may meet the writer's
			_ = os.Symlink(outside, at)
			_ = os.Remove(at)
			_ = os.Mkdir(at, 0o700)
		}
	}()
	for range 3000 {
		_ = f.Write(filepath.Join("a", "file"), []byte("taken")) // what it meets does not matter
		if data, _, err := f.Read(filepath.Join("a", "file"), 100); err == nil && string(data) == "precious" {
			t.Fatal("it was read through the link")
		}
	}
	close(stop)
	<-over
	holds(t, filepath.Join(outside, "file"), "precious")
	if entries, err := os.ReadDir(outside); err != nil || len(entries) != 1 {
		t.Errorf("outside there are %v, %v", entries, err)
	}
}

func TestTheRecordOfTheCopyLiesBesideTheStorage(t *testing.T) {
	from, storage := t.TempDir(), filepath.Join(t.TempDir(), "id")
	write(t, filepath.Join(from, "data.txt"), "one")
	precious := filepath.Join(t.TempDir(), "precious")
	write(t, precious, "precious")
	must(t, os.MkdirAll(storage, 0o700), os.Symlink(precious, filepath.Join(storage, "desk.json")))
	must(t, safefs.SyncCopy(storage, "plugin", safefs.CopySource{Folder: from}))
	holds(t, filepath.Join(storage, "plugin", "data.txt"), "one")
	holds(t, precious, "precious")
	if record := safefs.CopyRecord(storage); filepath.Dir(record) != filepath.Dir(storage) {
		t.Errorf("the record is %s", record)
	}
}

func TestACopyKeepsWhatThePluginChangedUntilThePersonDoes(t *testing.T) {
	from, storage := t.TempDir(), filepath.Join(t.TempDir(), "id")
	for _, name := range []string{"kept", "edited", "deleted", "touched"} {
		write(t, filepath.Join(from, name), "one")
	}
	write(t, filepath.Join(from, "vendor", "x"), "not copied")
	write(t, filepath.Join(from, ".git", "config"), "not copied")
	must(t, safefs.SyncCopy(storage, "plugin", safefs.CopySource{Folder: from, Takes: func(name string) bool {
		return !strings.HasPrefix(name, "vendor/")
	}}))
	copied := filepath.Join(storage, "plugin")
	for _, name := range []string{"kept", "edited", "touched", "own"} {
		write(t, filepath.Join(copied, name), "the plugin's")
	}
	write(t, filepath.Join(from, "edited"), "two, longer")
	write(t, filepath.Join(from, "added"), "new")
	must(t, os.Remove(filepath.Join(from, "deleted")),
		os.Chtimes(filepath.Join(from, "touched"), time.Now(), time.Now().Add(time.Hour)))
	must(t, safefs.SyncCopy(storage, "plugin", safefs.CopySource{Folder: from, Takes: func(name string) bool {
		return !strings.HasPrefix(name, "vendor/")
	}}))
	for name, want := range map[string]string{
		"kept": "the plugin's", "edited": "two, longer", "touched": "the plugin's",
		"own": "the plugin's", "added": "new",
	} {
		holds(t, filepath.Join(copied, name), want)
	}
	for _, name := range []string{"deleted", "vendor", ".git"} {
		if _, err := os.Lstat(filepath.Join(copied, name)); err == nil {
			t.Errorf("%s is there", name)
		}
	}
	// A copy without its record is the plugin's; without the copy it is made again.
	must(t, os.Remove(safefs.CopyRecord(storage)))
	must(t, safefs.SyncCopy(storage, "plugin", safefs.CopySource{Folder: from, Takes: func(name string) bool {
		return !strings.HasPrefix(name, "vendor/")
	}}))
	holds(t, filepath.Join(copied, "kept"), "the plugin's")
	must(t, os.RemoveAll(copied))
	must(t, safefs.SyncCopy(storage, "plugin", safefs.CopySource{Folder: from, Takes: func(name string) bool {
		return !strings.HasPrefix(name, "vendor/")
	}}))
	holds(t, filepath.Join(copied, "kept"), "one")
}

// A folder in thousands of others costs its plugin little to make, and whoever opens it by its
// name the square of that.
func TestAttackFoldersWithoutEndAreNotOpened(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "storage")
	most := strings.Repeat("d"+string(filepath.Separator), limit.StorageDepth)
	write(t, filepath.Join(dir, most, "file"), "deep")
	f, err := safefs.Open(dir)
	must(t, err)
	defer f.Close()
	count := func() (found int, err error) {
		err = f.Walk(".", func(string, fs.DirEntry) error { found++; return nil })
		return found, err
	}
	if n, err := count(); n != limit.StorageDepth+1 || err != nil {
		t.Errorf("it found %d, %v", n, err)
	}
	if text, _, err := f.Read(filepath.Join(most, "file"), 10); string(text) != "deep" || err != nil {
		t.Errorf("it read %q, %v", text, err)
	}
	must(t, os.MkdirAll(filepath.Join(dir, most, "d", "d"), 0o700))
	deeper := filepath.Join(most, "d", "file")
	_, walkErr := count()
	_, _, readErr := f.Read(deeper, 10)
	_, statErr := f.Stat(deeper)
	for what, err := range map[string]error{
		"walk": walkErr, "read": readErr, "stat": statErr, "write": f.Write(deeper, []byte("x")),
		"make": f.MakeFolder(filepath.Join(deeper, "x")), "move": f.Rename(filepath.Join(most, "file"), deeper),
	} {
		if !errors.Is(err, safefs.ErrDeep) {
			t.Errorf("%s: got %v", what, err)
		}
	}
	must(t, f.Remove("d"))
	if n, err := count(); n != 0 || err != nil {
		t.Errorf("it left %d, %v", n, err)
	}
}

func TestAWalkGoesAsItsVisitorSays(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/1", "a/2", "b/1", "b/c/1", "d", "e"} {
		write(t, filepath.Join(dir, filepath.FromSlash(name)), "x")
	}
	f, err := safefs.Open(dir)
	must(t, err)
	defer f.Close()
	for name, one := range map[string]struct {
		from, at string
		say      error
		want     string
	}{
		"all of it":           {".", "", nil, "a a/1 a/2 b b/1 b/c b/c/1 d e"},
		"a folder of it":      {"b", "", nil, "b/1 b/c b/c/1"},
		"a file":              {"d", "", nil, ""},
		"what is not there":   {"x", "", nil, ""},
		"not a folder":        {".", "b", fs.SkipDir, "a a/1 a/2 b d e"},
		"no more of a folder": {".", "a/1", fs.SkipDir, "a a/1 b b/1 b/c b/c/1 d e"},
		"no more":             {".", "b/c", fs.SkipAll, "a a/1 a/2 b b/1 b/c"},
		"a failure":           {".", "a/2", errors.ErrUnsupported, "a a/1 a/2"},
	} {
		var met []string
		err := f.Walk(one.from, func(at string, _ fs.DirEntry) error {
			at = filepath.ToSlash(at)
			met = append(met, at)
			if at == one.at {
				return one.say
			}
			return nil
		})
		if got := strings.Join(met, " "); got != one.want || errors.Is(one.say, errors.ErrUnsupported) != (err != nil) {
			t.Errorf("%s: met %q, %v", name, got, err)
		}
	}
}

func TestACopyOfTwoFoldersTakesEachNameOnce(t *testing.T) {
	code, data, storage := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "id")
	write(t, filepath.Join(code, "plugin.py"), "approved")
	write(t, filepath.Join(data, "plugin.py"), "edited")
	write(t, filepath.Join(data, "other.py"), "edited")
	write(t, filepath.Join(data, "notes.md"), "notes")
	must(t, safefs.SyncCopy(storage, "plugin", safefs.CopySource{Folder: code},
		safefs.CopySource{Folder: data, Takes: func(name string) bool {
			return !strings.HasSuffix(name, ".py")
		}}))
	holds(t, filepath.Join(storage, "plugin", "plugin.py"), "approved")
	holds(t, filepath.Join(storage, "plugin", "notes.md"), "notes")
	if _, err := os.Stat(filepath.Join(storage, "plugin", "other.py")); err == nil {
		t.Error("code that nobody approved is in the copy")
	}
}

func TestAFolderThatIsTooLargeIsNotCopied(t *testing.T) {
	for what, make := range map[string]func(dir string){
		"bytes": func(dir string) {
			f, err := os.Create(filepath.Join(dir, "large"))
			must(t, err, f.Truncate(limit.WritableCopy+1), f.Close()) // it takes no room
		},
		"files": func(dir string) {
			for i := range limit.WritableCopyFiles + 1 {
				must(t, os.WriteFile(filepath.Join(dir, string(rune('a'+i%26))+time.Duration(i).String()), nil, 0o600))
			}
		},
	} {
		t.Run(what, func(t *testing.T) {
			from, storage := t.TempDir(), filepath.Join(t.TempDir(), "id")
			make(from)
			if err := safefs.SyncCopy(storage, "plugin", safefs.CopySource{Folder: from}); !errors.Is(err, safefs.ErrTooLarge) {
				t.Errorf("got %v", err)
			}
			if _, err := os.Stat(filepath.Join(storage, "plugin")); err == nil {
				t.Error("there is a copy")
			}
		})
	}
}
