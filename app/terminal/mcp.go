package terminal

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"conclave/app/base/fault"
	"conclave/app/net/loopback"
	"conclave/app/tool/mcpserver"

	"github.com/spf13/cobra"
)

// mcpCommands are about the Model Context Protocol: servers that Conclave uses, and Conclave as one.
type mcpCommands struct{ *terminal }

func (c mcpCommands) group() *cobra.Command {
	cmd := group("mcp", "Use MCP servers, and give other programs your tools as one",
		c.testCommand(), c.loginCommand(), c.logoutCommand(), c.serveCommand(), c.tokensCommand(), c.offerCommand(),
		c.withdrawCommand(), c.offeredCommand())
	cmd.AddCommand(mcpServerCommands{pluginCommands(c)}.commands()...)
	return cmd
}

// ServeCommand is the command by which another program starts Conclave as its server.
var ServeCommand = []string{"mcp", "serve"}

// serveFlags are the flags of `mcp serve`.
type serveFlags struct {
	http    bool
	name    string
	only    []string
	approve string
}

func (c mcpCommands) serveCommand() *cobra.Command {
	var f serveFlags
	cmd := c.withPlugins("serve [ADDRESS]", "Serve the offered tools on standard input and output, or over HTTP",
		cobra.MaximumNArgs(1), func(ctx context.Context, app *App, args []string) error {
			if len(args) > 0 && !f.http {
				return usageError("an address is for --http; without it, the tools are served on standard input and output")
			}
			choices, err := c.choices(app, f)
			if err != nil {
				return err
			}
			if f.http {
				return c.serveHTTP(ctx, app, args, choices)
			}
			return c.serveStreams(ctx, app, f.name, choices)
		})
	cmd.Long = "Serve the tools that conclave mcp offer names, as one MCP server. Without --http, it speaks on\n" +
		"standard input and output with the program that started it. With --http, programs of this computer connect\n" +
		"that carry a token, see conclave mcp tokens. Each call is decided about like any other: questions appear in\n" +
		"Conclave's window, with the name of the program."
	flags := cmd.Flags()
	flags.BoolVar(&f.http, "http", false, "serve over HTTP, at 127.0.0.1:PORT (usually "+
		strconv.Itoa(mcpserver.DefaultPort)+")")
	flags.StringVar(&f.name, "as", "A local program",
		"the name of the program that started this, for questions and the record")
	flags.StringArrayVar(&f.only, "tool", nil, "offer only this one of the offered tools; may be given several times")
	flags.StringVar(&f.approve, "approve", "", "always or never, where the window would ask, while this runs")
	return cmd
}

// choices returns what the flags choose.
func (c mcpCommands) choices(app *App, f serveFlags) (mcpserver.Choices, error) {
	var choices mcpserver.Choices
	if f.approve != "" {
		if f.approve != "always" && f.approve != "never" {
			return choices, usageError("--approve is always or never, not %s", cutLine(f.approve))
		}
		asker, err := c.person.asker(f.approve)
		if err != nil {
			return choices, err
		}
		choices.Asker = asker
	}
	for _, name := range f.only {
		row, err := findRow(app, name)
		if err != nil {
			return choices, err
		}
		choices.Only = append(choices.Only, row.ID)
	}
	return choices, nil
}

func (c mcpCommands) serveStreams(ctx context.Context, app *App, name string, choices mcpserver.Choices) error {
	c.watchPlugins(ctx, app)
	c.follow()
	streams := mcpserver.Streams{In: c.In, Out: c.Out, Name: name, Closing: c.Closing}
	err := app.Programs.ServeStreams(ctx, streams, choices)
	switch {
	case errors.Is(err, mcpserver.ErrClosing):
		return errGone
	case err != nil && ctx.Err() != nil:
		return &exitError{ExitStopped}
	}
	return err
}

// watchPlugins follows the plugins folder until ctx ends.
func (c mcpCommands) watchPlugins(ctx context.Context, app *App) {
	_ = app.Watch(ctx) // what it cannot follow stays as it is
}

func (c mcpCommands) serveHTTP(ctx context.Context, app *App, args []string, choices mcpserver.Choices) error {
	port := mcpserver.DefaultPort
	if len(args) > 0 {
		var err error
		if port, err = portOf(args[0]); err != nil {
			return err
		}
	}
	address, stop, err := app.Programs.Listen(ctx, port, choices)
	if err != nil {
		return err
	}
	defer stop()
	c.watchPlugins(ctx, app)
	c.follow()
	if c.json {
		err = writeJSON(c.Out, map[string]string{"address": address})
	} else {
		_, err = fmt.Fprintln(c.Out, "Programs connect to "+address+" with a token.")
		_ = c.say(c.Err, "Make a token with conclave mcp tokens add. Press Ctrl-C to end.")
	}
	if err != nil {
		return err
	}
	select {
	case <-c.Closing:
		return errGone
	case <-ctx.Done():
		return &exitError{ExitStopped}
	}
}

// portOf returns the port of an address of this computer.
func portOf(address string) (int, error) {
	host, number, err := net.SplitHostPort(address)
	if err != nil {
		host, number = "127.0.0.1", address
	}
	port, err := strconv.Atoi(number)
	switch {
	case err != nil || port < 0 || port > 65535:
		return 0, usageError("the address is 127.0.0.1:PORT, not %s", cutLine(address))
	case !loopback.Name(host):
		return 0, fault.New(fault.Usage, "cli.mcp", "Only programs of this computer are served, so the address cannot be "+
			cutLine(address)+".", "Use 127.0.0.1:PORT.")
	}
	return port, nil
}
