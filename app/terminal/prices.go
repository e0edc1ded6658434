package terminal

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/model/cost"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

func (c modelCommands) listPrices(ctx context.Context, app *App, _ []string) error {
	prices, err := app.Models.Prices(ctx)
	if err != nil {
		return err
	}
	rows := view.NewPriceTable(prices).Rows()
	if c.json {
		return c.printJSON(rows)
	}
	table := newTable("MODEL", "IN", "OUT", "CACHED", "BY")
	for _, r := range rows {
		cached := ""
		if r.Cached > 0 {
			cached = perMillion(r.Cached)
		}
		table.add(r.Model, perMillion(r.Input), perMillion(r.Output), cached, r.By)
	}
	if err := table.print(c.terminal, "There are no prices."); err != nil {
		return err
	}
	return c.say(c.Out, "US dollars for a million tokens. Set your own price: "+
		"conclave models price CONNECTION/MODEL INPUT OUTPUT")
}

func perMillion(dollars float64) string { return strconv.FormatFloat(dollars, 'f', -1, 64) }

func (c modelCommands) priceCommand() *cobra.Command {
	var forget bool
	var p cost.Price
	cmd := c.withStore("price CONNECTION/MODEL INPUT OUTPUT [CACHED]",
		"Set what a million tokens of a model cost, in US dollars", func(cmd *cobra.Command, args []string) error {
			if wrong := len(args) != 1; forget && wrong || !forget && (len(args) < 3 || len(args) > 4) {
				return usageOf(cmd, "name the model, and the cost of a million tokens of input and of output")
			}
			p.Model = args[0]
			for i, text := range args[1:] {
				n, err := strconv.ParseFloat(strings.TrimPrefix(text, "$"), 64)
				if err != nil {
					return usageOf(cmd, "“%s” is not a price", text)
				}
				*[]*float64{&p.Input, &p.Output, &p.Cached}[i] = n
			}
			if err := p.Check(); err != nil {
				return asUsage(err)
			}
			return nil
		}, func(ctx context.Context, app *App, _ []string) error { return c.setPrice(ctx, app, p, forget) })
	cmd.Long = "Set what a million tokens of a model cost, in US dollars: input, output, and input from a\n" +
		"prompt cache. Your prices take precedence over the built-in ones. A * in the name matches\n" +
		"anything."
	cmd.Flags().BoolVar(&forget, "forget", false, "remove your price of the model")
	return cmd
}

// setPrice puts a price before the person's other prices, in place of the one for that name, or with
// forget removes it.
func (c modelCommands) setPrice(ctx context.Context, app *App, p cost.Price, forget bool) error {
	prices, err := app.Models.Prices(ctx)
	if err != nil {
		return err
	}
	own := slices.DeleteFunc(slices.Clone(prices.Own), func(o cost.Price) bool { return o.Model == p.Model })
	if forget && len(own) == len(prices.Own) {
		return fault.New(fault.NotFound, "cli.price", "You have not set a price for "+p.Model+".",
			"conclave models prices lists all prices.")
	}
	if !forget {
		own = append([]cost.Price{p}, own...)
	}
	if err := app.Models.SetPrices(ctx, own); err != nil {
		return err
	}
	if forget {
		return c.result(map[string]string{"forgot": p.Model}, "Your price of %s was removed.", p.Model)
	}
	return c.result(view.Price{Price: p, By: cost.Own},
		"A million tokens of %s cost $%s for input and $%s for output.", p.Model,
		perMillion(p.Input), perMillion(p.Output))
}
