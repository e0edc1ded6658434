package terminal

import (
	"context"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// tools returns every tool of every plugin.
func (a *App) tools() []view.Tool {
	return view.NewToolList(a.Host.List(), a.Tools.Set(), a.Gate.AboutTool)
}

// toolCommands list, show, offer and call tools.
type toolCommands struct{ *terminal }

func (c toolCommands) group() *cobra.Command {
	one := exactly("the name of a tool")
	return group("tools", "List, show, offer and call tools", c.listCommand(),
		// the name that a model is given depends on the tools of all plugins
		c.withAllPlugins("show TOOL", "Show a tool exactly as a model is given it", one, c.show),
		c.withAllPlugins("search QUERY", "Show what tool_search would return to a model", some("words to look for"),
			c.search),
		c.callCommand(),
		c.enableCommand(),
		c.withPlugins("disable TOOL", "Stop offering a tool to models", one,
			func(ctx context.Context, app *App, args []string) error {
				return c.offer(ctx, app, args[0], app.switchTool(false))
			}))
}

// switchTool returns what switches a tool on or off for models, whatever its plugin asks for.
func (a *App) switchTool(on bool) func(ctx context.Context, plugin, name string) error {
	return func(ctx context.Context, plugin, name string) error {
		return a.Host.ToolChoices.SetEnabled(ctx, plugin, name, on)
	}
}

func (c toolCommands) enableCommand() *cobra.Command {
	var later, always, members bool
	var cmd *cobra.Command
	cmd = c.withPlugins("enable TOOL", "Offer a tool to models", exactly("the name of a tool"),
		func(ctx context.Context, app *App, args []string) error {
			return c.offer(ctx, app, args[0], func(ctx context.Context, plugin, name string) error {
				err := app.Host.ToolChoices.SetEnabled(ctx, plugin, name, true)
				switch {
				case err != nil:
				case later:
					err = app.Host.ToolChoices.SetVisibility(ctx, plugin, name, tool.Deferred)
				case always:
					err = app.Host.ToolChoices.SetVisibility(ctx, plugin, name, tool.Direct)
				}
				if err == nil && cmd.Flags().Changed("members") {
					err = app.Host.ToolChoices.SetForMembers(ctx, plugin, name, members)
				}
				return err
			})
		})
	cmd.Flags().BoolVar(&later, "when-searched", false, "models know its name, and get it when they search for it")
	cmd.Flags().BoolVar(&always, "from-the-start", false, "each message defines it, as far as there is room")
	cmd.Flags().BoolVar(&members, "members", true, "members of councils may have it; false keeps it from them")
	cmd.MarkFlagsMutuallyExclusive("when-searched", "from-the-start")
	return cmd
}

func (c toolCommands) listCommand() *cobra.Command {
	var all bool
	cmd := c.withAllPlugins("list", "List the tools a model can be offered", noArguments,
		func(_ context.Context, app *App, _ []string) error { return c.list(app, all) })
	cmd.Flags().BoolVar(&all, "all", false, "also hidden, deferred and disabled tools")
	return cmd
}

// list prints the tools that models are offered from the start and those that wait for approval,
// or all.
func (c toolCommands) list(app *App, all bool) error {
	rows := []view.Tool{}
	known := app.tools()
	for _, row := range known {
		waiting := row.Status == string(plugin.NeedsApproval) || row.Status == string(plugin.Quarantined)
		if all || waiting || (row.Enabled && row.Visibility == tool.Direct) {
			rows = append(rows, row)
		}
	}
	if f := app.Host.Folder.Unread(); f != nil && len(known) == 0 {
		return f
	}
	if c.json {
		return c.printJSON(rows)
	}
	table := newTable("TOOL", "STATUS", "WHAT IT DOES")
	for _, row := range rows {
		table.add(row.ID, row.Status, firstLine(row.Description))
	}
	none := "There are no tools. Put a .py or .js file into " + app.Plugins + "."
	if len(known) > 0 {
		none = "No tool is offered from the start: " + countOf(len(known), "tool") +
			" switched off, for the Council alone, or found by searching. See them: conclave tools list --all"
	}
	return table.print(c.terminal, none)
}

func (c toolCommands) search(_ context.Context, app *App, args []string) error {
	byID := map[string]view.Tool{}
	for _, row := range app.tools() {
		byID[row.ID] = row
	}
	rows := []view.Tool{}
	table := newTable("TOOL", "WHAT IT DOES")
	for _, t := range app.Tools.Set().Search(strings.Join(args, " ")) {
		row := byID[t.ID()]
		rows = append(rows, row)
		table.add(row.ID, firstLine(row.Description))
	}
	return c.printTable(rows, table, "No tool matches.")
}

// offer changes how a tool is offered, and prints how it is then.
func (c toolCommands) offer(ctx context.Context, app *App, name string,
	set func(ctx context.Context, plugin, name string) error,
) error {
	row, err := findRow(app, name)
	if err != nil {
		return err
	}
	if err := set(ctx, row.Plugin, row.Name); err != nil {
		return err
	}
	if row, err = findRow(app, row.ID); err != nil {
		return err
	}
	state := "not offered to models"
	switch {
	case row.Enabled && row.Visibility == tool.Deferred:
		state = "found by models that search for it"
	case row.Enabled:
		state = "offered to models"
	}
	if row.Enabled && !row.Members {
		state += ", and not to members of councils"
	}
	return c.result(row, "%s is %s.", row.ID, state)
}

// findRow finds a tool by "plugin:name", or by its bare or wire name where only one plugin has it.
func findRow(app *App, name string) (view.Tool, error) {
	var found, near []view.Tool
	for _, row := range app.tools() {
		switch {
		case row.ID == name:
			return row, nil
		case row.Name == name || row.WireName == name:
			found = append(found, row)
		case strings.Contains(row.ID, name):
			near = append(near, row)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var ids []string
		for _, row := range found {
			ids = append(ids, row.ID)
		}
		return view.Tool{}, fault.New(fault.Usage, "cli.tool", "Several plugins have a tool named "+name+".",
			"Choose one: "+strings.Join(ids, ", ")+".")
	}
	if f := app.Host.Folder.Unread(); f != nil {
		return view.Tool{}, f
	}
	// A plugin that did not load lists no tools, so the error is why it did not.
	id, _, _ := strings.Cut(name, ":")
	if p, err := findPlugin(app, id); err == nil && !p.Serving && p.Problem != nil {
		return view.Tool{}, notServing(p)
	}
	hint := "conclave tools list --all shows all tools."
	if len(near) > 0 {
		hint = "Did you mean " + near[0].ID + "?"
	}
	return view.Tool{}, fault.New(fault.NotFound, "cli.tool", "There is no tool named "+name+".", hint)
}

func (c toolCommands) show(ctx context.Context, app *App, args []string) error {
	row, err := findRow(app, args[0])
	if err != nil {
		return err
	}
	grants, err := app.Gate.Rules.List(ctx)
	if err != nil {
		return err
	}
	out := struct {
		view.Tool
		Grants []gate.Rule `json:"grants"`
	}{row, []gate.Rule{}}
	for _, g := range grants {
		if g.Plugin == row.Plugin && (g.Tool == row.Name || g.Tool == "*") {
			out.Grants = append(out.Grants, g)
		}
	}
	if c.json {
		return c.printJSON(out)
	}
	fmt.Fprintf(c.Out, "%s\n%s\n\n", row.ID, row.Description)
	fmt.Fprintf(c.Out, "offered to models as  %s\nparameters            %s\nstatus                %s\n"+
		"contract              %s\ndigest                %s\ntime limit            %s\n",
		row.WireName, indentJSON(row.Parameters, 22), row.Status, row.Dialect, row.Digest,
		time.Duration(row.TimeoutMS)*time.Millisecond)
	if row.File != "" {
		fmt.Fprintf(c.Out, "defined at            %s:%d\n", row.File, row.Line)
	}
	for _, w := range row.Warnings {
		fmt.Fprintf(c.Out, "warning               %s\n", w)
	}
	for _, g := range out.Grants {
		fmt.Fprintf(c.Out, "rule                  %s (%s)\n", gate.Sentence(g, row.Plugin), g.ID)
	}
	return nil
}

// cutLine returns the beginning of a text on one line, for a message.
func cutLine(s string) string { return cut(oneLine(s), 60) }

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}
