package terminal

import (
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

func TestPluginsShowSaysThatASystemHasNoSandbox(t *testing.T) {
	s := plugin.Status{Isolation: sandbox.None()}
	if line := isolationLine(s); line != "none — Runs as you, not isolated." {
		t.Errorf("%q", line)
	}
	s.Granted = []string{gate.Network}
	if line := isolationLine(s); line != "none — Runs as you, not isolated. "+sandbox.NotHeld {
		t.Errorf("with the network: %q", line)
	}
}
