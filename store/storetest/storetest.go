// Package storetest gives tests a temporary store that is checked from end to
// end when the test is over: bbolt's pages, and every index against the records
// it was made from. A test that needs a particular moment or folder uses
// [OpenWith]. It holds no test data.
package storetest

import (
	"context"
	"testing"

	"conclave/store"
)

// Open opens a new store in a temporary folder. When the test ends the store is
// checked and closed, and what is wrong with it fails the test.
func Open(t testing.TB) *store.Store {
	t.Helper()
	return OpenWith(t, store.Options{})
}

// OpenWith opens a store with o; an empty Dir means a temporary folder. It may be
// closed before the test ends, which skips the check.
func OpenWith(t testing.TB, o store.Options) *store.Store {
	t.Helper()
	if o.Dir == "" {
		o.Dir = t.TempDir()
	}
	s, err := store.Open(t.Context(), o)
	if err != nil {
		t.Fatalf("open a store: %v", err)
	}
	t.Cleanup(func() { end(t, s) })
	return s
}

// Check fails the test with what is wrong with s.
func Check(t testing.TB, s *store.Store) {
	t.Helper()
	// The test's own context has ended when its cleanups run.
	problems, err := s.Check(background(t))
	if err != nil {
		t.Errorf("check the store: %v", err)
	}
	for _, p := range problems {
		t.Errorf("the store is not sound: %s", p)
	}
	report, err := s.Activity.VerifyActivity(background(t))
	if err != nil || !report.OK {
		t.Errorf("the record of activity does not hold: %s (%v)", report.Problem, err)
	}
}

func end(t testing.TB, s *store.Store) {
	t.Helper()
	if s.Closed() {
		return
	}
	Check(t, s)
	if err := s.Close(); err != nil {
		t.Errorf("close the store: %v", err)
	}
}

// background returns a context that outlives the test's.
func background(t testing.TB) context.Context { return context.WithoutCancel(t.Context()) }
