package terminal

import (
	"context"
	"strconv"
	"strings"

	"conclave/app/base/settings"
	"conclave/app/model/cost"

	"github.com/spf13/cobra"
)

// capRow is `models cap --json`.
type capRow struct {
	Dollars float64 `json:"dollars"` // that each plugin may spend on models a day
	Tokens  int64   `json:"tokens"`  // likewise, for models without a known price
}

func (c modelCommands) capCommand() *cobra.Command {
	set := func(*settings.Settings) {}
	cmd := c.withStore("cap [DOLLARS [TOKENS]]", "Show or set what each plugin may spend on models a day",
		cobra.MaximumNArgs(2), func(ctx context.Context, app *App, args []string) error {
			now, err := app.Settings.Settings(ctx)
			if err == nil && len(args) > 0 {
				now, err = app.Settings.ChangeSettings(ctx, set)
			}
			if err != nil {
				return err
			}
			return c.result(capRow{now.PluginSpend, now.PluginTokens},
				"Each plugin may spend %s on models a day, and use %d tokens of models without a known price.",
				cost.Words(now.PluginSpend, true), now.PluginTokens)
		})
	cmd.Long = "Show or set what each plugin that uses your models may spend a day: in US dollars, and in tokens\n" +
		"of models whose price is unknown. Models on this computer cost nothing. A plugin that has spent\n" +
		"its limit must ask you."
	cmd.PreRunE = func(cmd *cobra.Command, args []string) (err error) {
		if len(args) > 0 {
			set, err = readCap(cmd, args)
		}
		return err
	}
	return cmd
}

// readCap returns a function that applies the arguments to the settings.
func readCap(cmd *cobra.Command, args []string) (func(*settings.Settings), error) {
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(args[0], "$"), 64)
	if err != nil {
		return nil, usageOf(cmd, "“%s” is not an amount of dollars", args[0])
	}
	tokens := settings.Default().PluginTokens
	if len(args) == 2 {
		if tokens, err = strconv.ParseInt(args[1], 10, 64); err != nil {
			return nil, usageOf(cmd, "“%s” is not a number of tokens", args[1])
		}
	}
	if err := (cost.Cap{Dollars: dollars, Tokens: tokens}).Check(); err != nil {
		return nil, asUsage(err)
	}
	return func(s *settings.Settings) {
		if s.PluginSpend = dollars; len(args) == 2 {
			s.PluginTokens = tokens
		}
	}, nil
}
