package plugintest

import (
	"strings"
	"testing"

	"conclave/app/base/fault"
)

// Kind checks the kind and the words of an error.
func Kind(t testing.TB, err error, want fault.Kind, words ...string) {
	t.Helper()
	if fault.KindOf(err) != want {
		t.Errorf("got %v, want a fault of kind %s", err, want)
		return
	}
	f := fault.Of(err)
	for _, word := range words {
		if !strings.Contains(f.Message+" "+f.Hint, word) {
			t.Errorf("%q, %q does not name %s", f.Message, f.Hint, word)
		}
	}
}

// Answers is a plugin whose versions differ in what they answer alone.
func Answers(text string) Script {
	return Script{Tools: []Tool{{Name: "say", Description: "Says.", Text: text}}}
}
