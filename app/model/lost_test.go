package model_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"conclave/app/model"
)

func TestOddPiecesAreCountedByKind(t *testing.T) {
	told := func(l *model.Lost) string {
		var all []string
		if err := l.Tell(func(e model.Event) error {
			all = append(all, string(e.Kind)+": "+e.Text)
			return nil
		}); err != nil {
			t.Error(err)
		}
		return strings.Join(all, "|")
	}
	var l model.Lost
	if got := told(&l); got != "" {
		t.Errorf("where nothing was lost: %q", got)
	}
	for range 10_000 {
		l.Add("a part of the kind “\x1b[2Jholo\n\u202egram”")
	}
	l.Add("sound")
	const kind = "notice: The answer held more than is shown: a part of the kind “[2Jholo gram” (in 10000 pieces); sound"
	if got := told(&l); got != kind+"." {
		t.Errorf("got %q", got)
	}
	if got := told(&l); got != "" {
		t.Errorf("it is told again: %q", got)
	}
	for i := range 10_000 {
		l.Add(fmt.Sprintf("the kind %d %s", i, strings.Repeat("x", 10_000)))
	}
	if got := told(&l); len(got) > 5000 || !strings.HasSuffix(got, "; and 9995 pieces of other kinds.") {
		t.Errorf("of many kinds: %d bytes, %q", len(got), got)
	}
	l.Add("sound")
	left := errors.New("nobody listens")
	if err := l.Tell(func(model.Event) error { return left }); !errors.Is(err, left) {
		t.Errorf("got %v", err)
	}
}
