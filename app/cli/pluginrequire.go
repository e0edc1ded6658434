package cli

import (
	"slices"

	"conclave/app/fault"
	"conclave/app/settings"

	"github.com/spf13/cobra"
)

func (c pluginCommands) requireCommand() *cobra.Command {
	var off bool
	cmd := &cobra.Command{
		Use: "require ID", Short: "Write no answer without the hooks of a plugin", Args: exactly("the id of a plugin"),
		Long: "Write no answer without the hooks of a plugin. Where it is missing, broken, switched off\nor not " +
			"approved, or fails when it is asked, nothing is sent to the model and the answer\nends with the reason. " +
			"A plugin that is gone can be named too, with --off.",
		RunE: func(cmd *cobra.Command, args []string) error {
			id := args[0]
			app, err := c.app(cmd.Context(), Folders{NeedsPlugins: true, WaitFor: []string{id}})
			if err != nil {
				return err
			}
			defer app.Close()
			if !off {
				if id, err = app.Host.Find(id); err != nil {
					return err
				}
			}
			found := false
			if _, err := app.Settings.ChangeSettings(cmd.Context(), func(s *settings.Settings) {
				found = slices.Contains(s.RequiredHooks, id)
				s.RequiredHooks = slices.DeleteFunc(slices.Clone(s.RequiredHooks), func(one string) bool { return one == id })
				if !off {
					s.RequiredHooks = append(s.RequiredHooks, id)
				}
			}); err != nil {
				return err
			}
			if off && !found {
				return fault.New(fault.NotFound, "cli.require", "The plugin "+id+" is not required.", "")
			}
			sentence := "No answer is written without the hooks of " + id + "."
			if off {
				sentence = "Answers are written with or without the hooks of " + id + "."
			}
			return c.result(map[string]any{"plugin": id, "required": !off}, "%s", sentence)
		},
	}
	cmd.Flags().BoolVar(&off, "off", false, "write answers without it again")
	return cmd
}
