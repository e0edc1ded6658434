package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// mcpServerCommands add, list and import MCP servers. Each is a plugin.
type mcpServerCommands struct{ pluginCommands }

func (c mcpServerCommands) commands() []*cobra.Command {
	return []*cobra.Command{
		c.addServerCommand(), c.importCommand(),
		c.withAllPlugins("list", "List the MCP servers that are plugins", noArguments, c.listServers), c.showCommand(),
		c.keepCommand(), c.programCommand(),
	}
}

// maxPasted bounds what is read of standard input: a configuration with hundreds of servers.
const maxPasted = 16 << 20

func (c mcpServerCommands) addServerCommand() *cobra.Command {
	dash := -1
	cmd := c.withPlugins("add [NAME] URL|FILE|TEXT|- | add NAME -- COMMAND ARGUMENTS…",
		"Add an MCP server: an address, a command, a configuration, a link",
		func(cmd *cobra.Command, args []string) error {
			dash = cmd.ArgsLenAtDash()
			switch {
			case dash >= 0 && (dash > 1 || len(args) == dash):
				return usageOf(cmd, "before -- stands a name, and after it the command of the server")
			case dash < 0 && (len(args) == 0 || len(args) > 2):
				return usageOf(cmd, "mcp add needs what to add, perhaps with a name before it; a command comes after --")
			}
			return nil
		},
		func(ctx context.Context, app *App, args []string) error {
			name := ""
			if dash >= 0 {
				if dash == 1 {
					name = args[0]
				}
				entry, err := json.Marshal(map[string]any{"command": args[dash], "args": args[dash+1:]})
				if err != nil {
					return err
				}
				return c.addText(ctx, app, string(entry), name)
			}
			if len(args) == 2 {
				name = args[0]
			}
			return c.addOne(ctx, app, args[len(args)-1], name)
		})
	cmd.Long = "Add an MCP server. It waits for your approval like every plugin, and nothing of it runs before.\n\n" +
		"  conclave mcp add https://mcp.example.com/mcp\n" +
		"  conclave mcp add files -- npx -y @modelcontextprotocol/server-filesystem ~/Notes\n" +
		"  conclave mcp add '{\"mcpServers\": {…}}'      or - for standard input\n\n" +
		"Keys and passwords in what you add go to the keychain."
	return cmd
}

// addOne adds what one argument names.
func (c mcpServerCommands) addOne(ctx context.Context, app *App, what, name string) error {
	if what == "-" {
		text, err := io.ReadAll(io.LimitReader(c.In, maxPasted))
		if err != nil {
			return err
		}
		return c.addText(ctx, app, string(text), name)
	}
	path := c.Path(what)
	if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
		if name == "" {
			return c.importFile(ctx, app, path)
		}
		text, err := os.ReadFile(path) //nolint:gosec // the person named it
		if err != nil {
			return unreadable("cli.mcp", what, err)
		}
		return c.addText(ctx, app, string(text), name)
	}
	return c.addText(ctx, app, what, name)
}

func (c mcpServerCommands) addText(ctx context.Context, app *App, text, name string) error {
	made, err := app.Library.ImportText(ctx, text, name)
	if len(made.Added)+len(made.Left) == 0 {
		return err
	}
	return errors.Join(c.printImported(ctx, app, made), err)
}

func (c mcpServerCommands) importFile(ctx context.Context, app *App, path string) error {
	made, found, err := app.Library.ImportServers(ctx, path)
	if !found && err == nil {
		return fault.New(fault.Invalid, "cli.mcp", "There is no MCP server in "+path+".",
			"Servers stand in it under mcpServers, servers or context_servers.")
	}
	if len(made.Added)+len(made.Left) == 0 {
		return err
	}
	return errors.Join(c.printImported(ctx, app, made), err)
}

func (c mcpServerCommands) importCommand() *cobra.Command {
	cmd := c.withPlugins("import [PROGRAM|FILE]", "Take over the MCP servers of another program",
		func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usageOf(cmd, "mcp import takes one program or file, not %d", len(args))
			}
			return nil
		}, c.importFrom)
	cmd.Long = "Take over the MCP servers of another program. Its files are read, and never changed; each server\n" +
		"becomes a folder in the plugins folder and waits for your approval. Without an argument, it lists the\n" +
		"files that other programs have here and in this project."
	return cmd
}

