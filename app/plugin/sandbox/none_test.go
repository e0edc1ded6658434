package sandbox

import (
	"strings"
	"testing"
)

func TestASystemWithoutASandboxIsNeverShownAsEnforcing(t *testing.T) {
	none := None()
	if none.Level != "none" || none.Found != "" || none.Note(false, false) != "Runs as you, not isolated." {
		t.Errorf("%+v", none)
	}
	if note := none.Note(true, true); !strings.Contains(note, NotHeld) || !strings.Contains(note, NoPorts) {
		t.Errorf("with the network and ports: %q", note)
	}
	for _, word := range []string{"enforce", "protect", "confined", "cannot", "holds them"} {
		if strings.Contains(strings.ToLower(none.Note(true, true)), word) {
			t.Errorf("%q sounds enforced: %q", none.Note(true, true), word)
		}
	}
}
