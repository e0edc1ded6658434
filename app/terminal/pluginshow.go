package terminal

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
)

func (c pluginCommands) list(_ context.Context, app *App, _ []string) error {
	if f := app.Host.Folder.Problem(); f != nil {
		return f
	}
	rows, empty := []pluginRow{}, map[string]string{}
	plugins := app.Host.List()
	for _, s := range plugins {
		rows = append(rows, newPluginRow(s))
		empty[s.ID] = whyNoTools(s)
	}
	if c.json {
		return c.printJSON(rows)
	}
	table := newTable("PLUGIN", "STATE", "TOOLS", "DIALECT", "")
	for i, row := range rows {
		note := ""
		switch {
		case row.Problem != nil:
			note = place(row.Problem) + row.Problem.Message
		case row.State == plugin.Quarantined && plugins[i].Serving:
			note = "New version waits; " + versionUsed(plugins[i])
		case row.State == plugin.Quarantined && !codeChanged(plugins[i]):
			note = "It lists other tools than you approved"
		case row.State == plugin.Quarantined:
			note = "It changed since it was approved"
		}
		if row.Problem != nil && row.LastGood {
			note += "; " + versionUsed(plugins[i])
		}
		if note == "" {
			note = empty[row.ID]
		}
		table.add(row.ID, string(row.State), fmt.Sprint(len(row.Tools)), row.Dialect, oneLine(note))
	}
	for _, link := range app.Host.Folder.LinksOut() {
		fmt.Fprintln(c.Err, "conclave: "+oneLine(link.Sentence()+". "+c.toType(link.Hint())))
	}
	return table.print(c.terminal,
		"There are no plugins. Put a .py or .js file into "+app.Plugins+", or make one with conclave plugins new "+
			"python NAME.")
}

// versionUsed returns which version of a plugin serves while its newest does not.
func versionUsed(s plugin.Status) string {
	at := s.Loaded.Local()
	if at.Format(time.DateOnly) == time.Now().Format(time.DateOnly) {
		return "version of " + at.Format("15:04") + " is used"
	}
	return "version of " + at.Format("2006-01-02 15:04") + " is used"
}

// whyNoTools returns why a plugin that is ready offers no tools, if its notes say so.
func whyNoTools(s plugin.Status) string {
	offered := slices.ContainsFunc(s.Tools, func(t tool.Tool) bool {
		return t.Visibility != tool.Hidden || t.CouncilEligible
	})
	if s.State != plugin.Ready || offered || len(s.Notes) == 0 {
		return ""
	}
	return oneLine(s.Notes[0])
}

func (c pluginCommands) show(ctx context.Context, app *App, args []string) error {
	if c.json { // the names that models get for the tools depend on all plugins
		if err := app.Host.WaitIdle(ctx); err != nil {
			return err
		}
	}
	s, err := findPlugin(app, args[0])
	if err != nil {
		return err
	}
	if c.json {
		s.Notes = slices.Concat(s.Notes, app.Gate.Approvals.Shadowing(s.ID))
	}
	detail := struct {
		pluginRow
		Manifest plugin.Manifest `json:"manifest"`
		Imports  []string        `json:"imports"`
		Details  []toolRow       `json:"tool_details"`
		Changes  []gate.Change   `json:"changes,omitempty"`
		Digest   string          `json:"digest"`
		Shown    string          `json:"shown,omitempty"` // of the version that waits, for plugins trust --shown
		Health   health          `json:"health"`
	}{
		newPluginRow(s), s.Manifest, orEmpty(s.Imports),
		[]toolRow{},
		s.Changes, s.Digest, s.Shown,
		health{s.Running, s.Calls, s.Errors, s.Usage.Memory, milliseconds(s.Usage.CPU)},
	}
	for _, row := range toolRows(app) {
		if row.Plugin == s.ID {
			detail.Details = append(detail.Details, row)
		}
	}
	if c.json {
		return c.printJSON(detail)
	}
	c.describe(app, s)
	return nil
}

// indented puts two spaces before each line.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

type health struct {
	Running bool    `json:"running"`
	Calls   uint64  `json:"calls"`
	Errors  uint64  `json:"errors"`
	Memory  int64   `json:"memory_bytes"`
	CPUMS   float64 `json:"cpu_ms"`
}

// isolationLine returns how a plugin is isolated, and what a person should know about that.
func isolationLine(s plugin.Status) string {
	if note := strings.TrimSpace(s.IsolationNote() + " " + s.FoundNote()); note != "" {
		return s.Isolation.Level + " — " + note
	}
	return s.Isolation.Level
}

