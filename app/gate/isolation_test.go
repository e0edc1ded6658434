package gate

import (
	"slices"
	"testing"

	"conclave/app/plugin/sandbox"
)

// A prompt and the table of permissions count walls that nobody tried as no walls: the
// plugin may do everything, as one that nothing is known of.
func TestAPluginBehindUntriedWallsIsAskedAboutAsOneWithoutWalls(t *testing.T) {
	for _, goos := range []string{"darwin", "windows"} {
		level := sandbox.Unproven(goos).Level
		untried, bare := PluginVersion{Isolation: level}, PluginVersion{Isolation: "none"}
		has, none := capabilitiesOf(untried, nil, nil), capabilitiesOf(bare, nil, nil)
		reach, without := reachOf(untried, nil, nil, ""), reachOf(bare, nil, nil, "")
		if !slices.Equal(has, none) || reach != without {
			t.Errorf("%s: %v, %q; without walls %v, %q", goos, has, reach, none, without)
		}
		if reach != "Runs as you, not isolated: it can touch what you can." {
			t.Errorf("%s: the prompt says %q", goos, reach)
		}
	}
}
