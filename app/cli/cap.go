package cli

import (
	"context"
	"strconv"
	"strings"

	"conclave/app/cost"
	"conclave/app/settings"

	"github.com/spf13/cobra"
)

// capRow holds the cap as `models cap --json` prints it.
type capRow struct {
	Dollars float64 `json:"dollars"` // that each plugin may have models cost in a day
	Tokens  int64   `json:"tokens"`  // likewise, of models without a known price
}

func (c modelCommands) capCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "cap [DOLLARS [TOKENS]]",
		Short: "Show or set what each plugin may have models cost in a day",
		Long: "Show or set what each plugin that asks your models may have them cost in a day, in US dollars;\n" +
			"and in tokens, of models whose price is not known. Models of this computer cost nothing. A plugin\n" +
			"that has spent it has to ask you.",
		Args: cobra.MaximumNArgs(2),
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		set, err := readCap(cmd, args)
		if err != nil {
			return err
		}
		app, err := c.app(cmd.Context(), Folders{})
		if err != nil {
			return err
		}
		defer app.Close()
		return c.cap(cmd.Context(), app, set)
	}
	return cmd
}

// readCap returns a function that sets what the arguments say, or nil for none.
func readCap(cmd *cobra.Command, args []string) (func(*settings.Settings), error) {
	if len(args) == 0 {
		return nil, nil
	}
	dollars, err := strconv.ParseFloat(strings.TrimPrefix(args[0], "$"), 64)
	if err != nil {
		return nil, usageOf(cmd, "“%s” is no amount of dollars", args[0])
	}
	tokens := settings.Default().PluginTokens
	if len(args) == 2 {
		if tokens, err = strconv.ParseInt(args[1], 10, 64); err != nil {
			return nil, usageOf(cmd, "“%s” is no number of tokens", args[1])
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

// cap sets what each plugin may spend, unless set is nil, and prints it.
func (c modelCommands) cap(ctx context.Context, app *App, set func(*settings.Settings)) error {
	now, err := app.Settings.Settings(ctx)
	if err == nil && set != nil {
		now, err = app.Settings.ChangeSettings(ctx, set)
	}
	if err != nil {
		return err
	}
	return c.result(capRow{now.PluginSpend, now.PluginTokens},
		"Each plugin may have models cost %s a day, and use %d tokens of models without a known price.",
		cost.Words(now.PluginSpend, true), now.PluginTokens)
}
