package terminal

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"conclave/app/base/settings"
	"conclave/app/gate"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// printMatrix prints what each plugin may do, by capability and by who calls.
func (c permissionCommands) printMatrix(app *App) error {
	rows, _ := view.NewMatrix(app.Gate.Decisions.Matrix())
	table := newTable("PLUGIN", "CAN", "FOR YOUR MODEL", "FOR THE COUNCIL", "LAST USED")
	for _, r := range rows {
		addMatrixRow(table, r)
	}
	return c.printTable(rows, table, "There are no plugins.")
}

// addMatrixRow adds the lines of a plugin to a table: one for each capability, the first with its name.
func addMatrixRow(t *table, r view.MatrixRow) {
	used := "never"
	if !r.LastUsed.IsZero() {
		used = r.LastUsed.Local().Format(time.DateOnly)
	}
	if r.Unused {
		used += ", so it asks again"
	}
	if r.State != "" || len(r.Capabilities) == 0 { // none of its tools run
		t.add(r.Plugin, strings.ToLower(cmp.Or(r.StateWords, "nothing")), "", "", used)
		return
	}
	name := r.Plugin
	if r.Waits {
		name += " (new version waits)"
	}
	for _, cell := range r.Capabilities {
		t.add(name, cell.Capability, strings.ToLower(cell.MainWords), strings.ToLower(cell.CouncilWords), used)
		name, used = "", ""
	}
}

func (c permissionCommands) modeCommand() *cobra.Command {
	return c.withPlugins("mode [careful|standard]", "Show or set which calls ask you when no rule decides",
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && modeWords(args[0]) != "" {
				return nil
			}
			return usageOf(cmd, "the mode is careful or standard")
		},
		func(ctx context.Context, app *App, args []string) error {
			if len(args) == 1 {
				if _, err := app.Settings.ChangeSettings(ctx,
					func(s *settings.Settings) { s.Mode = args[0] }); err != nil {
					return err
				}
			}
			set, err := app.Settings.Settings(ctx)
			if err != nil {
				return err
			}
			return c.result(map[string]string{"mode": set.Mode}, "%s", modeWords(set.Mode))
		})
}

// modeWords returns a mode with what it asks about; "" if there is no such mode.
func modeWords(name string) string {
	for _, m := range view.Modes() {
		if string(m.Mode) == name {
			return name + ": " + strings.ToLower(m.Sentence[:1]) + m.Sentence[1:]
		}
	}
	return ""
}

// maxTrialLines bounds the calls that a person is shown.
const maxTrialLines = 20

// try prints how a rule or a mode would have decided last week's calls, without setting it.
func (c permissionCommands) try(ctx context.Context, app *App, trial gate.Trial) error {
	past, err := gate.PastCalls(ctx, app.Activity, time.Now(), app.Tools.Set().ByID)
	if err != nil {
		return err
	}
	got, err := app.Gate.Decisions.Try(trial, past)
	if err != nil {
		return asUsage(err)
	}
	v := view.NewTrial(got, 0, app.words)
	if c.json {
		return c.printJSON(v)
	}
	if _, err := fmt.Fprintln(c.Out, v.Sentence); err != nil {
		return err
	}
	changed := v.Changed
	if len(changed) == 0 {
		return nil
	}
	table := newTable("CALL", "TIME", "TOOL", "NOW", "THEN", "WHY")
	for _, t := range changed[:min(len(changed), maxTrialLines)] {
		table.add(fmt.Sprint(t.Call), t.Time.Minute(), t.Tool, effectWords[t.Before],
			effectWords[t.After], t.Why)
	}
	if err := table.print(c.terminal, ""); err != nil || len(changed) <= maxTrialLines {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "and %d more\n", len(changed)-maxTrialLines)
	return err
}

var effectWords = map[gate.Effect]string{gate.Allow: "runs", gate.Ask: "asks", gate.Deny: "refused"}

// ruleWords returns the sentence of a rule, and why it does not apply as it says.
func ruleWords(r view.Rule) string {
	sentence := strings.TrimSuffix(r.Sentence, ".")
	switch {
	case r.Unreadable && r.Effect == gate.Allow:
		return sentence + " (it cannot be read, so it allows nothing)"
	case r.Unreadable:
		return sentence + " (its conditions cannot be read, so it always applies)"
	case r.Unused:
		return sentence + " (not used for 90 days, so it asks again)"
	}
	return sentence
}
