package terminal

import (
	"context"
	"fmt"

	"conclave/app/base/settings"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// httpCommands open the port at which programs register tools.
type httpCommands struct{ *terminal }

func (c httpCommands) group() *cobra.Command {
	cmd := group("http", "Let programs of this computer register tools over HTTP",
		c.serveCommand(),
		c.withPlugins("status", "Show whether the port is open", noArguments, c.print),
		c.onCommand(), c.offCommand(), c.tokenCommand())
	cmd.Long = "Let programs of this computer register tools over HTTP, as N.E.K.O does: POST /api/tools/register.\n" +
		"Other computers and pages in a browser are refused. Each program's tools are approved like those\n" +
		"of a plugin before they are offered to a model."
	return cmd
}

func portFlag(cmd *cobra.Command, into *int, usual string) {
	cmd.Flags().IntVar(into, "port", 0, "the port, from 1024 to 65535 (usually "+usual+")")
}

func (c httpCommands) serveCommand() *cobra.Command {
	port := 0
	cmd := c.withPlugins("serve", "Open the port until interrupted, and print its address", noArguments,
		func(ctx context.Context, app *App, _ []string) error {
			if port != 0 {
				wanted := settings.Default()
				wanted.HTTPPort = port
				if err := wanted.Check(); err != nil {
					return err
				}
			}
			address, stop, err := app.HTTP.Serve(ctx, port)
			if err != nil {
				return err
			}
			defer stop()
			c.follow()
			if c.json {
				err = writeJSON(c.Out, map[string]string{"address": address})
			} else {
				_, err = fmt.Fprintln(c.Out, "Programs register tools at "+address+"/api/tools/register.")
				_ = c.say(c.Err,
					"Approve what they register in the window, or with conclave plugins trust. Press Ctrl-C to end.")
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
		})
	portFlag(cmd, &port, "that of the settings")
	return cmd
}

func (c httpCommands) onCommand() *cobra.Command {
	port := 0
	cmd := c.withPlugins("on", "Open the port whenever Conclave's window is open", noArguments,
		c.changing(func(s *settings.Settings) {
			s.HTTPTools = true
			if port != 0 {
				s.HTTPPort = port
			}
		}))
	portFlag(cmd, &port, fmt.Sprint(settings.DefaultHTTPPort))
	return cmd
}

func (c httpCommands) offCommand() *cobra.Command {
	return c.withPlugins("off", "Close the port; registered tools are offered again when it is open", noArguments,
		c.changing(func(s *settings.Settings) { s.HTTPTools = false }))
}

// changing returns an action that changes the settings, and prints the state of the port.
func (c httpCommands) changing(change func(*settings.Settings)) action {
	return func(ctx context.Context, app *App, args []string) error {
		if _, err := app.Settings.ChangeSettings(ctx, change); err != nil {
			return err
		}
		return c.print(ctx, app, args)
	}
}

func (c httpCommands) print(ctx context.Context, app *App, _ []string) error {
	set, err := app.Settings.Settings(ctx)
	if err != nil {
		return err
	}
	address, trouble := app.HTTP.Address()
	row := view.NewHTTPStatus(set, address, trouble)
	if c.json {
		return c.printJSON(row)
	}
	switch {
	case row.Address != "":
		state := "On"
		if !row.On {
			state = "Open while conclave http serve runs"
		}
		err = c.say(c.Out, "%s: programs register tools at %s/api/tools/register.", state, row.Address)
		if err == nil && row.Trouble != "" {
			err = c.say(c.Out, "%s", row.Trouble)
		}
	case !row.On:
		err = c.say(c.Out, "Off: programs cannot register tools. Switch it on with conclave http on.")
	case row.Trouble != "":
		err = c.say(c.Out, "On, but not open: %s", row.Trouble)
	default:
		err = c.say(c.Out, "On: the port %d opens with the window, or with conclave http serve.", row.Port)
	}
	if err == nil && row.Token {
		err = c.say(c.Out, "Programs must send the token; conclave http token makes a new one.")
	}
	return err
}

func (c httpCommands) tokenCommand() *cobra.Command {
	off := false
	cmd := c.withPlugins("token", "Make a token that programs must send from now on, and print it", noArguments,
		func(ctx context.Context, app *App, _ []string) error {
			token, err := app.HTTP.SetToken(ctx, !off)
			if err != nil {
				return err
			}
			facts := map[string]string{"token": token}
			if off {
				return c.result(facts, "Programs need no token.")
			}
			if !c.json {
				fmt.Fprintln(c.Err,
					"Programs must send it: Authorization: Bearer TOKEN. An older one is no longer valid.")
			}
			return c.result(facts, "%s", token)
		})
	cmd.Flags().BoolVar(&off, "off", false, "let programs register without a token")
	return cmd
}
