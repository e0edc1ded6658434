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
	"conclave/app/base/language"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/tool"
	"conclave/app/view"
)

func (c pluginCommands) list(_ context.Context, app *App, _ []string) error {
	if f := app.Host.Folder.Problem(); f != nil {
		return f
	}
	plugins := app.Host.List()
	rows := view.Map(plugins, app.plugin)
	if c.json {
		return c.printJSON(rows)
	}
	table := newTable("PLUGIN", "STATE", "TOOLS", "DIALECT", "")
	for i, row := range rows {
		note := ""
		switch {
		case row.Problem != nil:
			note = row.Problem.Place() + c.said(row.Problem.Message)
		case row.State == plugin.Quarantined && plugins[i].Serving:
			note = c.said("New version waits; " + versionUsed(plugins[i]))
		case row.State == plugin.Quarantined && !codeChanged(plugins[i]):
			note = c.said("It lists other tools than you approved")
		case row.State == plugin.Quarantined:
			note = c.said("It changed since it was approved")
		}
		if row.Problem != nil && row.LastGood {
			note += "; " + c.said(versionUsed(plugins[i]))
		}
		if note == "" {
			note = c.said(whyNoTools(plugins[i]))
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
		tools := view.NewTools(s, app.Tools.Set(), app.Gate.AboutTool, true)
		return c.printJSON(struct {
			view.PluginDetail
			Manifest plugin.Manifest `json:"manifest"`
		}{view.NewPluginDetail(s, app.plugin(s), tools, app.Host.Files(s.ID)), s.Manifest})
	}
	c.describe(app, s)
	return nil
}

// plugin returns the view of a plugin.
func (a *App) plugin(s plugin.Status) view.Plugin { return view.NewPlugin(s, a.Gate.About(s.ID)) }

// indented puts two spaces before each line.
func indented(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("  " + strings.TrimRight(line, "\n") + "\n")
	}
	return b.String()
}

// isolationLine returns how a plugin is isolated, and what a person should know about that.
func isolationLine(p view.Plugin) string {
	if note := strings.TrimSpace(p.IsolationNote + " " + p.FoundNote); note != "" {
		return p.Isolation + " — " + note
	}
	return p.Isolation
}

// describe prints what a person should know of a plugin before they trust it.
func (c pluginCommands) describe(app *App, s plugin.Status) {
	w, p := c.Out, language.ShownIn(c.reads(), app.plugin(s))
	head := p.Name
	if p.Version != "" {
		head += "  " + p.Version
	}
	if p.Dialect != "" { // empty if its files could not be read
		head += "  (" + p.Dialect + ")"
	}
	fmt.Fprintln(w, head)
	if about := strings.TrimRight(p.Description, "\n"); strings.Contains(about, "\n") {
		fmt.Fprintln(w, strings.TrimRight(indented(about), "\n")) // its lines are not taken for those below
	} else if about != "" {
		fmt.Fprintln(w, about)
	}
	fmt.Fprintln(w)
	c.fact(w, "folder", "%s", plainPath(p.Path))
	c.fact(w, "state", "%s", p.State)
	c.fact(w, "isolation", "%s", isolationLine(p))
	if p.Problem != nil {
		c.fact(w, "problem", "%s%s", p.Problem.Place(), c.said(p.Problem.Message))
		if p.Problem.Frame != "" {
			fmt.Fprintln(w, p.Problem.Frame)
		}
		if p.Problem.Hint != "" {
			fmt.Fprintf(w, "             %s\n", c.toType(c.said(p.Problem.Hint)))
		}
	}
	for _, fact := range p.About {
		fmt.Fprintf(w, "%-12s %s\n", strings.ToLower(fact.Name), oneLine(fact.Text))
	}
	for _, note := range p.Warnings {
		c.fact(w, "note", "%s", c.said(note))
	}
	if s.ToolsDenied {
		c.fact(w, "note", "%s", c.said(fault.Of(notServing(s)).Message))
	}
	c.describeRights(w, p)
	c.fact(w, "parallel", "%s", c.said("up to "+parallelWords(s)))
	if len(s.Imports) > 0 {
		c.fact(w, "imports", "%s", strings.Join(s.Imports, ", "))
	}
	printChanges(w, s.Changes)
	if s.OnlyWords {
		c.fact(w, "note", "%s", c.said("Only what models read has changed. To have them get the words that you approved: "+
			"conclave plugins trust "+s.ID+" --keep-words"))
	}
	c.describeTools(w, s)
}

// describeRights prints the permissions of a plugin.
func (c pluginCommands) describeRights(w io.Writer, p view.Plugin) {
	names := p.Permissions
	if len(names.Asked) > 0 {
		c.fact(w, "asks for", "%s", strings.Join(names.Asked, ", "))
	}
	if len(names.Asked) > 0 || len(names.Granted) > 0 {
		c.fact(w, "granted", "%s", strings.Join(names.Granted, ", "))
	}
	for _, f := range p.Folders {
		c.fact(w, "may", "%s", f.Sentence())
	}
	for _, rule := range p.Hosts {
		c.fact(w, "hosts", "%s", rule)
	}
	for _, rule := range p.Ports {
		c.fact(w, "ports", "%s", rule)
	}
	for _, path := range p.Programs {
		c.fact(w, "programs", "%s", c.said("may start "+path))
	}
	for _, r := range p.Refused {
		c.fact(w, "refused", "%s", c.said(r.Permission+"; to allow it: "+r.Command))
	}
}

// describeTools prints the tools of a plugin: every word of them where they wait for approval.
func (c pluginCommands) describeTools(w io.Writer, s plugin.Status) {
	fmt.Fprintln(w, "\n"+c.label("tools"))
	for _, t := range s.Tools {
		fmt.Fprintf(w, "  %-28s %s\n", t.Name, firstLine(t.Description))
		if waits(s) {
			fmt.Fprint(w, indented(indented(restOf(gate.ToolText(t)))))
		}
	}
	switch {
	case len(s.Tools) > 0:
	case s.Listed || s.Serving:
		fmt.Fprintln(w, "  "+c.said("none"))
	default:
		fmt.Fprintln(w, "  "+c.said("none known; it shows its tools once it runs"))
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
