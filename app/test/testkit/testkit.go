// Package testkit holds what tests of all packages share. Only tests import it.
package testkit

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Must ends the test if there is an error.
func Must(t testing.TB, errs ...error) {
	t.Helper()
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Write writes a file, and makes the folders it lies in.
func Write(t testing.TB, path, text string) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
}

// Until waits until done, looking all the time: for what gives no sign of its own. what
// says what was waited for in vain.
func Until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("in vain waited for: " + what)
		}
	}
}

// Appears waits until there is a file at path.
func Appears(t testing.TB, path string) {
	t.Helper()
	Until(t, path, func() bool {
		_, err := os.Stat(path)
		return err == nil
	})
}

// Save saves a file in one step, and makes the folders it lies in: it is rewritten in
// place when it is there and no shorter for it, else moved in from elsewhere. Whoever
// watches the folder sees no half of it, however busy the machine is.
func Save(t testing.TB, path, text string) {
	t.Helper()
	Must(t, os.MkdirAll(filepath.Dir(path), 0o700))
	if was, err := os.Lstat(path); err == nil && was.Mode().IsRegular() && was.Size() <= int64(len(text)) {
		file, err := os.OpenFile(path, os.O_WRONLY, 0)
		Must(t, err)
		_, err = file.WriteString(text)
		Must(t, err, file.Close())
		return
	}
	aside := filepath.Join(t.TempDir(), "aside")
	Must(t, os.WriteFile(aside, []byte(text), 0o600), os.Rename(aside, path))
}
