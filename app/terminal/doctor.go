package terminal

import (
	"context"
	"runtime"
	"strings"

	"conclave/app/base/version"

	"github.com/spf13/cobra"
)

func (t *terminal) doctorCommand() *cobra.Command {
	return t.readingStore("doctor", "Check this machine, and how to fix what is missing", noArguments,
		func(ctx context.Context, app *App, _ []string) error { return t.printFindings(app.Doctor(ctx)) })
}

// printFindings prints a line for each finding, and exits 1 unless all are OK.
func (t *terminal) printFindings(findings []Finding) error {
	var lines strings.Builder
	ok := true
	for i := range findings {
		f := &findings[i]
		f.Fix = t.toType(f.Fix)
		mark := "ok  "
		if !f.OK {
			mark, ok = "look", false
		}
		lines.WriteString(mark + "  " + padded(t.label(f.Name), 16) + " ")
		found := t.said(strings.TrimSuffix(f.Found, ".") + ".")
		if f.Fix == "" {
			found = strings.TrimRight(found, ".。")
		} else {
			found = next(found, t.said(f.Fix))
		}
		lines.WriteString(found + "\n")
	}
	if err := t.result(findings, "%s", strings.TrimSuffix(lines.String(), "\n")); err != nil {
		return err
	}
	if !ok {
		return &exitError{ExitFailed}
	}
	return nil
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
			}{version.Version, runtime.Version(), runtime.GOOS, runtime.GOARCH}, "conclave %s", version.Version)
		},
	}
}
