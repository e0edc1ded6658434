package cli

import (
	"context"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

func (c pluginSetupCommands) secretCommand() *cobra.Command {
	var hosts []string
	var forget bool
	cmd := c.withPlugins("secret ID NAME", "Give a Spindle extension a secret that it uses and does not see",
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
				if err := app.Secrets.ForgetSecret(ctx, s.ID, args[1]); err != nil {
					return err
				}
				return c.result(facts, "It is gone.")
			case len(hosts) == 0:
				return usageError("--host says where the secret may be sent; name one or more")
			}
			text, err := io.ReadAll(io.LimitReader(c.In, 128<<10))
			if err != nil {
				return err
			}
			if err := app.Secrets.GiveSecret(ctx, s.ID, args[1], strings.TrimSpace(string(text)), hosts); err != nil {
				return asUsage(err)
			}
			return c.result(facts, "It is put in where a header or the query of a request says {{secret:%s}}, for %s.",
				args[1], strings.Join(hosts, ", "))
		})
	cmd.Long = "Give a Spindle extension a secret that it uses and does not see. It is read from standard input. Where\n" +
		"a header or the query of what the extension fetches says {{secret:NAME}}, Conclave puts it in, for the\n" +
		"hosts named here and no others, wherever a redirect leads."
	cmd.Flags().StringArrayVar(&hosts, "host", nil, "a host that it may be sent to (repeatable)")
	cmd.Flags().BoolVar(&forget, "forget", false, "take the secret back")
	return cmd
}
