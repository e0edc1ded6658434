package terminal

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"conclave/app/base/limit"
	"conclave/app/record/undo"

	"github.com/spf13/cobra"
)

// undoCommands undo and redo the changes of calls, and list the old versions for that.
func (c activityCommands) undoCommands() []*cobra.Command {
	undoCmd := c.withStore("undo CALL", "Restore the files that a call changed to what they were before it",
		exactly("CALL"),
		func(ctx context.Context, app *App, args []string) error {
			return c.printUndo(app.Undo.Undo(ctx, args[0]))
		})
	undoCmd.Long = "Restore the files that a call changed to what they were before it. CALL is its number in\n" +
		"conclave activity, or its name in conclave activity kept, where several calls have that\n" +
		"number. A file that was changed since then is left as it is; undo the later call first.\n" +
		"If a full disk or a missing folder prevents a part of it, the status is 1, and the same\n" +
		"command continues with the rest. conclave activity redo reverses it."
	redo := c.withStore("redo CALL", "Reverse an undo", exactly("CALL"),
		func(ctx context.Context, app *App, args []string) error {
			return c.printUndo(app.Undo.Redo(ctx, args[0]))
		})
	redo.Long = "Restore the files that a call changed to what the call made of them."
	var empty bool
	kept := c.withStore("kept", "List or remove the old versions of files that calls changed",
		noArguments, func(ctx context.Context, app *App, _ []string) error {
			if empty {
				if err := app.Undo.Empty(ctx); err != nil {
					return err
				}
			}
			return c.listKept(ctx, app)
		})
	kept.Long = "List the old versions of files that calls changed in folders that you granted to their\n" +
		"plugins. Conclave stores them for 30 days, at most " + limit.Size(limit.UndoBytes) + " in all.\n" +
		"Changes between calls are listed too: a program of the plugin or you may have made them."
	kept.Flags().BoolVar(&empty, "empty", false, "remove all of them permanently")
	return []*cobra.Command{undoCmd, redo, kept}
}

// printUndo prints the outcome of an undo or a redo. One that is not complete exits 1.
func (c activityCommands) printUndo(out undo.Outcome, err error) error {
	if err != nil {
		return err
	}
	err = c.result(map[string]any{
		"call": out.Set.Call.ID, "done": out.Done, "left": out.Left, "partial": out.Partial(),
	}, "%s", strings.TrimSpace(oneLine(out.Sentence())+" "+out.Hint()))
	if err == nil && out.Partial() {
		err = &exitError{ExitFailed}
	}
	return err
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
		table.add(set.ID, set.Time.Local().Format("2006-01-02 15:04:05"), oneLine(plugin), stateOfSet(set),
			changedIn(set))
	}
	if err := table.print(c.terminal, "There are no old versions of files."); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.Out,
		"Old versions: %s. Copies of the current folders, from which old versions are made: %s.\n",
		limit.Size(usage.Old), limit.Size(usage.Now))
	return err
}

func stateOfSet(s undo.Set) string {
	switch {
	case s.Unfinished:
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

// changedIn lists the files of a set, with the reason for those that cannot be restored.
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
