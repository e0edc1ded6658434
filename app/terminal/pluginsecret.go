package terminal

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func (c pluginSetupCommands) secretCommand() *cobra.Command {
	var hosts []string
	var forget bool
	cmd := c.withPlugins("secret ID NAME", "Give a Spindle extension a secret that it uses but never sees",
		exactly("the id of a plugin", "a name"), func(ctx context.Context, app *App, args []string) error {
			s, err := findPlugin(app, args[0])
			if err != nil {
				return err
			}
			facts := map[string]string{"plugin": s.ID, "name": args[1]}
			switch {
			case forget && len(hosts) > 0:
				return usageError("--forget takes no --host")
			case forget:
				if err := app.Secrets.Forget(ctx, s.ID, args[1]); err != nil {
					return err
				}
				return c.result(facts, "The secret was removed.")
			case len(hosts) == 0:
				return usageError("name the hosts that the secret may be sent to, with --host")
			}
			text, err := io.ReadAll(io.LimitReader(c.In, 128<<10))
			if err != nil {
				return err
			}
			if err := app.Secrets.Give(ctx, s.ID, args[1], strings.TrimSpace(string(text)), hosts); err != nil {
				return asUsage(err)
			}
			return c.result(facts, "It replaces {{secret:%s}} in headers and queries of requests to %s.",
				args[1], strings.Join(hosts, ", "))
		})
	cmd.Long = "Give a Spindle extension a secret that it uses but never sees. It is read from standard input.\n" +
		"Conclave replaces {{secret:NAME}} by it in the headers and the query of the extension's requests to\n" +
		"the hosts named here. Other hosts never get it, not even by a redirect."
	cmd.Flags().StringArrayVar(&hosts, "host", nil, "a host that it may be sent to (repeatable)")
	cmd.Flags().BoolVar(&forget, "forget", false, "remove the secret")
	return cmd
}
