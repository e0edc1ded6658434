package terminal

import (
	"context"
	"fmt"

	"conclave/app/plugin"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// updateRow is one line of `plugins watch --json`.
type updateRow struct {
	Plugin     string        `json:"plugin"`
	Generation uint64        `json:"generation"`
	State      plugin.State  `json:"state"`
	Tools      []string      `json:"tools"`
	MS         float64       `json:"ms"`
	Problem    *view.Problem `json:"problem,omitempty"`
	Removed    bool          `json:"removed,omitempty"`
}

func (c pluginCommands) watchCommand() *cobra.Command {
	var approve string
	cmd := c.withPlugins("watch [ID...]", "Print one line per reload, until interrupted", cobra.ArbitraryArgs,
		func(ctx context.Context, app *App, names []string) error { return c.watch(ctx, app, names, approve) })
	cmd.Flags().StringVar(&approve, "approve", "",
		"always: approve new and changed versions of the plugins named, while this runs")
	return cmd
}

// watch prints each reload until it is interrupted. With approve “always” it approves the plugins
// of these names as they change.
func (c pluginCommands) watch(ctx context.Context, app *App, names []string, approve string) error {
	asker, err := c.person.asker(approve)
	if err != nil {
		return err
	}
	always := approve == "always"
	if always && len(names) == 0 {
		return usageError("plugins watch --approve always needs the ids of the plugins that it approves while it runs")
	}
	updates, stop := app.Host.Updates()
	defer stop()
	approval := newApproval(c.Err, app, asker, names)
	approval.follows = true
	defer approval.end()
	if always {
		if err := approval.plugins(ctx); err != nil {
			return err
		}
	}
	watching := app.Watch(ctx)
	c.follow()
	fmt.Fprintln(c.Err, "Watching "+app.Plugins+". Press Ctrl-C to end.")
	for {
		select {
		case u := <-updates:
			waiting := (u.State == plugin.NeedsApproval || u.State == plugin.Quarantined) && u.Problem == nil
			err := c.printUpdate(u)
			if err == nil && always && waiting {
				err = approval.plugins(ctx)
			}
			if err != nil {
				return err
			}
		case err := <-watching: // it ends with ctx, too
			if err == nil && ctx.Err() != nil {
				return &exitError{ExitStopped}
			}
			return err
		case <-c.Closing:
			return errGone
		case <-ctx.Done():
			return &exitError{ExitStopped}
		}
	}
}

func (c pluginCommands) printUpdate(u plugin.Update) error {
	row := updateRow{
		u.Plugin, u.Generation, u.State, view.List(u.Tools), view.Milliseconds(u.Took), view.NewProblem(u.Problem),
		u.Removed,
	}
	if c.json {
		return writeJSON(c.Out, row)
	}
	switch {
	case u.Plugin == "" && u.Problem != nil:
		_, err := fmt.Fprintf(c.Out, "%s %s\n", oneLine(u.Problem.Message), oneLine(c.toType(u.Problem.Hint)))
		return err
	case u.Removed:
		_, err := fmt.Fprintf(c.Out, "%s was removed.\n", u.Plugin)
		return err
	case u.Problem != nil:
		_, err := fmt.Fprintf(c.Out, "%s is %s: %s%s\n", u.Plugin, u.State, row.Problem.Place(),
			oneLine(u.Problem.Message))
		return err
	}
	_, err := fmt.Fprintf(c.Out, "%s is %s: generation %d, %s, %.0f ms\n", u.Plugin, u.State, u.Generation,
		countOf(len(u.Tools), "tool"), row.MS)
	return err
}
