package terminal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"conclave/app/plugin"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

func (c pluginCommands) logsCommand() *cobra.Command {
	var follow bool
	var last int
	cmd := c.withPlugins("logs ID", "Show what a plugin logged and printed", exactly("the id of a plugin"),
		func(ctx context.Context, app *App, args []string) error {
			s, err := findPlugin(app, args[0])
			if err != nil {
				return err
			}
			lines := app.Host.Log(s.ID, 0)
			if last > 0 && len(lines) > last {
				lines = lines[len(lines)-last:]
			}
			changed, stop := app.LogChanges(s.ID)
			defer stop()
			var seen uint64
			for {
				for _, line := range lines {
					seen = line.N
					if err := c.printLogLine(s.ID, line); err != nil {
						return err
					}
				}
				if !follow {
					return nil
				}
				c.follow()
				select {
				case <-changed:
				case <-c.Closing:
					return errGone
				case <-ctx.Done():
					return &exitError{ExitStopped}
				}
				lines = app.Host.Log(s.ID, seen)
			}
		})
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "print new lines as they come")
	cmd.Flags().IntVarP(&last, "lines", "n", 0, "only the last N lines")
	return cmd
}

func (c pluginCommands) printLogLine(id string, line plugin.LogLine) error {
	if c.json {
		return writeJSON(c.Out, view.NewLogLine(id, line))
	}
	when := line.Time.Local()
	form := "15:04:05.000"
	if now := time.Now(); when.YearDay() != now.YearDay() || when.Year() != now.Year() {
		form = "2006-01-02 15:04:05.000"
	}
	// Only an entry begins at the margin, whatever a plugin writes.
	text := strings.ReplaceAll(line.Text, "\n", "\n"+strings.Repeat(" ", len(form)+len(" error ")))
	_, err := fmt.Fprintf(c.Out, "%s %-5s %s\n", when.Format(form), line.Level, text)
	return err
}
