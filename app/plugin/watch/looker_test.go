package watch

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

func TestALookerReadsAgainWhatChangedAlone(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.py"), filepath.Join(dir, "b.py")
	write(t, a, "one")
	write(t, b, "two")
	var l Looker
	look := func() string {
		t.Helper()
		digest, names, err := l.Digest(dir)
		if err != nil || len(names) != 2 {
			t.Fatalf("got %v, %v", names, err)
		}
		return digest
	}
	first := look()
	if whole, _, err := Digest(dir); err != nil || whole != first {
		t.Errorf("got %s, %v, want %s", whole, err, first)
	}
	aged := func() { // as if the files had been read long after they were written
		for name, f := range l.trees[dir].files {
			f.read = time.Now().Add(time.Hour)
			l.trees[dir].files[name] = f
		}
	}
	aged()
	f := l.trees[dir].files["b.py"]
	f.sum[0]++
	l.trees[dir].files["b.py"] = f
	if look() == first {
		t.Error("a file that is as it was was read again")
	}
	if runtime.GOOS != "linux" {
		return
	}
	// A file whose times were put back is read again.
	info, err := os.Stat(b)
	must(t, err)
	aged()
	write(t, b, "six")
	must(t, os.Chtimes(b, info.ModTime(), info.ModTime()))
	changed := look()
	if whole, _, err := Digest(dir); err != nil || whole != changed {
		t.Errorf("got %s, %v, want %s", changed, err, whole)
	}
	must(t, os.RemoveAll(dir))
	if _, _, err := l.Digest(dir); err == nil || l.trees[dir] != nil {
		t.Errorf("of a folder that is gone: %v", err)
	}
}
