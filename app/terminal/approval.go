package terminal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/gate"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/view"

	"github.com/spf13/cobra"
)

// approval asks about the plugins that wait for approval. With --approve always, those that the
// command names are approved for as long as it runs, and no others.
type approval struct {
	err   io.Writer // for the lines about what was approved
	app   *App
	asker gate.Asker
	names []string // of tools, plugins and toolboxes, in the command
	only  []string // ids of the plugins it needs; none: all
	chat  bool     // wait for plugins whose tools a chat may be offered, not for many new ones
	ends  []func()

	follows  bool // also approve changes of those plugins
	approved map[string]approvedRun
}

// approvedRun is the version of a plugin that was approved last for the run of a command.
type approvedRun struct {
	code        string   // the digest of its files
	permissions []string // that its first version asked for
}

// newApproval returns an approval that asks asker, about the plugins of these names where it is
// AlwaysAsker.
func newApproval(err io.Writer, app *App, asker gate.Asker, names []string) *approval {
	return &approval{err: err, app: app, asker: asker, names: names, approved: map[string]approvedRun{}}
}

// end revokes what was approved for the command alone.
func (a *approval) end() {
	for _, end := range a.ends {
		end()
	}
	a.ends = nil
}

// plugins asks about each plugin that waits for approval, and waits until those that were approved
// have loaded.
func (a *approval) plugins(ctx context.Context) error {
	if err := a.loaded(ctx); err != nil {
		return err
	}
	_, always := a.asker.(gate.AlwaysAsker)
	all := a.app.Host.List()
	crowd := a.chat && len(newPlugins(a.app, all)) >= manyNew // printWaiting mentions them
	// A version may wait twice: before it runs, and when its tools are known.
	for range 3 {
		approved := false
		for _, s := range all {
			if !waits(s) || crowd && s.State == plugin.NeedsApproval ||
				(len(a.only) > 0 && !slices.Contains(a.only, s.ID)) {
				continue
			}
			yes, err := false, error(nil)
			if always {
				yes, err = a.named(ctx, s)
			} else {
				yes, err = a.asked(ctx, s)
			}
			if err != nil {
				return err
			}
			approved = approved || yes
		}
		if !approved {
			return nil
		}
		if err := a.loaded(ctx); err != nil {
			return err
		}
		all = a.app.Host.List()
	}
	return nil
}

// loaded waits until the plugins that the command needs are not loading.
func (a *approval) loaded(ctx context.Context) error {
	if a.chat {
		return a.app.Host.WaitOffered(ctx)
	}
	return a.app.Host.WaitLoaded(ctx, a.only...)
}

// manyNew is the number of new plugins from which on a chat does not ask about each of them.
const manyNew = 9

// waits reports whether a person must approve a plugin before its tools are offered.
func waits(s plugin.Status) bool {
	return (s.State == plugin.NeedsApproval || s.State == plugin.Quarantined) && s.Problem == nil
}

func (a *approval) asked(ctx context.Context, s plugin.Status) (yes bool, err error) {
	status, err := a.app.Host.Approvals.Ask(ctx, s.ID, a.asker)
	if err != nil && !errors.Is(err, host.ErrNotWaiting) {
		return false, err
	}
	return status == gate.Approved, nil
}

// named approves a plugin for this run if the command names it, and prints what was approved.
func (a *approval) named(ctx context.Context, s plugin.Status) (yes bool, err error) {
	if !slices.ContainsFunc(a.names, func(name string) bool { return namesPlugin(a.app, name, s) }) || !a.speaksFor(s) {
		return false, nil
	}
	end, err := a.app.Host.Approvals.ApproveForRun(ctx, s.ID, s.Shown)
	if fault.KindOf(err) == fault.Conflict {
		return false, nil // another version waits by now
	}
	if err != nil {
		return false, err
	}
	a.ends = append(a.ends, end)
	before, known := a.approved[s.ID]
	if !known {
		before.permissions = s.Manifest.Permissions
	}
	if s.Listed && len(s.Changes) > 0 {
		fmt.Fprintf(a.err, "Approved for this run, because of --approve always: %s, which runs now and lists:\n", s.ID)
		for _, change := range s.Changes {
			fmt.Fprint(a.err, indented(cmp.Or(change.Tool, change.Field)+": "+change.After))
		}
	} else {
		fmt.Fprintf(a.err, "Approved for this run, because of --approve always: %s (%s), which asks for %s.\n", s.ID,
			s.Path, asksFor(s))
	}
	before.code = s.Digest
	a.approved[s.ID] = before
	return true, nil
}

