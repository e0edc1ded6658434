package store

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"go.etcd.io/bbolt"
)

func TestWhatBboltPanicsWithIsForTheLogAlone(t *testing.T) {
	err := guarded(func() error {
		new(bbolt.Cursor).First() // what it finds in a bad page makes it panic
		return nil
	})
	if !errors.Is(err, errDamaged) || err.Error() != "the file is damaged: its pages contradict each other" {
		t.Errorf("a person is told %q", err)
	}
	valuer, ok := err.(slog.LogValuer)
	if !ok || !strings.Contains(valuer.LogValue().String(), "nil pointer") {
		t.Errorf("the log is not told what happened: %v", err)
	}
}
