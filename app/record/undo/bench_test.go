package undo

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkCall makes calls in a folder of 10,000 files, each of which changes one.
func BenchmarkCall(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprint(i)), fmt.Appendln(nil, i), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	later := func() time.Time { return time.Now().Add(time.Minute) } // nothing was changed just now
	k := Open(Options{Dir: b.TempDir(), Now: later})
	defer k.Close()
	id := uint64(0)
	call := func() {
		id++
		w, err := k.Begin(b.Context(), Call{ID: id}, []string{dir})
		if err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "7"), fmt.Appendln(nil, id), 0o600); err != nil {
			b.Fatal(err)
		}
		if set, err := w.End(); err != nil || len(set.Changes) == 0 {
			b.Fatal(set, err)
		}
	}
	call()
	for b.Loop() {
		call()
	}
}
