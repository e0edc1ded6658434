package terminal

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"conclave/app/base/settings"
	"conclave/app/gate"

	"github.com/spf13/cobra"
)

// accessWords are the decisions about calls, in the table of all plugins.
var accessWords = map[gate.Access]string{
	gate.Allowed: "runs", gate.Asked: "asks", gate.Refuses: "refused", gate.Sometimes: "depends",
}

// matrixCell is one cell of the table as JSON.
type matrixCell struct {
	Capability string      `json:"capability"`
	Tools      int         `json:"tools"`
	Main       gate.Access `json:"main"`
	Council    gate.Access `json:"council"`
}

// matrixRow is one row of the table as JSON.
type matrixRow struct {
	Plugin       string        `json:"plugin"`
	Name         string        `json:"name"`
	State        gate.Standing `json:"state,omitempty"`
	Capabilities []matrixCell  `json:"capabilities"`
	LastUsed     time.Time     `json:"last_used,omitzero"`
	Unused       bool          `json:"unused,omitempty"`
	Waits        bool          `json:"waits,omitempty"` // a newer version waits; the row is about the one that serves
}

// anything is the capability of a plugin without a sandbox.
const anything = "anything you can"

// printMatrix prints what each plugin may do, by capability and by who calls.
func (c permissionCommands) printMatrix(app *App) error {
	rows := []matrixRow{}
	table := newTable("PLUGIN", "CAN", "FOR YOUR MODEL", "FOR THE COUNCIL", "LAST USED")
	for _, r := range app.Gate.Decisions.Matrix() {
		row := matrixRow{r.Plugin, r.Name, r.State, []matrixCell{}, r.LastUsed, r.Unused, r.Waits}
		if r.All != nil {
			row.Capabilities = append(row.Capabilities, matrixCell{anything, r.All.Tools, r.All.Main, r.All.Council})
		} else {
			for _, cell := range r.Cells {
				row.Capabilities = append(row.Capabilities,
					matrixCell{cell.Capability.Label(), cell.Tools, cell.Main, cell.Council})
			}
		}
		rows = append(rows, row)
		row.addTo(table)
	}
	return c.printTable(rows, table, "There are no plugins.")
}

// addTo adds the row's lines to a table: one for each capability, the first with the plugin's name.
func (r matrixRow) addTo(t *table) {
	used := "never"
	if !r.LastUsed.IsZero() {
		used = r.LastUsed.Local().Format(time.DateOnly)
	}
	if r.Unused {
		used += ", so it asks again"
	}
	if r.State != "" || len(r.Capabilities) == 0 { // none of its tools run
		t.add(r.Plugin, stateWords[r.State], "", "", used)
		return
	}
	name := r.Plugin
	if r.Waits {
		name += " (new version waits)"
	}
	for _, cell := range r.Capabilities {
		t.add(name, cell.Capability, accessWords[cell.Main], accessWords[cell.Council], used)
		name, used = "", ""
	}
}

// stateWords are the reasons why a plugin can do nothing.
var stateWords = map[gate.Standing]string{
	gate.Serves: "nothing", gate.NewPlugin: "waits for your approval", gate.OffPlugin: "turned off",
	gate.ChangedPlugin: "changed, and waits for your approval", gate.GonePlugin: "no longer there",
}

func (c permissionCommands) modeCommand() *cobra.Command {
	cmd := c.withPlugins("mode [careful|standard]", "Show or set which calls ask you when no rule decides",
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 || len(args) == 1 && isMode(args[0]) {
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
			return c.result(map[string]string{"mode": set.Mode}, "%s", modeWords[gate.Mode(set.Mode)])
		})
	return cmd
}

func isMode(name string) bool { return modeWords[gate.Mode(name)] != "" }

var modeWords = map[gate.Mode]string{
	gate.Careful: "careful: a tool asks before everything that goes beyond its own files.",
	gate.Standard: "standard: a tool asks before it reads or changes something of yours, or sends something " +
		"from this computer.",
}

// trialChange is one call that would have been decided differently, as JSON.
type trialChange struct {
	Call   uint64      `json:"call"`
	Time   time.Time   `json:"time"`
	Tool   string      `json:"tool"`
	Caller gate.Caller `json:"caller"`
	Before gate.Effect `json:"before"`
	After  gate.Effect `json:"after"`
	Why    string      `json:"why"`
}

// trialRow is the outcome of a trial as JSON.
type trialRow struct {
	Calls    int           `json:"calls"`
	Unknown  int           `json:"unknown,omitempty"` // that could not be tried
	Before   gate.Outcome  `json:"before"`
	After    gate.Outcome  `json:"after"`
	Changed  []trialChange `json:"changed"`
	Sentence string        `json:"sentence"`
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
	changed := []trialChange{}
	for _, t := range got.Changed {
		changed = append(changed, trialChange{
			t.Entry.Call, t.Entry.Time, t.Entry.Tool, t.Call.Caller, t.Before.Effect, t.After.Effect, t.After.Why,
		})
	}
	if c.json {
		return c.printJSON(trialRow{got.Calls, got.Unknown, got.Before, got.After, changed, got.Sentence()})
	}
	if _, err := fmt.Fprintln(c.Out, got.Sentence()); err != nil {
		return err
	}
	if len(changed) == 0 {
		return nil
	}
	table := newTable("CALL", "TIME", "TOOL", "NOW", "THEN", "WHY")
	for _, t := range changed[:min(len(changed), maxTrialLines)] {
		table.add(fmt.Sprint(t.Call), t.Time.Local().Format("2006-01-02 15:04"), t.Tool, effectWords[t.Before],
			effectWords[t.After], t.Why)
	}
	if err := table.print(c.terminal, ""); err != nil || len(changed) <= maxTrialLines {
		return err
	}
	_, err = fmt.Fprintf(c.Out, "and %d more\n", len(changed)-maxTrialLines)
	return err
}

var effectWords = map[gate.Effect]string{gate.Allow: "runs", gate.Ask: "asks", gate.Deny: "refused"}

// listedRule is a rule as JSON, with its sentence.
type listedRule struct {
	gate.Rule
	Sentence string `json:"sentence"`
	Unused   bool   `json:"unused,omitempty"` // for 90 days, so that it asks again
	// by this version: a rule that allows then allows nothing, others apply to every call
	Unreadable bool `json:"unreadable,omitempty"`
}

func listed(r gate.Rule, plugin string, now time.Time) listedRule {
	return listedRule{r, gate.Sentence(r, plugin), r.Unused(now), r.Unreadable()}
}

// words returns the rule's sentence, and why it does not apply as it says.
func (r listedRule) words() string {
	switch {
	case r.Unreadable && r.Effect == gate.Allow:
		return r.Sentence + " (it cannot be read, so it allows nothing)"
	case r.Unreadable:
		return r.Sentence + " (its conditions cannot be read, so it always applies)"
	case r.Unused:
		return r.Sentence + " (not used for 90 days, so it asks again)"
	}
	return r.Sentence
}

// MarshalJSON implements json.Marshaler: the callers are a list, also where there are none.
func (r listedRule) MarshalJSON() ([]byte, error) {
	if r.Callers == nil {
		r.Callers = []gate.Caller{}
	}
	type plain listedRule
	return json.Marshal(plain(r))
}