func (c mcpServerCommands) importFrom(ctx context.Context, app *App, args []string) error {
	places := app.Library.Places(c.Env, c.Dir)
	if len(args) == 0 {
		table := newTable("PROGRAM", "FILE")
		for _, p := range places {
			table.add(p.Program, p.Path)
		}
		if !c.json && len(places) > 0 {
			defer func() { _ = c.say(c.Err, "Take over the servers of one: conclave mcp import PROGRAM") }()
		}
		return c.printTable(view.List(places), table, "No other program has a configuration with MCP servers here. "+
			"Name its file: conclave mcp import FILE")
	}
	places = slices.DeleteFunc(places, func(p plugin.Place) bool { return p.Program != args[0] })
	if len(places) == 0 {
		path := c.Path(args[0])
		if _, err := os.Stat(path); err != nil {
			return fault.Wrap(fault.NotFound, "cli.mcp", "There is no file "+path+", and no program "+args[0]+
				" with a configuration.", "conclave mcp import lists those that have one.", err)
		}
		return c.importFile(ctx, app, path)
	}
	var failed error
	for _, p := range places {
		if len(places) > 1 {
			fmt.Fprintln(c.Err, p.Path)
		}
		failed = errors.Join(failed, c.importFile(ctx, app, p.Path))
	}
	return failed
}

// mcpServer is a row of `mcp list --json`.
type mcpServer struct {
	ID            string          `json:"id"`
	Name          string          `json:"name"`
	State         plugin.State    `json:"state"`
	Description   string          `json:"description"` // with its command or address
	Tools         []string        `json:"tools"`       // ids
	Configuration json.RawMessage `json:"configuration"`
}

func newMCPServer(app *App, s plugin.Status) mcpServer {
	row := app.plugin(s)
	one := mcpServer{s.ID, row.Name, s.State, row.Description, view.List(row.Tools), s.Manifest.Detail}
	if len(one.Configuration) == 0 {
		one.Configuration = json.RawMessage("null")
	}
	return one
}

func (c mcpServerCommands) listServers(_ context.Context, app *App, _ []string) error {
	rows := []mcpServer{}
	table := newTable("SERVER", "STATE", "TOOLS", "")
	for _, s := range app.Host.List() {
		if !app.Library.OfText(s) {
			continue
		}
		row := newMCPServer(app, s)
		rows = append(rows, row)
		about := row.Description
		if s.Problem != nil {
			about = s.Problem.Error()
		}
		table.add(s.ID, string(s.State), fmt.Sprint(len(row.Tools)), oneLine(about))
	}
	return c.printTable(rows, table, "There are no MCP servers. Add one with conclave mcp add, or take over those of "+
		"another program with conclave mcp import.")
}

// server returns the MCP server of a name; kind not_found for another plugin.
func (c mcpServerCommands) server(app *App, name string) (plugin.Status, error) {
	s, err := findPlugin(app, name)
	if err == nil && !app.Library.OfText(s) {
		err = fault.New(fault.NotFound, "cli.mcp", "The plugin "+s.ID+" is no MCP server.",
			"conclave plugins show "+s.ID+" shows it.")
	}
	return s, err
}

func (c mcpServerCommands) showCommand() *cobra.Command {
	form := ""
	cmd := c.withPlugins("show ID", "Show what an MCP server is, asks for and offers", exactly("the id of a server"),
		func(ctx context.Context, app *App, args []string) error {
			s, err := c.server(app, args[0])
			if err != nil {
				return err
			}
			if form == "" {
				return c.show(ctx, app, []string{s.ID})
			}
			text, err := app.Library.Export(s.ID, form)
			if err != nil {
				return asUsage(err)
			}
			_, err = io.WriteString(c.Out, strings.TrimRight(text, "\n")+"\n")
			return err
		})
	cmd.Flags().StringVar(&form, "for", "",
		"print its configuration for another program: claude-desktop, claude-code, vscode or cursor")
	return cmd
}
