package window

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"conclave/app/base/fault"
)

// Wails' page makes new Error(message.error), and only of a string is that more
// than "[object Object]".
func TestAFailedCallRejectsWithOneStringThatHoldsTheSentenceAndTheHint(t *testing.T) {
	var logged bytes.Buffer
	window := New(Core{}, slog.New(slog.NewTextHandler(&logged, nil)))
	rejected := func(err error) Failure {
		t.Helper()
		text, ok := window.FormatError(err).(string)
		if !ok {
			t.Fatalf("FormatError returned %T, want a string", window.FormatError(err))
		}
		var f Failure
		if err := json.Unmarshal([]byte(text), &f); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		return f
	}
	got := rejected(fault.New(fault.Locked, "x", "The “store” is in use\u2028.", "Close it."))
	if want := (Failure{Kind: fault.Locked, Message: "The “store” is in use\u2028.", Hint: "Close it."}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	got = rejected(errors.New("a secret of the disk"))
	if got.Kind != fault.Internal || got.Ref == "" || strings.Contains(got.Message, "secret") ||
		!strings.Contains(logged.String(), got.Ref) {
		t.Errorf("an unknown error reached the page as %+v; the log: %s", got, logged.String())
	}
}
