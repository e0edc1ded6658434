package sandbox

import (
	"strings"
	"testing"
)

// systems are all that Conclave is built for but Linux, which finds out what it has.
var systems = []string{"darwin", "windows", "freebsd", "openbsd", "netbsd", "plan9"}

func TestWallsThatNobodyTriedAreNeverShownAsEnforced(t *testing.T) {
	for _, goos := range systems {
		c := Unproven(goos)
		if c.Level != "none" {
			t.Errorf("%s: level %q: only walls that were attacked there may have another than none", goos, c.Level)
		}
		if !strings.Contains(c.Sentence, "unning as you, not isolated.") &&
			!strings.Contains(c.Sentence, "Runs as you, not isolated.") {
			t.Errorf("%s: %q does not say that it is not isolated", goos, c.Sentence)
		}
		if c.Network == "" || c.Note(true, false) == c.Note(false, false) {
			t.Errorf("%s: a plugin with the network is said to be held to the proxy: %q", goos, c.Note(true, false))
		}
		if written := strings.Contains(c.Sentence, "Written, not tried here: "); written != (len(c.Untried) > 0) {
			t.Errorf("%s: %q, with %d walls written", goos, c.Sentence, len(c.Untried))
		}
		for _, wall := range c.Untried {
			if !strings.Contains(c.Sentence, wall.Of) || !strings.Contains(c.Sentence, wall.By) {
				t.Errorf("%s: %q does not name %s by %s", goos, c.Sentence, wall.Of, wall.By)
			}
		}
		for _, word := range []string{"enforce", "protect", "confined", "cannot", "holds them"} {
			if strings.Contains(strings.ToLower(c.Note(true, true)), word) {
				t.Errorf("%s: %q speaks as if somebody knew", goos, c.Note(true, true))
			}
		}
	}
}

func TestTheSentencesOfMacOSAndWindows(t *testing.T) {
	for goos, want := range map[string]string{
		"darwin": "Take it as running as you, not isolated. Written, not tried here: " +
			"folders, network and programs by a seatbelt profile.",
		"windows": "Take it as running as you, not isolated. Written, not tried here: " +
			"folders by an AppContainer or a restricted token; network by an AppContainer; " +
			"programs and memory by a job object.",
		"freebsd": "Runs as you, not isolated.",
	} {
		if got := Unproven(goos).Sentence; got != want {
			t.Errorf("%s: %q, want %q", goos, got, want)
		}
	}
}
