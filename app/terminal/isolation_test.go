package terminal

import (
	"strings"
	"testing"

	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/sandbox"
)

func TestPluginsShowSaysThatTheWallsWereNotTried(t *testing.T) {
	for _, goos := range []string{"darwin", "windows"} {
		s := plugin.Status{Isolation: sandbox.Unproven(goos)}
		line := isolationLine(s)
		if !strings.HasPrefix(line, "none — Take it as running as you, not isolated. Written, not tried here: ") {
			t.Errorf("%s: %q", goos, line)
		}
		s.Granted = []string{gate.Network}
		if line := isolationLine(s); !strings.Contains(line, "it could connect elsewhere, unseen.") {
			t.Errorf("%s, with the network: %q", goos, line)
		}
	}
}