// describe prints what a person should know of a plugin before they trust it.
func (c pluginCommands) describe(app *App, s plugin.Status) {
	w := c.Out
	fmt.Fprintf(w, "%s  %s  (%s)\n", s.Manifest.Name, s.Manifest.Version, s.Manifest.Dialect)
	if about := strings.TrimRight(s.Manifest.Description, "\n"); strings.Contains(about, "\n") {
		fmt.Fprintln(w, strings.TrimRight(indented(about), "\n")) // its lines are not taken for those below
	} else if about != "" {
		fmt.Fprintln(w, about)
	}
	fmt.Fprintf(w, "\nfolder       %s\nstate        %s\nisolation    %s\n", plainPath(s.Path), s.State,
		isolationLine(s))
	if s.Problem != nil {
		row := newProblemRow(s.Problem)
		fmt.Fprintf(w, "problem      %s%s\n", place(row), row.Message)
		if row.Frame != "" {
			fmt.Fprintln(w, row.Frame)
		}
		if row.Hint != "" {
			fmt.Fprintf(w, "             %s\n", c.toType(row.Hint))
		}
	}
	notes := slices.Concat(s.Manifest.Notices, s.Notes, app.Gate.Approvals.Shadowing(s.ID))
	if disclosure := s.Disclosure(); disclosure != "" {
		notes = append(notes, disclosure)
	}
	if s.ToolsDenied {
		notes = append(notes, fault.Of(notServing(s)).Message)
	}
	for _, note := range notes {
		fmt.Fprintf(w, "note         %s\n", note)
	}
	describeRights(w, s)
	if len(s.Imports) > 0 {
		fmt.Fprintf(w, "imports      %s\n", strings.Join(s.Imports, ", "))
	}
	printChanges(w, s.Changes)
	describeTools(w, s)
}

// describeRights prints the permissions of a plugin.
func describeRights(w io.Writer, s plugin.Status) {
	if len(s.Manifest.Permissions) > 0 {
		fmt.Fprintf(w, "asks for     %s\n", strings.Join(s.Manifest.Permissions, ", "))
	}
	if len(s.Manifest.Permissions) > 0 || len(s.Granted) > 0 {
		fmt.Fprintf(w, "granted      %s\n", strings.Join(s.Granted, ", "))
	}
	for _, f := range s.Folders {
		fmt.Fprintf(w, "may          %s\n", f.Sentence())
	}
	for _, rule := range s.Hosts {
		fmt.Fprintf(w, "hosts        %s\n", rule)
	}
	for _, rule := range s.Ports {
		fmt.Fprintf(w, "ports        %s\n", rule)
	}
	for _, path := range s.Programs {
		fmt.Fprintf(w, "programs     may start %s\n", path)
	}
	for _, r := range s.Refused {
		fmt.Fprintf(w, "refused      %s; to allow it: %s\n", r.Permission, r.Command(s.ID))
	}
}

// describeTools prints the tools of a plugin: every word of them where they wait for approval.
func describeTools(w io.Writer, s plugin.Status) {
	fmt.Fprintln(w, "\ntools")
	for _, t := range s.Tools {
		fmt.Fprintf(w, "  %-28s %s\n", t.Name, firstLine(t.Description))
		if waits(s) {
			fmt.Fprint(w, indented(indented(restOf(gate.ToolText(t)))))
		}
	}
	switch {
	case len(s.Tools) > 0:
	case s.Listed || s.Serving:
		fmt.Fprintln(w, "  none")
	default:
		fmt.Fprintln(w, "  none known; it shows its tools once it runs")
	}
}

// printChanges prints the differences between the approved version and the one that waits.
func printChanges(w io.Writer, changes []gate.Change) {
	for _, change := range changes {
		if change.Diff != "" {
			fmt.Fprintf(w, "changed      %s, since you approved it\n%s", change.Field, indented(change.Diff))
			continue
		}
		fmt.Fprintf(w, "changed      %s %s\n  before: %s\n  now:    %s\n", change.Tool, change.Field,
			oneLine(change.Before),
			oneLine(change.After))
	}
}

// restOf returns a text without its first line.
func restOf(text string) string {
	_, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return strings.TrimSpace(rest)
}

// plainPath returns a path that can be read: with hidden characters or line ends it is quoted.
func plainPath(path string) string {
	if clean, _ := tool.Strip(path); clean != path || strings.ContainsAny(path, "\n\r\t") {
		return strconv.QuoteToASCII(path)
	}
	return path
}
