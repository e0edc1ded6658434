package keys

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"conclave/app/base/fault"
	"conclave/app/test/testkit"

	"github.com/zalando/go-keyring"
)

var must = testkit.Must

// withoutKeychain makes the keychain of this process answer as on a machine
// that has none.
func withoutKeychain(t *testing.T) {
	t.Helper()
	keyring.MockInitWithError(os.ErrNotExist)
	t.Cleanup(keyring.MockInit)
}

func TestKeysSurviveInTheEncryptedFile(t *testing.T) {
	withoutKeychain(t)
	dir := t.TempDir()
	s := New(dir)
	if !s.NeedsPassphrase() {
		t.Fatal("a new file asks for no passphrase")
	}
	must(t, s.Unlock("correct horse"))
	must(t, s.Set(t.Context(), "work", "sk-very-secret"))
	file, err := os.ReadFile(filepath.Join(dir, "keys.age"))
	must(t, err)
	if bytes.Contains(file, []byte("sk-very-secret")) || bytes.Contains(file, []byte("work")) {
		t.Error("the file holds the key or its name in clear")
	}
	info, _ := os.Stat(filepath.Join(dir, "keys.age"))
	if got := info.Mode().Perm(); got != 0o600 {
		t.Errorf("the file's permissions are %o, want 600", got)
	}

	again := New(dir)
	if _, err := again.Get(t.Context(), "work"); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("reading a locked file: got %v, want kind unavailable", err)
	}
	if err := again.Unlock("wrong horse!"); fault.KindOf(err) != fault.NotAllowed {
		t.Errorf("a wrong passphrase: got %v, want kind not_allowed", err)
	}
	asked := 0
	again.Ask = func(_ context.Context, _, wrong bool) (string, error) {
		asked++
		if wrong {
			return "correct horse", nil
		}
		return "a first mistake", nil
	}
	got, err := again.Get(t.Context(), "work")
	if err != nil || got != "sk-very-secret" {
		t.Errorf("got %q, %v; want the key", got, err)
	}
	if asked != 2 {
		t.Errorf("asked %d times, want 2", asked)
	}
	must(t, again.Delete(t.Context(), "work"))
	if _, err := again.Get(t.Context(), "work"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("a deleted key: got %v, want kind not_found", err)
	}
}

func TestADamagedFileIsNotOverwritten(t *testing.T) {
	withoutKeychain(t)
	dir := t.TempDir()
	path := filepath.Join(dir, "keys.age")
	must(t, os.WriteFile(path, []byte("not an age file"), 0o600))
	s := New(dir)
	if err := s.Unlock("correct horse"); fault.KindOf(err) != fault.Damaged {
		t.Fatalf("got %v, want kind damaged", err)
	}
	if err := s.Set(t.Context(), "a", "b"); err == nil {
		t.Error("a key was written over a damaged file")
	}
	if got, _ := os.ReadFile(path); string(got) != "not an age file" {
		t.Error("the damaged file was changed")
	}
}

func TestTheKeychainIsUsedWhereThereIsOne(t *testing.T) {
	keyring.MockInit()
	dir := t.TempDir()
	s := New(dir)
	must(t, s.Set(t.Context(), "cloud", "k1"))
	if got, err := s.Get(t.Context(), "cloud"); err != nil || got != "k1" {
		t.Errorf("got %q, %v", got, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "keys.age")); err == nil {
		t.Error("a file was written beside the keychain")
	}
}

func TestNoMessageBusIsStartedToLookForAKeychain(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the keychain is behind a message bus on Linux")
	}
	bin := t.TempDir()
	launched := filepath.Join(bin, "launched")
	must(t, os.WriteFile(filepath.Join(bin, "dbus-launch"), []byte("#!/bin/sh\necho >"+launched+"\n"), 0o700))
	t.Setenv("PATH", bin)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "")
	reachable = sessionBus
	t.Cleanup(func() { reachable = always })
	if sessionBus() {
		t.Skip("this machine has a session bus")
	}
	if _, err := New(t.TempDir()).Get(t.Context(), "cloud"); fault.KindOf(err) != fault.NotFound &&
		fault.KindOf(err) != fault.Unavailable {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(launched); err == nil {
		t.Error("a message bus was started")
	}
}

func always() bool { return true }

func TestMain(m *testing.M) {
	reachable = always // the keychain of the tests is no real one
	os.Exit(m.Run())
}

func TestAKeyOfTheEnvironmentComesFirst(t *testing.T) {
	keyring.MockInit()
	t.Setenv("CONCLAVE_KEY_MY_LAB", "from-env")
	if got, err := New(t.TempDir()).Get(t.Context(), "my-lab"); err != nil || got != "from-env" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestWithoutAKeychainAndAFileThereAreNoKeysAndNothingIsLocked(t *testing.T) {
	withoutKeychain(t)
	t.Setenv(passphraseVariable, "")
	s := New(t.TempDir())
	s.Ask = func(context.Context, bool, bool) (string, error) {
		t.Error("a passphrase was asked for")
		return "", nil
	}
	if _, err := s.Get(t.Context(), "one"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("get: %v", err)
	}
	s.Ask = nil
	if err := s.Set(t.Context(), "one", "value"); fault.KindOf(err) != fault.Unavailable ||
		strings.Contains(err.Error(), "locked") {
		t.Errorf("set: %v", err)
	}
}

// The file is read, changed and written again; a key that is kept while another is
// removed stays.
func TestKeysThatAreChangedAtOnceAreAllKept(t *testing.T) {
	withoutKeychain(t)
	s := New(t.TempDir())
	must(t, s.Unlock("four plain words here"))
	var wg sync.WaitGroup
	names := []string{"one", "two", "three"}
	for _, name := range names {
		wg.Go(func() {
			if err := s.Set(t.Context(), name, "key of "+name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, name := range names {
		if key, err := s.Get(t.Context(), name); err != nil || key != "key of "+name {
			t.Errorf("%s: %q, %v", name, key, err)
		}
	}
}

func TestAKeychainThatHangsHoldsUpNobodyWhoOnlyAsksWhereKeysAre(t *testing.T) {
	answers, before, long := make(chan struct{}), works, patience
	works = func() bool { <-answers; return true }
	patience = time.Millisecond
	s := New(t.TempDir())
	t.Cleanup(func() { <-s.answered; works, patience = before, long })
	told := make(chan string, 1)
	s.Answered = func() { told <- s.Sentence() }
	if now := s.Sentence(); !strings.Contains(now, "has not answered yet") || s.NeedsPassphrase() {
		t.Errorf("while it hangs: %q", now)
	}
	if s.note("work", "sk-1"); len(s.Known()) != 1 {
		t.Error("while it hangs, no key is masked")
	}
	close(answers)
	if now := <-told; now != "Keys are kept in the system keychain." {
		t.Errorf("once it answers: %q", now)
	}
}
