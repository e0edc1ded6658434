//go:build linux

package worker

import (
	"strings"
	"testing"

	"conclave/app/base/version"
	"conclave/app/plugin/sandbox"
)

func TestAProgramOfAnotherVersionRunsNothing(t *testing.T) {
	l := launcher(t)
	ours := version.Version
	t.Cleanup(func() { version.Version = ours })
	version.Version = "9.9" // of the host; the program that it starts is the one it was
	for name, spec := range map[string]sandbox.Spec{
		"the engine": {Kind: "js", Input: []byte("echo")},
		"a command":  {Kind: "command", Argv: []string{"/bin/echo", "ready"}, Dir: "/"},
	} {
		t.Run(name, func(t *testing.T) {
			p := begin(t, l, spec)
			over(t, p)
			want := "conclave-worker is of version " + ours + ", and the Conclave that started it of 9.9: install Conclave again"
			if !strings.Contains(p.Stderr(), want) || p.Exit() == "exit 0" {
				t.Errorf("it ended with %s and said %q", p.Exit(), p.Stderr())
			}
		})
	}
}
