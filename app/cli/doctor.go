package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func (c *command) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check what this machine has, and say what to do about what it lacks",
		Args: noArguments, RunE: func(cmd *cobra.Command, _ []string) error {
			app, err := c.appFor(cmd.Context(), Folders{Reads: true})
			if err != nil {
				return err
			}
			defer app.Close()
			findings := app.Doctor(cmd.Context())
			ok := true
			for i, f := range findings {
				f.Fix = c.toType(f.Fix)
				findings[i] = f
				ok = ok && f.OK
				if c.json {
					continue
				}
				mark := "ok  "
				if !f.OK {
					mark = "look"
				}
				line := fmt.Sprintf("%s  %-16s %s", mark, f.Name, strings.TrimSuffix(f.Found, "."))
				if f.Fix != "" {
					line += ". " + f.Fix
				}
				fmt.Fprintln(c.Out, line)
			}
			if c.json {
				if err := c.printJSON(findings); err != nil {
					return err
				}
			}
			if !ok {
				return &exitError{ExitFailed}
			}
			return nil
		},
	}
}
