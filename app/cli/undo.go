package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"conclave/app/limit"
	"conclave/app/undo"

	"github.com/spf13/cobra"
)

// undoCommands are those about the old versions of files that calls changed.
func (c activityCommands) undoCommands() []*cobra.Command {
	turn := func(use, short, long string, do func(context.Context, *undo.Keeper, string) (undo.Outcome, error),
	) *cobra.Command {
		return &cobra.Command{
			Use: use + " CALL", Short: short, Long: long, Args: exactly("CALL"),
			RunE: func(cmd *cobra.Command, args []string) error {
				app, err := c.app(cmd.Context(), Folders{})
				if err != nil {
					return err
				}
				defer app.Close()
				out, err := do(cmd.Context(), app.Undo, args[0])
				if err != nil {
					return err
				}
				if c.json {
					err = c.printJSON(map[string]any{
						"call": out.Set.Call.ID, "done": out.Done, "left": out.Left, "partial": out.Partial(),
					})
				} else {
					_, err = fmt.Fprintln(c.Out, strings.TrimSpace(oneLine(out.Sentence())+" "+out.Hint()))
				}
				if err == nil && out.Partial() {
					err = &exitError{ExitFailed}
				}
				return err
			},
		}
	}
	var empty bool
	kept := &cobra.Command{
		Use: "kept", Short: "List the old versions that are kept of files which calls changed, or remove them",
		Long: "List the old versions that are kept of files which calls changed in folders that their\n" +
			"plugins were given: for 30 days, and " + limit.Size(limit.UndoBytes.Value) + " in all. What changed while no\n" +
			"call ran is listed too, since a program of the plugin's may have changed it, or you.",
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			app, err := c.app(cmd.Context(), Folders{})
			if err != nil {
				return err
			}
			defer app.Close()
			if empty {
				if err := app.Undo.Empty(cmd.Context()); err != nil {
					return err
				}
			}
			return c.listKept(cmd.Context(), app)
		},
	}
	kept.Flags().BoolVar(&empty, "empty", false, "remove all of them, for good")
	return []*cobra.Command{
		turn("undo", "Put the files that a call changed back as they were before it",
			"Put the files that a call changed back as they were before it: CALL is its number in\n"+
				"conclave activity, or its name in conclave activity kept, where several calls have that\n"+
				"number. A file that was changed since is left as it is; undo the later call first.\n"+
				"Where a full disk or a folder that is away keeps a part from being put back, the status\n"+
				"is 1, and the same command goes on with the rest; conclave activity redo takes it back.",
			func(ctx context.Context, k *undo.Keeper, id string) (undo.Outcome, error) { return k.Undo(ctx, id) }),
		turn("redo", "Take an undo back", "Make the files that a call changed again what the call made of them.",
			func(ctx context.Context, k *undo.Keeper, id string) (undo.Outcome, error) { return k.Redo(ctx, id) }),
		kept,
	}
}

func (c activityCommands) listKept(ctx context.Context, app *App) error {
	usage, err := app.Undo.Usage(ctx)
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(map[string]any{
			"changes": append([]undo.Set{}, usage.Sets...), "old_bytes": usage.Old, "present_bytes": usage.Now,
		})
	}
	table := newTable("CALL", "TIME", "PLUGIN", "STATE", "CHANGED")
	for _, set := range usage.Sets {
		plugin := set.Call.Plugin
		if set.Call.ID == 0 {
			plugin = "-"
		}
		table.add(set.ID, set.Time.Local().Format("2006-01-02 15:04:05"), oneLine(plugin), stateOfSet(set), changedIn(set))
	}
	if err := table.print(c.terminal, "No old version of a file is kept."); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "Old versions: %s. Copies of folders as they are, from which old versions come: %s.\n",
		limit.Size(usage.Old), limit.Size(usage.Now))
	return err
}

func stateOfSet(s undo.Set) string {
	switch {
	case s.Turning:
		return "undone in part"
	case !s.Undone.IsZero():
		return "undone"
	case s.Call.ID == 0:
		return "between calls"
	case s.Interrupted:
		return "interrupted"
	case s.Shared:
		return "with others"
	}
	return "-"
}

// changedIn names the files of a set, those that cannot be put back with the reason.
func changedIn(s undo.Set) string {
	var all []string
	for _, change := range s.Shown() {
		line := change.What() + " " + filepath.ToSlash(change.Path())
		if why := change.NotKept(); why != "" {
			line += " (not kept: " + why + ")"
		}
		all = append(all, oneLine(line))
	}
	return strings.Join(all, ", ")
}
