package plugin_test

import (
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

func TestWhatAPluginFindsOutOfFilesIsSaidApartFromWhatDoesNotHoldIt(t *testing.T) {
	t.Parallel()
	found := "It can find out whether a file is there whose name it knows."
	s := plugin.Status{Isolation: sandbox.Confinement{
		Level: "process+landlock", Found: found, Network: "Unseen.", Ports: sandbox.NoPorts,
	}}
	if s.FoundNote() != found || s.IsolationNote() != "" {
		t.Errorf("found %q, warned %q", s.FoundNote(), s.IsolationNote())
	}
	s.Granted = []string{gate.Listen, gate.Network}
	if note := s.IsolationNote(); note != "Unseen. "+sandbox.NoPorts || strings.Contains(note, found) {
		t.Errorf("with ports and the network: %q", note)
	}
	s.Facts.Sealed.Why = "it runs in an engine"
	if s.FoundNote() != "" {
		t.Errorf("of an engine: %q", s.FoundNote())
	}
}
