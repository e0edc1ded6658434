package terminal

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"conclave/app/base/fault"
	"conclave/app/base/limit"
	"conclave/app/plugin"

	"github.com/spf13/cobra"
)

// pluginCommands list, show, make, add and switch plugins, and follow what they do.
type pluginCommands struct{ *terminal }

func (c pluginCommands) group() *cobra.Command {
	trust, setup, test := pluginTrustCommands{c}, pluginSetupCommands{c}, pluginTestCommands(c)
	one := exactly("the id of a plugin")
	return group("plugins", "List, make, add and watch plugins",
		c.withPlugins("list", "List the plugins", noArguments, c.list),
		c.withPlugins("show ID", "Show what a plugin is, asks for and offers", one, c.show),
		c.newCommand(), c.addCommand(), c.updateCommand(),
		c.withPlugins("remove ID", "Move a plugin out of the plugins folder", one, c.remove),
		c.withPlugins("enable ID", "Switch a plugin on", one, c.enable(true)),
		c.withPlugins("disable ID", "Switch a plugin off", one, c.enable(false)),
		c.requireCommand(),
		c.withPlugins("reload ID", "Reload a plugin", one, c.changing(reload)),
		trust.trustCommand(), trust.grantCommand(), trust.revokeCommand(), setup.secretCommand(),
		setup.settingsCommand(), setup.parallelCommand(),
		setup.packagesCommand(), c.logsCommand(), test.checkCommand(), test.testCommand(), c.watchCommand(),
	)
}

// needed returns the plugin that a command's first argument names, where the usage calls that ID or
// TOOL; none where it is something else, or a tool without its plugin.
func needed(use string, args []string) []string {
	words := strings.Fields(use)
	if len(words) < 2 || len(args) == 0 {
		return nil
	}
	switch words[1] {
	case "ID":
		return args[:1]
	case "TOOL":
		return pluginOf(args[0])
	}
	return nil
}

// pluginOf returns the plugin of a tool that is named "plugin:name".
func pluginOf(name string) []string {
	if id, _, whole := strings.Cut(name, ":"); whole {
		return []string{id}
	}
	return nil
}

func findPlugin(app *App, name string) (plugin.Status, error) {
	id, err := app.Host.Find(name)
	if err != nil {
		return plugin.Status{}, err
	}
	return app.Host.Status(id)
}

// changing returns the action of a command that changes the plugin its first argument names, and prints
// it as it is afterwards. args are the other arguments.
func (c pluginCommands) changing(change func(ctx context.Context, app *App, id string, args []string) error) action {
	return func(ctx context.Context, app *App, args []string) error {
		s, err := findPlugin(app, args[0])
		if err != nil {
			return err
		}
		if err := change(ctx, app, s.ID, args[1:]); err != nil {
			return err
		}
		return c.printAfter(ctx, app, s.ID)
	}
}

func (c pluginCommands) enable(on bool) action {
	return c.changing(func(ctx context.Context, app *App, id string, _ []string) error {
		return app.Host.SetEnabled(ctx, id, on)
	})
}

func reload(_ context.Context, app *App, id string, _ []string) error { return app.Host.Reload(id) }

// loaded waits until a plugin has loaded, or failed to, and returns its state.
func loaded(ctx context.Context, app *App, id string) (plugin.Status, error) {
	if err := app.Host.WaitLoaded(ctx, id); err != nil {
		return plugin.Status{}, err
	}
	return app.Host.Status(id)
}

// printAfter waits until the plugin has loaded and prints its state; a plugin that failed exits 1.
func (c pluginCommands) printAfter(ctx context.Context, app *App, id string) error {
	s, err := loaded(ctx, app, id)
	if err != nil {
		return err
	}
	if c.json {
		if err := c.printJSON(app.plugin(s)); err != nil {
			return err
		}
	} else {
		_, err := fmt.Fprintln(c.Out, c.said(fmt.Sprintf("%s is %s, with %s.", s.ID, s.State, countOf(len(s.Tools), "tool"))))
		if err != nil {
			return err
		}
		if why := whyNoTools(s); why != "" && !s.ToolsDenied {
			fmt.Fprintln(c.Err, c.said(why))
		}
	}
	if s.ToolsDenied {
		f := fault.Of(notServing(s))
		fmt.Fprintln(c.Err, next(c.said(f.Message), c.toType(c.said(f.Hint))))
	}
	switch {
	case (s.State == plugin.Quarantined || s.State == plugin.NeedsApproval) && !c.json:
		for _, sentence := range app.Gate.Approvals.Shadowing(s.ID) {
			fmt.Fprintln(c.Err, oneLine(c.said(sentence)))
		}
		return c.say(c.Err,
			"It waits for your approval. See what it asks for, and approve it: conclave plugins trust %s", s.ID)
	case s.State == plugin.NeedsPackages && s.Problem != nil:
		fmt.Fprintln(c.Err, next(oneLine(c.said(s.Problem.Message)), firstLine(c.toType(c.said(s.Problem.Hint)))))
	case s.State == plugin.Failed:
		return didNotLoad(s)
	}
	return nil
}

// didNotLoad is the error of a command whose plugin failed to load.
func didNotLoad(s plugin.Status) error {
	return fault.New(fault.Invalid, "cli.plugins", "The plugin "+s.ID+" did not load: "+sentence(s.Problem.Error()),
		s.Problem.Hint)
}

// countOf is "1 tool", "2 tools", "no tools".
func countOf(n int, what string) string {
	if n == 0 {
		return "no " + what + "s"
	}
	return limit.Counted(n, what)
}

// newPlugins returns those of all plugins that were neither approved nor refused.
func newPlugins(app *App, all []plugin.Status) []plugin.Status {
	return slices.DeleteFunc(slices.Clone(all), func(s plugin.Status) bool {
		isNew := s.State == plugin.NeedsApproval || s.State == plugin.Loading && !app.Gate.Approvals.Decided(s.ID)
		return s.Problem != nil || !isNew
	})
}

// printWaiting prints which plugins wait for approval: the only one by itself, several by their
// number. one is the sentence about the consequence for one plugin, many for several.
func (t *terminal) printWaiting(app *App, one, many string) {
	all := app.Host.List()
	changed := slices.DeleteFunc(slices.Clone(all), func(s plugin.Status) bool {
		return s.Problem != nil || s.State != plugin.Quarantined || s.Serving
	})
	for _, group := range []struct {
		what    string
		waiting []plugin.Status
	}{
		{"changed since they were approved and are paused", changed},
		{"are new and have not been approved", newPlugins(app, all)},
	} {
		switch len(group.waiting) {
		case 0:
		case 1:
			f := fault.Of(notServing(group.waiting[0]))
			fmt.Fprintln(t.Err, next(next(t.said(f.Message), t.said(one)), t.toType(t.said(f.Hint))))
		default:
			_ = t.say(t.Err, "%d plugins %s: %s. %s See them with conclave plugins list, and approve one with "+
				"conclave plugins trust ID.", len(group.waiting), group.what, firstNames(group.waiting), many)
		}
	}
}

// firstNames lists the ids of the first few plugins.
func firstNames(all []plugin.Status) string {
	const few = 3
	var names []string
	for _, s := range all[:min(few, len(all))] {
		names = append(names, s.ID)
	}
	if more := len(all) - few; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), more)
	}
	return strings.Join(names, ", ")
}
