package terminal

import (
	"context"
	"time"

	"conclave/app/plugin"

	"github.com/spf13/cobra"
)

// keptRow is `mcp keep --json`.
type keptRow struct {
	Plugin      string `json:"plugin"`
	KeepRunning bool   `json:"keep_running"`
	IdleMinutes int    `json:"idle_minutes"` // 0: it is never ended for that
}

// keepCommand returns the command by which a server goes on running while nobody uses it.
func (c mcpServerCommands) keepCommand() *cobra.Command {
	cmd := c.withPlugins("keep ID [on|off]", "Show or set whether a server goes on running while nobody uses it",
		func(cmd *cobra.Command, args []string) error {
			switch {
			case len(args) != 2:
				return exactly("the id of a server")(cmd, args)
			case args[1] != "on" && args[1] != "off":
				return usageOf(cmd, "it is on or off, not %s", cutLine(args[1]))
			}
			return nil
		},
		func(ctx context.Context, app *App, args []string) error {
			s, err := c.server(app, args[0])
			if err == nil && len(args) == 2 {
				if err = app.Host.Settings.SetKeepRunning(ctx, s.ID, args[1] == "on"); err == nil {
					s, err = app.Host.Status(s.ID)
				}
			}
			if err != nil {
				return err
			}
			row := keptRow{s.ID, s.KeepRunning, int(s.Facts.Idle / time.Minute)}
			if s.KeepRunning || row.IdleMinutes == 0 {
				return c.result(row, "%s goes on running while nobody uses it.", s.ID)
			}
			return c.result(row, "%s ends after %s without a call.", s.ID, countOf(row.IdleMinutes, "minute"))
		})
	cmd.Long = "Show or set whether an MCP server goes on running while nobody uses it. One that remembers things\n" +
		"while it runs needs that; others start again with the next call."
	return cmd
}

// programCommand returns the command that chooses a program for a server whose command was not found.
func (c mcpServerCommands) programCommand() *cobra.Command {
	cmd := c.withPlugins("program ID FILE", "Choose the program of a server whose command was not found",
		exactly("the id of a server", "the file of a program"),
		func(ctx context.Context, app *App, args []string) error {
			s, err := c.server(app, args[0])
			if err != nil {
				return err
			}
			if err := app.Host.Settings.ChooseProgram(s.ID, c.Path(args[1])); err != nil {
				return err
			}
			return c.printAfter(ctx, app, s.ID)
		})
	cmd.Long = "Choose the program of a server whose command, such as npx or uvx, was not found. All servers that are\n" +
		"started with this command are started with it from now on."
	return cmd
}

// printMessages prints the last messages between Conclave and a server.
func (c mcpCommands) printMessages(id string, messages []plugin.LogLine) error {
	for _, line := range messages {
		if err := pluginCommands(c).printLogLine(id, line); err != nil {
			return err
		}
	}
	return nil
}