// speaksFor reports whether --approve always covers the version of a plugin that waits: the files
// that existed when the command began, or in a command that follows changes, files that ask for no
// more permissions; and their first list of tools, unless reading the files showed another one.
func (a *approval) speaksFor(s plugin.Status) bool {
	before, known := a.approved[s.ID]
	switch {
	case s.Listed && len(s.Changes) > 0:
		return gate.Expected(s.Changes)
	case !known || before.code == s.Digest:
		return true
	}
	return a.follows && !slices.ContainsFunc(s.Manifest.Permissions,
		func(p string) bool { return !slices.Contains(before.permissions, p) })
}

// asksFor names the permissions that a plugin asks for.
func asksFor(s plugin.Status) string {
	if len(s.Manifest.Permissions) == 0 {
		return "no permissions"
	}
	return "the permissions " + strings.Join(s.Manifest.Permissions, ", ")
}

// namesPlugin reports whether name is the plugin s: its id, the full name of one of its tools or
// toolboxes, or a bare name that no other plugin has.
func namesPlugin(app *App, name string, s plugin.Status) bool {
	if isBox(name) {
		name, _, _ = strings.Cut(name, "(")
		return hasBox(s, strings.TrimSpace(name))
	}
	if id, err := app.Host.Find(name); err == nil {
		return id == s.ID
	}
	if id, _, whole := strings.Cut(name, ":"); whole {
		return id == s.ID
	}
	row, err := findRow(app, name)
	return err == nil && row.Plugin == s.ID && (row.Name == name || row.WireName == name)
}

// pluginTrustCommands approve plugins, grant them permissions and take these back.
type pluginTrustCommands struct{ pluginCommands }

// trustOptions are the flags of `plugins trust`.
type trustOptions struct {
	yes, developing, tools, keepWords bool
	shown                             string
}

func (c pluginTrustCommands) trustCommand() *cobra.Command {
	var o trustOptions
	cmd := c.withPlugins("trust ID", "Show everything a plugin asks for, and approve it", exactly("the id of a plugin"),
		func(ctx context.Context, app *App, args []string) error { return c.trust(ctx, app, args[0], o) })
	cmd.Long = "Show everything a plugin asks for, and approve it. On a terminal it asks first; elsewhere the\n" +
		"command itself approves what it shows. It approves nothing else: tools that the plugin lists only\n" +
		"once it runs need another approval, unless --tools is given, and so do files that are saved in the\n" +
		"meantime."
	cmd.Flags().BoolVar(&o.developing, "developing", false,
		"I develop it: my own edits need no new approval unless they ask for more")
	cmd.Flags().BoolVar(&o.tools, "tools", false,
		"also approve the tools that it lists when it starts, unless something about them is odd")
	cmd.Flags().BoolVar(&o.keepWords, "keep-words", false,
		"where only the descriptions changed, keep those that I approved for models, until I approve others")
	cmd.Flags().BoolVar(&o.yes, "yes", false, "do not ask, also on a terminal")
	cmd.Flags().StringVar(&o.shown, "shown", "",
		"approve only the version with this digest: \"shown\" in conclave plugins show ID --json")
	return cmd
}

