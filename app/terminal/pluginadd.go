package terminal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/library"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

func (c pluginCommands) newCommand() *cobra.Command {
	return c.withPlugins("new KIND NAME", "Make a plugin from a template: "+strings.Join(c.Kinds, ", "),
		exactly("a kind", "a name"),
		func(ctx context.Context, app *App, args []string) error {
			if app.Library.IsProgram(args[0]) {
				return c.newProgram(app, args[0], args[1])
			}
			id, path, err := app.Library.New(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			s, err := loaded(ctx, app, id)
			if err != nil {
				return err
			}
			if s.State == plugin.Failed && s.Problem != nil {
				return fault.New(fault.Unavailable, "cli.plugins",
					path+" was made, but did not load: "+sentence(s.Problem.Error()),
					s.Problem.Hint)
			}
			return c.advise(map[string]string{"id": id, "path": path},
				"%s\nIt is ready and yours: your edits are used as you save them, "+
					"and you are asked again if they ask for more.\nTry it: conclave plugins check %s",
				path, path)
		})
}

// newProgram makes a program that registers tools, in the working folder.
func (c pluginCommands) newProgram(app *App, kind, name string) error {
	path, err := app.Library.NewProgram(kind, c.Path("."), name)
	if err != nil {
		return err
	}
	return c.advise(map[string]string{"path": path},
		"%s\nIt runs next to Conclave, in Python (service.py) or Node (service.mjs), and registers its tool.\n"+
			"Try it: conclave http serve, and in another terminal: python3 %s", path, filepath.Join(path, "service.py"))
}

func (c pluginCommands) addCommand() *cobra.Command {
	return c.withPlugins("add PATH|FILE.zip|https://….git|config.json",
		"Copy a plugin into the plugins folder, or the hooks of PicoClaw's configuration",
		exactly("a path or an address"),
		func(ctx context.Context, app *App, args []string) error {
			from := c.origin(args[0])
			if made, found, err := app.Library.Import(ctx, from); found || err != nil {
				return errors.Join(c.printImported(ctx, app, made), err)
			}
			id, err := app.Library.Add(ctx, from)
			if err != nil {
				return err
			}
			return c.printAfter(ctx, app, id)
		})
}

// importedRow lists the plugins that `plugins add` made of a configuration file.
type importedRow struct {
	Added []addedRow       `json:"added"`
	Left  []plugin.LeftOut `json:"left"`
}

type addedRow struct {
	view.Plugin
	Notes []string `json:"notes"`
}

// printImported prints the plugins made from a configuration file, and its parts that were left out.
func (c pluginCommands) printImported(ctx context.Context, app *App, made library.Imported) error {
	rows := importedRow{Added: []addedRow{}, Left: append([]plugin.LeftOut{}, made.Left...)}
	waits := false
	var out strings.Builder
	for _, one := range made.Added {
		s, err := loaded(ctx, app, one.ID)
		if err != nil {
			return err
		}
		one.Notes = slices.Concat(one.Notes, app.Gate.Approvals.Shadowing(s.ID))
		rows.Added = append(rows.Added, addedRow{app.plugin(s), view.List(one.Notes)})
		waits = waits || s.State == plugin.NeedsApproval
		fmt.Fprintf(&out, "%s is %s.\n", s.ID, s.State)
		if s.Problem != nil {
			one.Notes = append([]string{sentence(s.Problem.Error())}, one.Notes...)
		}
		for _, note := range one.Notes {
			fmt.Fprintf(&out, "  %s\n", oneLine(note))
		}
	}
	if c.json {
		return c.printJSON(rows)
	}
	for _, left := range made.Left {
		fmt.Fprintf(c.Err, "Left out: %s. %s\n", left.Name, sentence(left.Why))
	}
	if waits {
		_ = c.say(c.Err,
			"They wait for your approval. See what one asks for, and approve it: conclave plugins trust ID")
	}
	_, err := io.WriteString(c.Out, out.String())
	return err
}

// origin returns the path or address of a plugin to add, a path as an absolute one: the command may
// run in another process.
func (c pluginCommands) origin(from string) string {
	if library.Remote(from) {
		return from
	}
	return c.Path(from)
}

func (c pluginCommands) updateCommand() *cobra.Command {
	return c.withPlugins("update ID [PATH|FILE.zip|https://….git]",
		"Replace a plugin by a newer version, from its source or from elsewhere",
		oneOrTwo("the id of a plugin, and the source of its newer version if that has changed"),
		func(ctx context.Context, app *App, args []string) error {
			s, err := findPlugin(app, args[0])
			if err != nil {
				return err
			}
			from := ""
			if len(args) > 1 {
				from = c.origin(args[1])
			}
			id, kept, err := app.Library.Update(ctx, s.ID, from)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Err, "The previous version was moved to %s.\n", kept)
			return c.printAfter(ctx, app, id)
		})
}

func (c pluginCommands) remove(ctx context.Context, app *App, args []string) error {
	s, err := findPlugin(app, args[0])
	if err != nil {
		return err
	}
	kept, err := app.Library.Remove(ctx, s.ID)
	if err != nil {
		return err
	}
	return c.result(map[string]string{"removed": s.ID, "kept": kept}, "%s was moved to %s.", s.ID, kept)
}
