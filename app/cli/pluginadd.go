package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"conclave/app/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/library"

	"github.com/spf13/cobra"
)

func (c *command) pluginsNewCommand() *cobra.Command {
	return c.simple("new KIND NAME", "Make a plugin from a template: "+strings.Join(c.Kinds, ", "),
		exactly("a kind", "a name"),
		func(ctx context.Context, app *App, args []string) error {
			if app.Library.IsProgram(args[0]) {
				return c.newProgram(app, args[0], args[1])
			}
			id, path, err := app.Library.New(ctx, args[0], args[1])
			if err != nil {
				return err
			}
			if err := app.Host.WaitLoaded(ctx, id); err != nil {
				return err
			}
			s, err := app.Host.Status(id)
			if err != nil {
				return err
			}
			if s.State == plugin.Failed && s.Problem != nil {
				return fault.New(fault.Unavailable, "cli.plugins", path+" was made, and did not load: "+sentence(s.Problem.Error()),
					s.Problem.Hint)
			}
			if c.json {
				return c.printJSON(map[string]string{"id": id, "path": path})
			}
			_, err = fmt.Fprintf(c.Out,
				"%s\nIt is ready and yours: your edits are used as you save them, "+
					"and you are asked again when they widen it.\nTry it: conclave plugins check %s\n",
				path, path)
			return err
		})
}

// newProgram makes a program that registers tools, in the working folder.
func (c *command) newProgram(app *App, kind, name string) error {
	path, err := app.Library.NewProgram(kind, c.Path("."), name)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]string{"path": path})
	}
	_, err = fmt.Fprintf(c.Out,
		"%s\nIt runs beside Conclave, in Python (service.py) or Node (service.mjs), and registers its tool.\n"+
			"Try it: conclave http serve, and in another terminal: python3 %s\n", path, filepath.Join(path, "service.py"))
	return err
}

func (c *command) pluginsAddCommand() *cobra.Command {
	return c.simple("add PATH|FILE.zip|https://….git", "Copy a plugin into the plugins folder",
		exactly("a path or an address"),
		func(ctx context.Context, app *App, args []string) error {
			id, err := app.Library.Add(ctx, c.origin(args[0]))
			if err != nil {
				return err
			}
			return c.printAfter(ctx, app, id)
		})
}

// origin returns the place of a plugin, as a person wrote it, for a process that may
// run elsewhere.
func (c *command) origin(from string) string {
	if library.Remote(from) {
		return from
	}
	return c.Path(from)
}

func (c *command) pluginsUpdateCommand() *cobra.Command {
	return c.simple("update ID [PATH|FILE.zip|https://….git]",
		"Replace a plugin by a newer version, from where it came or from elsewhere",
		oneOrTwo("the id of a plugin, and where its newer version is unless that is where it came from"),
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
			fmt.Fprintf(c.Err, "What was there is kept in %s.\n", kept)
			return c.printAfter(ctx, app, id)
		})
}

func (c *command) removePlugin(ctx context.Context, app *App, args []string) error {
	s, err := findPlugin(app, args[0])
	if err != nil {
		return err
	}
	kept, err := app.Library.Remove(ctx, s.ID)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]string{"removed": s.ID, "kept": kept})
	}
	_, err = fmt.Fprintf(c.Out, "%s was moved to %s.\n", s.ID, kept)
	return err
}
