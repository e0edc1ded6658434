package terminal

import (
	"context"
	"slices"

	"conclave/app/base/fault"
	"conclave/app/base/settings"

	"github.com/spf13/cobra"
)

func (c pluginCommands) requireCommand() *cobra.Command {
	var off bool
	cmd := c.withPlugins("require ID", "Write no answer without the hooks of a plugin", exactly("the id of a plugin"),
		func(ctx context.Context, app *App, args []string) error { return c.require(ctx, app, args[0], !off) })
	cmd.Long = "Write no answer without the hooks of a plugin. If it is missing, broken, switched off or not\n" +
		"approved, or if its hook fails, nothing is sent to the model and the answer ends with the\n" +
		"reason. With --off, a plugin that no longer exists can be named, too."
	cmd.Flags().BoolVar(&off, "off", false, "write answers without it again")
	return cmd
}

// require sets whether answers need the hooks of a plugin.
func (c pluginCommands) require(ctx context.Context, app *App, id string, on bool) error {
	if on {
		found, err := app.Host.Find(id)
		if err != nil {
			return err
		}
		id = found
	}
	found := false
	if _, err := app.Settings.ChangeSettings(ctx, func(s *settings.Settings) {
		found = slices.Contains(s.RequiredHooks, id)
		s.RequiredHooks = slices.DeleteFunc(slices.Clone(s.RequiredHooks), func(one string) bool { return one == id })
		if on {
			s.RequiredHooks = append(s.RequiredHooks, id)
		}
	}); err != nil {
		return err
	}
	if !on && !found {
		return fault.New(fault.NotFound, "cli.require", "The plugin "+id+" is not required.", "")
	}
	sentence := "No answer is written without the hooks of %s."
	if !on {
		sentence = "Answers are written with or without the hooks of %s."
	}
	return c.result(map[string]any{"plugin": id, "required": on}, sentence, id)
}
