package terminal

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"conclave/app/tool/mcpserver"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// tokensCommand returns the commands about the programs that use Conclave's tools.
func (c mcpCommands) tokensCommand() *cobra.Command {
	return group("tokens", "The programs that may use your tools, and their tokens",
		c.withStore("add NAME", "Make a token for a program, and print it", exactly("the name of a program"),
			func(ctx context.Context, app *App, args []string) error {
				token, err := app.Programs.AddToken(ctx, args[0])
				if err != nil {
					return err
				}
				if !c.json {
					fmt.Fprintln(c.Err, "The program sends it with each request: Authorization: Bearer TOKEN.")
				}
				return c.result(map[string]string{"name": args[0], "token": token}, "%s", token)
			}),
		c.readingStore("list", "List the programs, and when they called last", noArguments,
			func(_ context.Context, app *App, _ []string) error {
				rows := view.Map(app.Programs.Programs(), view.NewProgram)
				table := newTable("PROGRAM", "CONNECTS", "OPEN", "CALLS", "LAST CALL")
				for _, row := range rows {
					way := "standard streams"
					if row.Token {
						way = "HTTP, with a token"
					}
					table.add(row.Name, way, strconv.Itoa(row.Open), strconv.Itoa(row.Calls), row.Used.Minute())
				}
				return c.printTable(rows, table,
					"No program has used your tools. conclave mcp tokens add NAME makes a token for one.")
			}),
		c.withStore("remove NAME", "Forget a program: its token is no longer valid, and its sessions end",
			exactly("the name of a program"), func(ctx context.Context, app *App, args []string) error {
				if err := app.Programs.Remove(ctx, args[0]); err != nil {
					return err
				}
				return c.result(map[string]string{"removed": args[0]}, "%s was removed.", args[0])
			}))
}

func (c mcpCommands) offerCommand() *cobra.Command {
	all := false
	cmd := c.withAllPlugins("offer [TOOL...]", "Offer tools to other programs", cobra.ArbitraryArgs,
		func(ctx context.Context, app *App, args []string) error {
			ids, err := c.chosen(app, args, all)
			if err != nil {
				return err
			}
			for _, id := range ids {
				if found, ok := app.Tools.Set().ByID(id); ok && !mcpserver.Offerable(found) {
					return usageError("%s cannot be offered: models are not offered it directly", id)
				}
			}
			if err := app.Programs.Offer(ctx, ids...); err != nil {
				return err
			}
			return c.offered(ctx, app, nil)
		})
	cmd.Flags().BoolVar(&all, "all", false, "offer all tools that there are now")
	return cmd
}

func (c mcpCommands) withdrawCommand() *cobra.Command {
	all := false
	cmd := c.withAllPlugins("withdraw [TOOL...]", "Stop offering tools to other programs", cobra.ArbitraryArgs,
		func(ctx context.Context, app *App, args []string) error {
			ids := app.Programs.Offered()
			if !all || len(args) > 0 {
				var err error
				if ids, err = c.withdrawn(app, args); err != nil {
					return err
				}
			}
			if err := app.Programs.Withdraw(ctx, ids...); err != nil {
				return err
			}
			return c.offered(ctx, app, nil)
		})
	cmd.Flags().BoolVar(&all, "all", false, "withdraw all tools")
	return cmd
}

func (c mcpCommands) offeredCommand() *cobra.Command {
	return c.withAllPlugins("offered", "List the tools that other programs are offered", noArguments, c.offered)
}

// chosen returns the ids of the tools that a command names, or of all that can be offered.
func (c mcpCommands) chosen(app *App, names []string, all bool) ([]string, error) {
	var ids []string
	switch {
	case all == (len(names) > 0):
		return nil, usageError("name the tools to offer, or give --all")
	case all:
		for _, t := range app.Tools.Set().Tools() {
			if mcpserver.Offerable(t) {
				ids = append(ids, t.ID())
			}
		}
		return ids, nil
	}
	for _, name := range names {
		row, err := findRow(app, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, row.ID)
	}
	return ids, nil
}

// withdrawn returns the ids of the tools that a command names, also of those that are no longer there.
func (c mcpCommands) withdrawn(app *App, names []string) ([]string, error) {
	if len(names) == 0 {
		return nil, usageError("name the tools to withdraw, or give --all")
	}
	offered := app.Programs.Offered()
	var ids []string
	for _, name := range names {
		if slices.Contains(offered, name) {
			ids = append(ids, name)
			continue
		}
		row, err := findRow(app, name)
		if err != nil {
			return nil, err
		}
		ids = append(ids, row.ID)
	}
	return ids, nil
}

// offered prints the tools that other programs are offered.
func (c mcpCommands) offered(_ context.Context, app *App, _ []string) error {
	names := app.Programs.Offers()
	rows := []view.OfferedTool{}
	for _, id := range slices.Sorted(slices.Values(app.Programs.Offered())) {
		rows = append(rows, view.OfferedTool{ID: id, Name: names[id]})
	}
	table := newTable("TOOL", "NAME FOR PROGRAMS")
	for _, row := range rows {
		name := row.Name
		if name == "" {
			name = "— (it is not there now)"
		}
		table.add(row.ID, name)
	}
	return c.printTable(rows, table,
		"No tool is offered to other programs. conclave mcp offer TOOL offers one, --all all.")
}
