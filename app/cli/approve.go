package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"conclave/app/fault"
	"conclave/app/permit"
	"conclave/app/plugin"
	"conclave/app/plugin/host"
	"conclave/app/tool"

	"github.com/spf13/cobra"
)

// approval puts plugins that wait before whoever answers for a command. With
// --approve always, those that the command names are approved for as long as it
// runs, and no others.
type approval struct {
	c     *command
	app   *App
	asker permit.Asker
	names []string // what the command names: tools, plugins, toolboxes
	only  []string // ids of the plugins it needs; none: all
	said  []string // ids of plugins that were said to be approved
	ends  []func()
}

// end takes back what was approved for the command alone.
func (a *approval) end() {
	for _, end := range a.ends {
		end()
	}
	a.ends = nil
}

// plugins puts each plugin that waits before the asker, and waits until those that
// were approved have loaded.
func (a *approval) plugins(ctx context.Context) error {
	if err := a.app.Host.WaitLoaded(ctx, a.only...); err != nil {
		return err
	}
	_, always := a.asker.(permit.AlwaysAsker)
	// A version may wait twice: before it runs, and once its tools are known.
	for range 3 {
		approved := false
		for _, s := range a.app.Host.List() {
			if !waits(s) || (len(a.only) > 0 && !slices.Contains(a.only, s.ID)) {
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
		if err := a.app.Host.WaitLoaded(ctx, a.only...); err != nil {
			return err
		}
	}
	return nil
}

// waits reports whether a person has to look at a plugin before its tools are
// offered.
func waits(s plugin.Status) bool {
	return (s.State == plugin.NeedsApproval || s.State == plugin.Quarantined) && s.Problem == nil
}

func (a *approval) asked(ctx context.Context, s plugin.Status) (yes bool, err error) {
	status, err := a.app.Host.AskApproval(ctx, s.ID, a.asker)
	if err != nil && !errors.Is(err, host.ErrNotWaiting) {
		return false, err
	}
	return status == permit.Approved, nil
}

// named approves a plugin for this run if the command names it, after saying what
// it asks for.
func (a *approval) named(ctx context.Context, s plugin.Status) (yes bool, err error) {
	if !slices.ContainsFunc(a.names, func(name string) bool { return namesPlugin(a.app, name, s) }) {
		return false, nil
	}
	if !slices.Contains(a.said, s.ID) {
		a.said = append(a.said, s.ID)
		fmt.Fprintf(a.c.Err, "Approved for this run, because of --approve always: %s (%s), which asks for %s.\n", s.ID,
			s.Path, asksFor(s))
	}
	end, err := a.app.Host.ApproveForRun(ctx, s.ID)
	if err != nil {
		return false, err
	}
	a.ends = append(a.ends, end)
	return true, nil
}

// asksFor says in words which permissions a plugin asks for.
func asksFor(s plugin.Status) string {
	if len(s.Manifest.Permissions) == 0 {
		return "no permissions"
	}
	return "the permissions " + strings.Join(s.Manifest.Permissions, ", ")
}

// namesPlugin reports whether name means the plugin s: its id, one of its tools by
// its whole name, or by a bare name that no other plugin has.
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

func (c *command) pluginsTrustCommand() *cobra.Command {
	var yes, developing bool
	cmd := c.simple("trust ID", "Show everything a plugin asks for, and approve it", exactly("the id of a plugin"),
		func(ctx context.Context, app *App, args []string) error {
			return c.trustPlugin(ctx, app, args[0], yes, developing)
		})
	cmd.Flags().BoolVar(&developing, "developing", false,
		"I edit it: my own edits need no second yes while they widen nothing")
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask, also on a terminal")
	return cmd
}

// trustPlugin shows a plugin and approves it. On a terminal it asks first;
// elsewhere the command is the yes.
func (c *command) trustPlugin(ctx context.Context, app *App, name string, yes, developing bool) error {
	s, err := findPlugin(app, name)
	if err != nil {
		return err
	}
	asks := c.Terminal && !yes && !c.json
	if !asks {
		if !c.json {
			c.describePlugin(app, s)
			fmt.Fprintln(c.Out)
		}
		if err := c.trustAs(ctx, app, s, developing); err != nil {
			return err
		}
		if err := c.printFirstListed(ctx, app, s); err != nil {
			return err
		}
		return c.printAfter(ctx, app, s.ID)
	}
	// What it lists once it runs is shown, and asked about, in its turn.
	for first := true; first || waits(s); first = false {
		c.describePlugin(app, s)
		ok, err := c.confirm(ctx, "Approve "+s.ID+" as it is shown here?")
		if err != nil {
			return err
		}
		if !ok {
			return fault.New(fault.NotAllowed, "cli.trust", "The plugin "+s.ID+" was not approved.",
				"Nothing of it was changed.")
		}
		if !waits(s) {
			if err := c.trustAs(ctx, app, s, developing); err != nil {
				return err
			}
			break
		}
		say := fixedAnswer{permit.Answer{Effect: permit.Allow, Scope: permit.Always, Developing: developing}}
		if _, err := app.Host.AskApproval(ctx, s.ID, say); err != nil && !errors.Is(err, host.ErrNotWaiting) {
			return err
		}
		if err := app.Host.WaitLoaded(ctx, s.ID); err != nil {
			return err
		}
		if s, err = app.Host.Status(s.ID); err != nil {
			return err
		}
	}
	return c.printAfter(ctx, app, s.ID)
}

// printFirstListed shows the tools that a plugin lists now and did not show before
// it was approved.
func (c *command) printFirstListed(ctx context.Context, app *App, before plugin.Status) error {
	if err := app.Host.WaitLoaded(ctx, before.ID); err != nil {
		return err
	}
	now, err := app.Host.Status(before.ID)
	if err != nil || c.json {
		return err
	}
	for _, t := range now.Tools {
		if !slices.ContainsFunc(before.Tools,
			func(x tool.Tool) bool { return x.Name == t.Name && x.Description == t.Description }) {
			fmt.Fprintf(c.Out, "offers       %-28s %s\n", t.Name, firstLine(t.Description))
			fmt.Fprint(c.Out, indented(indented(restOf(permit.ToolText(t)))))
		}
	}
	return nil
}

// trustAs approves a plugin as it lies there; of one that serves already, it says
// whether its person edits it.
func (c *command) trustAs(ctx context.Context, app *App, s plugin.Status, developing bool) error {
	if developing && s.State == plugin.Ready {
		return app.Host.SetDeveloping(ctx, s.ID, true)
	}
	return app.Host.Approve(ctx, s.ID, developing)
}

// fixedAnswer answers with what the person has just said.
type fixedAnswer struct{ answer permit.Answer }

// Ask implements permit.Asker.
func (a fixedAnswer) Ask(context.Context, permit.Request) (permit.Answer, error) {
	return a.answer, nil
}
