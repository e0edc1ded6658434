package terminal

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// A flag of conclave's own means the same before and behind every command.
func TestNoCommandTakesTheNameOfAFlagOfAll(t *testing.T) {
	c := &terminal{Session: &Session{Env: func(string) string { return "" }}}
	root := c.root()
	seen := 0
	var look func(*cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, sub := range cmd.Commands() {
			seen++
			sub.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
				if root.PersistentFlags().Lookup(f.Name) != nil && f != root.PersistentFlags().Lookup(f.Name) {
					t.Errorf("%s has a --%s of its own", sub.CommandPath(), f.Name)
				}
			})
			look(sub)
		}
	}
	look(root)
	if seen < 30 {
		t.Errorf("%d commands were looked at", seen)
	}
}
