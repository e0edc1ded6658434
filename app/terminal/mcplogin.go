package terminal

import (
	"context"
	"os/exec"
	"runtime"

	"conclave/app/base/fault"
	"conclave/app/plugin"

	"github.com/spf13/cobra"
)

func (c mcpCommands) loginCommand() *cobra.Command {
	service := ""
	cmd := c.withPlugins("login ID", "Sign in to an MCP server, in the browser", exactly("the id of a server"),
		func(ctx context.Context, app *App, args []string) error {
			s, err := findPlugin(app, args[0])
			if err != nil {
				return err
			}
			open := func(ctx context.Context, address string) error {
				err := c.say(c.Err,
					"Sign in on the page that opens in your browser. If none opens, open this address:\n%s", address)
				if err != nil {
					return err
				}
				return openBrowser(ctx, address)
			}
			if err := app.Host.SignIns.In(ctx, s.ID, plugin.Signing{Open: open, Service: service}); err != nil {
				return err
			}
			if s, err = loaded(ctx, app, s.ID); err != nil {
				return err
			}
			next := ""
			if s.State == plugin.NeedsApproval {
				next = " Its tools wait for your approval: conclave plugins trust " + s.ID
			}
			return c.advise(map[string]string{"plugin": s.ID, "state": string(s.State)}, "You are signed in to %s.%s",
				s.Manifest.Name, next)
		})
	cmd.Long = "Sign in to an MCP server that wants it. Conclave opens the page of its sign-in service in the\n" +
		"browser of this computer, and waits up to five minutes. The tokens stay in the system's keychain, and are\n" +
		"renewed. Of several sign-in services --with names one; it is kept until you sign out."
	cmd.Flags().StringVar(&service, "with", "", "host or address of the sign-in service, where there are several")
	return cmd
}

func (c mcpCommands) logoutCommand() *cobra.Command {
	return c.withPlugins("logout ID", "Sign out of an MCP server", exactly("the id of a server"),
		func(ctx context.Context, app *App, args []string) error {
			s, err := findPlugin(app, args[0])
			if err != nil {
				return err
			}
			if err := app.Host.SignIns.Out(ctx, s.ID); err != nil {
				return err
			}
			return c.result(map[string]string{"plugin": s.ID}, "You are signed out of %s.", s.Manifest.Name)
		})
}

// openBrowser shows an address in the system's browser. No shell reads it.
func openBrowser(ctx context.Context, address string) error {
	program, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		program = "open"
	case "windows":
		program, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, args...) // the browser stays open
	if err := cmd.Start(); err != nil {
		return fault.Wrap(fault.Unavailable, "cli.browser", "No browser could be opened.",
			"Open the address yourself.", err)
	}
	go func() { _ = cmd.Wait() }() // reaps it; ends with that program
	return nil
}
