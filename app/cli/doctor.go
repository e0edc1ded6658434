package cli

import (
	"fmt"
	"runtime"
	"strings"

	"conclave/app/version"

	"github.com/spf13/cobra"
)

func (t *terminal) doctorCommand() *cobra.Command {
	return &cobra.Command{
		Use: "doctor", Short: "Check what this machine has, and say what to do about what it lacks",
		Args: noArguments, RunE: func(cmd *cobra.Command, _ []string) error {
			app, err := t.app(cmd.Context(), Folders{Reads: true})
			if err != nil {
				return err
			}
			defer app.Close()
			findings := app.Doctor(cmd.Context())
			ok := true
			for i, f := range findings {
				f.Fix = t.toType(f.Fix)
				findings[i] = f
				ok = ok && f.OK
				if t.json {
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
				fmt.Fprintln(t.Out, line)
			}
			if t.json {
				if err := t.printJSON(findings); err != nil {
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

func (t *terminal) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return t.result(struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				OS      string `json:"os"`
				Arch    string `json:"arch"`
			}{version.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}, "conclave "+version.Version)
		},
	}
}