// trust shows the version of a plugin that waits, and approves it. On a terminal it asks first,
// and goes on with what waits then; elsewhere the command itself is the yes.
func (c pluginTrustCommands) trust(ctx context.Context, app *App, name string, o trustOptions) error {
	s, err := findPlugin(app, name)
	if err != nil {
		return err
	}
	if o.shown != "" && o.shown != s.Shown {
		return fault.New(fault.Conflict, "cli.trust", "The plugin "+s.ID+" does not have this digest.",
			"Look at it again: conclave plugins show "+s.ID)
	}
	if s, err = c.words(ctx, app, s, o); err != nil {
		return err
	}
	asks := c.Terminal && !o.yes && !c.json
	var approved []waitingRow
	for again := true; again; again = asks && waits(s) {
		if err := c.showForTrust(ctx, app, s, asks); err != nil {
			return err
		}
		if s.Shown == "" {
			break
		}
		with := gate.ApproveOptions{Developing: o.developing, Tools: o.tools}
		if err := app.Host.Approvals.Approve(ctx, s.ID, s.Shown, with); err != nil {
			return err
		}
		approved = append(approved, newWaitingRow(s))
		if s, err = app.Host.Status(s.ID); err != nil {
			return err
		}
	}
	if o.developing && s.State == plugin.Ready && len(approved) == 0 {
		if err := app.Host.Approvals.SetDeveloping(ctx, s.ID, true); err != nil {
			return err
		}
	}
	return c.printTrusted(ctx, app, s, approved)
}

// words keeps the words that were approved, or where these are kept and nothing waits, has the plugin's own wait.
func (c pluginTrustCommands) words(ctx context.Context, app *App, s plugin.Status, o trustOptions,
) (plugin.Status, error) {
	switch {
	case o.keepWords && s.OnlyWords:
		if err := app.Host.Approvals.KeepOld(ctx, s.ID, s.Shown); err != nil {
			return s, err
		}
	case o.keepWords && !s.KeepWords:
		return s, fault.New(fault.Conflict, "cli.trust",
			"More than the descriptions of "+s.ID+" changed, or nothing did.",
			"Look at it again: conclave plugins show "+s.ID)
	case !o.keepWords && s.KeepWords && s.Shown == "":
		if err := app.Host.Settings.SetKeepWords(ctx, s.ID, false); err != nil {
			return s, err
		}
	default:
		return s, nil
	}
	return app.Host.Status(s.ID)
}

// showForTrust shows a plugin, and where asks is set, asks whether it is approved. The kind is
// not_allowed where it is not.
func (c pluginTrustCommands) showForTrust(ctx context.Context, app *App, s plugin.Status, asks bool) error {
	if c.json {
		return nil
	}
	c.describe(app, s)
	if !asks {
		fmt.Fprintln(c.Out)
		return nil
	}
	yes, err := c.person.confirm(ctx, "Approve "+s.ID+" as it is shown here?")
	if err == nil && !yes {
		err = fault.New(fault.NotAllowed, "cli.trust", "The plugin "+s.ID+" was not approved.", "Nothing was changed.")
	}
	return err
}

// waitingRow holds everything that a person approves when a plugin waits.
type waitingRow struct {
	Shown       string           `json:"shown"`
	Permissions []string         `json:"permissions"`
	Tools       []gate.ShownTool `json:"tools"`
	Changes     []gate.Change    `json:"changes"`
}

// trustedRow is `plugins trust --json`: the plugin, what was approved, and what needs another
// approval.
type trustedRow struct {
	view.Plugin
	Approved []waitingRow `json:"approved"`
	Waits    *waitingRow  `json:"waits"`
}

func newWaitingRow(s plugin.Status) waitingRow {
	row := waitingRow{
		s.Shown, view.List(s.Manifest.Permissions), []gate.ShownTool{}, view.List(s.Changes),
	}
	for _, t := range s.Tools {
		row.Tools = append(row.Tools, gate.ShownTool{Name: t.Name, Description: gate.ToolText(t)})
	}
	return row
}

// printTrusted prints the state of a plugin after it was approved, and what needs another approval.
func (c pluginTrustCommands) printTrusted(ctx context.Context, app *App, s plugin.Status, approved []waitingRow) error {
	if !c.json {
		if waits(s) && len(approved) > 0 {
			fmt.Fprintln(c.Out, c.said("Approved as shown above. These changes were not shown, and need another approval:"))
			printChanges(c.Out, s.Changes)
			fmt.Fprintln(c.Out)
		}
		return c.printAfter(ctx, app, s.ID)
	}
	row := trustedRow{app.plugin(s), view.List(approved), nil}
	if waits(s) {
		waiting := newWaitingRow(s)
		row.Waits = &waiting
	}
	if err := c.printJSON(row); err != nil || s.State != plugin.Failed {
		return err
	}
	return didNotLoad(s)
}
