package cli

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"conclave/app/fault"
	"conclave/app/plugin"
	"conclave/app/plugin/library"

	"github.com/spf13/cobra"
)

func (c *command) pluginsCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check PATH|ID",
		Short: "Run a plugin apart from the others, with no permission, and list its tools and problems",
		Args:  exactly("the path or the id of a plugin"), RunE: func(cmd *cobra.Command, args []string) error {
			path, err := c.pathOfPlugin(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			s, err := c.inThrowAway(cmd.Context(), path, func(context.Context, *App, plugin.Status) error { return nil })
			if err != nil {
				return err
			}
			out := struct {
				OK       bool         `json:"ok"`
				Plugin   pluginRow    `json:"plugin"`
				Tools    []toolRow    `json:"tools"`
				Problems []problemRow `json:"problems"`
			}{s.State == plugin.Ready, newPluginRow(s), []toolRow{}, []problemRow{}}
			for _, t := range s.Tools {
				row := newToolRow(t, s)
				out.Tools = append(out.Tools, row)
				for _, w := range t.Warnings {
					out.Problems = append(out.Problems, problemRow{
						Kind: "warning", Message: t.Name + ": " + w, File: t.File, Line: t.Line,
					})
				}
			}
			for _, notice := range slices.Concat(s.Manifest.Notices, s.Notes) {
				out.Problems = append(out.Problems, problemRow{Kind: "notice", Message: notice})
			}
			if s.Problem != nil {
				out.Problems = append(out.Problems, *newProblemRow(s.Problem))
			}
			if c.json {
				if err := c.printJSON(out); err != nil {
					return err
				}
			} else {
				for _, row := range out.Tools {
					fmt.Fprintf(c.Out, "%-28s %s\n", row.Name, firstLine(row.Description))
				}
				if out.OK && len(out.Tools) == 0 {
					fmt.Fprintln(c.Err, "It loads, and offers no tools.")
				}
				for _, p := range out.Problems {
					fmt.Fprintf(c.Err, "%s%s\n", place(&p), p.Message)
					if p.Frame != "" {
						fmt.Fprintln(c.Err, p.Frame)
					}
					if p.Hint != "" {
						fmt.Fprintln(c.Err, p.Hint)
					}
				}
			}
			if !out.OK {
				return &exitError{ExitFailed}
			}
			return nil
		},
	}
}

func (c *command) pluginsTestCommand() *cobra.Command {
	var update bool
	cmd := &cobra.Command{
		Use: "test PATH|ID", Short: "Run the calls recorded in a plugin's tests folder, with no permission",
		Args: exactly("the path or the id of a plugin"),
	}
	cmd.Flags().BoolVar(&update, "update", false, "write what the calls answer now as what is expected")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := c.pathOfPlugin(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		var outcome []library.TestResult
		s, err := c.inThrowAway(cmd.Context(), path, func(ctx context.Context, app *App, s plugin.Status) error {
			var err error
			outcome, err = app.Library.Replay(ctx, s.ID, path, update)
			return err
		})
		if err != nil {
			return err
		}
		if s.State != plugin.Ready {
			return fault.New(fault.Invalid, "cli.plugins", "The plugin did not load: "+sentence(s.Problem.Error()),
				s.Problem.Hint)
		}
		failed := 0
		for _, r := range outcome {
			if !r.OK {
				failed++
			}
			if c.json {
				if err := writeJSON(c.Out, r); err != nil {
					return err
				}
				continue
			}
			mark := "ok  "
			if !r.OK {
				mark = "FAIL"
			}
			fmt.Fprintf(c.Out, "%s %s: %s\n", mark, r.File, r.Name)
			if !r.OK {
				fmt.Fprintf(c.Out, "     got  %s\n     want %s\n", r.Got, r.Want)
			}
		}
		if !c.json {
			fmt.Fprintf(c.Out, "%d passed, %d failed\n", len(outcome)-failed, failed)
		}
		if failed > 0 {
			return &exitError{ExitFailed}
		}
		return nil
	}
	return cmd
}

// pathOfPlugin returns where the plugin lies that a person named by its path or,
// where there is no such path, by its id.
func (c *command) pathOfPlugin(ctx context.Context, name string) (string, error) {
	path := c.Path(name)
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if name != filepath.Base(name) || filepath.Ext(name) != "" { // no id looks like that
		return "", fault.New(fault.NotFound, "cli.plugins", "There is no file "+path+".", "")
	}
	app, err := c.app(ctx, true, name)
	if err != nil {
		return "", err
	}
	defer app.Close()
	id, err := app.Host.Find(name)
	if err != nil {
		return "", err
	}
	s, err := app.Host.Status(id)
	if err != nil {
		return "", err
	}
	if _, err := os.Stat(s.Path); err != nil {
		return "", fault.Wrap(fault.Usage, "cli.plugins",
			"Nothing of "+id+" lies in the plugins folder that could be run apart.",
			"See what it offers with conclave plugins show "+id+", and try it with conclave tools call "+id+":TOOL.", err)
	}
	return s.Path, nil
}

// inThrowAway loads the plugin at path in a throw-away store, with no permission,
// and runs do while it is loaded. The status is that of the loaded plugin.
func (c *command) inThrowAway(ctx context.Context, path string,
	do func(context.Context, *App, plugin.Status) error,
) (plugin.Status, error) {
	app, err := c.open(ctx, Folders{Data: "", Plugins: "", NeedsPlugins: false})
	if err != nil {
		return plugin.Status{}, err
	}
	defer app.Close()
	fmt.Fprintln(c.Err,
		"This runs the plugin's code behind walls, with no permission and with storage that is thrown away afterwards.")
	id, err := app.Host.PreviewFile(ctx, path)
	if err != nil {
		return plugin.Status{}, err
	}
	s, err := app.Host.Status(id)
	if err != nil || s.State != plugin.Ready {
		return s, err
	}
	return s, do(ctx, app, s)
}
