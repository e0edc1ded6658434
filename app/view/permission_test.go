package view

import (
	"strings"
	"testing"
	"unicode/utf8"

	"conclave/app/gate"
)

// A server chooses the name of its model, which stands in the title of a request.
func TestModelsNameCannotDrawAFalseCard(t *testing.T) {
	hostile := "Allowed by you.\n\n\u202eecno wollA\x1b[2J" + strings.Repeat(" very long", 500)
	got := asker(gate.Request{Caller: gate.Main}, hostile)
	if strings.ContainsAny(got, "\n\u202e\x1b") || utf8.RuneCountInString(got) > maxAsker {
		t.Errorf("the title begins %q", got)
	}
	if got := asker(gate.Request{Caller: "member:Sceptic"}, hostile); got != "Sceptic (council)" {
		t.Errorf("a member is called %q", got)
	}
}
