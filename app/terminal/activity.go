package terminal

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/base/place"
	"conclave/app/chat"
	"conclave/app/record/activity"

	"github.com/spf13/cobra"
)

// activityCommands show the records of what tools did, and undo it.
type activityCommands struct{ *terminal }

func (c activityCommands) activityCommand() *cobra.Command {
	var f activity.Filter
	var conversation, export string
	var verify bool
	cmd := c.withStore("activity", "Show what tools did and why they were allowed to; verify and export that record",
		noArguments, func(ctx context.Context, app *App, _ []string) error {
			f.Chat = chat.ConversationID(conversation)
			switch {
			case verify:
				return c.verify(ctx, app)
			case export != "":
				return c.export(ctx, app, f, export)
			}
			return c.list(ctx, app, f)
		})
	cmd.Long = "Show the record of activity: every finished tool call, who made it, who decided about it and\n" +
		"its outcome; and every command, folder and host that a plugin was allowed or refused.\n" +
		"Its entries are chained by their digests, so --verify finds entries that were changed,\n" +
		"removed or added outside Conclave."
	cmd.Flags().IntVarP(&f.Limit, "lines", "n", 100, "only the newest N; 0 is all")
	cmd.Flags().StringVar(&conversation, "chat", "", "only calls of this chat")
	cmd.Flags().StringVar(&f.Plugin, "plugin", "", "only calls of this plugin's tools")
	cmd.Flags().StringVar(&export, "export", "", "write all of them to FILE as JSON Lines; - is standard output")
	cmd.Flags().BoolVar(&verify, "verify", false, "check the whole record, and name the first broken link")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		switch {
		case f.Limit < 0:
			return usageError("-n takes a number that is not negative")
		case verify && export != "":
			return usageError("--verify and --export exclude each other")
		}
		return nil
	}
	cmd.AddCommand(c.undoCommands()...)
	return cmd
}

func (c activityCommands) verify(ctx context.Context, app *App) error {
	report, err := app.Activity.VerifyActivity(ctx)
	if err != nil {
		return err
	}
	if c.json {
		err = c.printJSON(report)
	} else if report.OK {
		_, err = fmt.Fprintln(c.Out, report.Sentence())
	}
	if err != nil || report.OK {
		return err
	}
	return fault.New(fault.Damaged, "cli.activity", report.Sentence(),
		"Find out who can write to "+app.Data+"; a backup in its folder backups may have the whole record.")
}

func (c activityCommands) export(ctx context.Context, app *App, f activity.Filter, name string) error {
	if name == "-" {
		_, err := activity.Export(ctx, app.Activity, f, c.Out)
		return err
	}
	n := 0
	path := c.Path(name)
	size, err := place.WriteNew("cli.activity", path, name, func(w *os.File) (err error) {
		n, err = activity.Export(ctx, app.Activity, f, w)
		return err
	})
	if err != nil {
		return err
	}
	return c.result(map[string]any{"file": path, "size": size, "entries": n}, "Wrote %d entries to %s.", n, path)
}

func (c activityCommands) list(ctx context.Context, app *App, f activity.Filter) error {
	rows, err := app.Activity.Activity(ctx, f)
	if err != nil {
		return err
	}
	slices.Reverse(rows)
	if c.json {
		return c.printJSON(rows)
	}
	table := newTable("ENTRY", "TIME", "WHO", "CALL", "TOOL", "DECISION", "OUTCOME", "SENT")
	for _, row := range rows {
		e, d, err := row.Read()
		if err != nil {
			table.add("?", "", "", "", "", "", "", "it cannot be read, see conclave activity --verify")
			continue
		}
		n, at := strconv.FormatUint(e.N, 10), e.Time.Local().Format("2006-01-02 15:04:05")
		switch e.Kind {
		case activity.Called:
		case activity.Used, activity.Sent:
			table.add(n, at, e.Caller, "", "", decisionOf(e), "", oneLine(activity.UsedWords(e, d)))
			continue
		default:
			table.add(n, at, cmp.Or(e.Caller, "Conclave"), "", "", "", "", oneLine(activity.Event(e, d)))
			continue
		}
		table.add(n, at, e.Caller, strconv.FormatUint(e.Call, 10), oneLine(e.Tool), decisionOf(e), outcomeOf(e),
			sentOf(e))
	}
	return table.print(c.terminal, "No tool calls are recorded.")
}

func decisionOf(e activity.Entry) string {
	if e.Effect == "" {
		return "-"
	}
	return oneLine(e.Effect + ", " + e.By)
}

// outcomeOf returns how a call ended and how many files it changed.
func outcomeOf(e activity.Entry) string {
	if e.Changed == 0 {
		return string(e.Outcome)
	}
	return string(e.Outcome) + ", changed " + limit.Counted(e.Changed, "file")
}

// sentOf lists how much a call sent to whom.
func sentOf(e activity.Entry) string {
	var all []string
	for _, s := range e.Sent {
		all = append(all, activity.SentTo(s))
	}
	return strings.Join(all, ", ")
}
