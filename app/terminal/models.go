package terminal

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/settings"
	"conclave/app/model"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// modelCommands list, add and test models, and set what they may cost.
type modelCommands struct{ *terminal }

func (c modelCommands) group() *cobra.Command {
	return group("models", "List, add and test models",
		c.withStore("list", "List the models of every connection", noArguments, c.list),
		c.withStore("scan", "Look for model servers on this computer", noArguments, c.scan),
		c.addCommand(),
		c.withStore("served-by NAME USER", "Let a program of another user of this computer serve a connection",
			exactly("the name of a connection", "a user"), c.serve),
		c.withStore("test NAME", "Ask a connection for its models", exactly("the name of a connection"), c.test),
		c.withStore("default CONNECTION/MODEL", "Choose the default model", exactly("a model"), c.choose),
		c.withStore("prices", "List what models cost", noArguments, c.listPrices),
		c.priceCommand(),
		c.capCommand(),
		c.withStore("pull NAME", "Have Ollama download a model", exactly("the name of a model"), c.pull),
	)
}

func (c modelCommands) list(ctx context.Context, app *App, _ []string) error {
	models, failed := app.Models.List(ctx)
	chosen, err := app.Models.Default(ctx)
	if err != nil {
		return err
	}
	price := func(m model.Info) *model.Price { return app.Models.PriceOf(ctx, m) }
	rows, table := view.NewModels(models, chosen, price), newTable("MODEL", "", "CAN")
	for _, m := range rows {
		var can []string
		for word, yes := range map[string]bool{"tools": m.Tools, "vision": m.Vision, "reasoning": m.Reasoning} {
			if yes {
				can = append(can, word)
			}
		}
		slices.Sort(can)
		mark := ""
		if m.Default {
			mark = "default"
		}
		table.add(m.Name, mark, strings.Join(can, ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		f := fault.Of(failed[name])
		fmt.Fprintln(c.Err, "conclave: "+name+": "+oneLine(next(c.said(f.Message), c.toType(c.said(f.Hint)))))
	}
	return c.printTable(rows, table, "No model answered.")
}

func (c modelCommands) scan(ctx context.Context, app *App, _ []string) error {
	servers, err := model.Scanner{}.Scan(ctx)
	if err != nil {
		return err
	}
	rows := view.NewLocalServers(servers, nil)
	table := newTable("SERVER", "VERSION", "MODELS", "ADD IT WITH")
	for _, s := range rows {
		name := strings.ToLower(strings.ReplaceAll(s.Title, " ", "-"))
		add := fmt.Sprintf("conclave models add %s %s --url %s", s.Kind, name, s.URL)
		if s.User != "" {
			add += " --served-by " + s.User
		}
		table.add(s.Name, s.Version, fmt.Sprint(s.Models), c.toType(add))
	}
	return c.printTable(rows, table,
		"No local server answered. Install one, or add an address with conclave models add.")
}

func (c modelCommands) addCommand() *cobra.Command {
	var made model.Connection
	var keyStdin bool
	cmd := c.withStore("add KIND NAME", "Add a connection: "+strings.Join(settings.Kinds, ", "),
		exactly("a kind", "a name"), func(ctx context.Context, app *App, _ []string) error {
			return c.add(ctx, app, made, keyStdin)
		})
	cmd.Flags().StringVar(&made.URL, "url", "", "address of the server; the vendor's own without it")
	cmd.Flags().StringVar(&made.Title, "title", "", "name to show")
	cmd.Flags().StringVar(&made.ServedBy, "served-by", "",
		"let a program of another user of this computer serve it; that user can read what you ask")
	cmd.Flags().BoolVar(&keyStdin, "key-stdin", false, "read the key from standard input")
	cmd.Flags().StringArrayVar(&made.Models, "model", nil,
		"a model of a server that does not list its models (repeatable)")
	cmd.PreRunE = func(_ *cobra.Command, args []string) error {
		made.Kind, made.Name = args[0], args[1]
		made.URL = model.Typed(made.URL)
		if err := settings.CheckConnection(made); err != nil {
			return asUsage(err)
		}
		return nil
	}
	return cmd
}

// add adds a connection, and its key if that is to be read.
func (c modelCommands) add(ctx context.Context, app *App, made model.Connection, keyStdin bool) error {
	key := ""
	if keyStdin {
		text, err := io.ReadAll(io.LimitReader(c.In, 64<<10))
		if err != nil {
			return err
		}
		if key = strings.TrimSpace(string(text)); key == "" {
			return usageError("--key-stdin was given, but standard input is empty")
		}
	}
	if err := app.Models.Add(ctx, made, key); err != nil {
		return err
	}
	return c.advise(map[string]string{"added": made.Name}, "Added %s. Try it: conclave models test %s",
		made.Name, made.Name)
}

func (c modelCommands) serve(ctx context.Context, app *App, args []string) error {
	if err := app.Models.SetServedBy(ctx, args[0], args[1]); err != nil {
		return err
	}
	return c.advise(map[string]string{"connection": args[0], "served_by": args[1]},
		"A program of the user %s may serve %s; that user can read what you ask.", args[1], args[0])
}

func (c modelCommands) test(ctx context.Context, app *App, args []string) error {
	models, took, err := app.Models.Test(ctx, args[0])
	if err != nil {
		return err
	}
	says := fmt.Sprintf("%s answered in %d ms and has %s.", args[0], took.Round(time.Millisecond).Milliseconds(),
		limit.Counted(models, "model"))
	if models == 0 {
		says = fmt.Sprintf("%s answered, but lists no models. Check the address, or add the connection again and name its "+
			"models with --model.", args[0])
	}
	return c.result(map[string]any{"connection": args[0], "models": models, "ms": view.Milliseconds(took)}, "%s", says)
}

func (c modelCommands) choose(ctx context.Context, app *App, args []string) error {
	if err := app.Models.SetDefault(ctx, args[0]); err != nil {
		return err
	}
	return c.result(map[string]string{"default": args[0]}, "%s is the default model now.", args[0])
}

func (c modelCommands) pull(ctx context.Context, app *App, args []string) error {
	last := ""
	err := app.Models.Pull(ctx, args[0], func(status string, done, total int64) {
		line := status
		if total > 0 {
			line = fmt.Sprintf("%s %d %%", status, done*100/total)
		}
		if line == last {
			return
		}
		last = line
		if c.json {
			_ = writeJSON(c.Out, map[string]any{"status": status, "done": done, "total": total})
			return
		}
		fmt.Fprintln(c.Err, line)
	})
	if err != nil {
		return err
	}
	if !c.json {
		fmt.Fprintln(c.Out, c.said(args[0]+" is ready."))
	}
	return nil
}
