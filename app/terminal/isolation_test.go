package terminal

import (
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
	"conclave/app/view"
)

func TestPluginsShowSaysThatASystemHasNoSandbox(t *testing.T) {
	s := plugin.Status{Isolation: sandbox.None()}
	if line := isolationLine(view.NewPlugin(s, gate.About{})); line != "none — Runs as you, not isolated." {
		t.Errorf("%q", line)
	}
	s.Granted = []string{gate.Network}
	line := isolationLine(view.NewPlugin(s, gate.About{}))
	if line != "none — Runs as you, not isolated. "+sandbox.NotHeld {
		t.Errorf("with the network: %q", line)
	}
}
