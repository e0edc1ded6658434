package cli

import (
	"fmt"
	"slices"

	"conclave/app/chat"

	"github.com/spf13/cobra"
)

func (c activityCommands) logsCommand() *cobra.Command {
	var f chat.CallFilter
	var conversation string
	cmd := &cobra.Command{Use: "logs", Short: "Show the record of tool calls", Args: noArguments}
	cmd.Flags().IntVarP(&f.Limit, "lines", "n", 0, "only the newest N")
	cmd.Flags().StringVar(&f.Tool, "tool", "", "only calls of this tool")
	cmd.Flags().StringVar(&conversation, "conversation", "", "only calls of this chat")
	cmd.Flags().BoolVar(&f.Errors, "errors", false, "only calls that did not end well")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		app, err := c.app(cmd.Context(), Folders{})
		if err != nil {
			return err
		}
		defer app.Close()
		f.Conversation = chat.ConversationID(conversation)
		records, err := app.Chats.Calls(cmd.Context(), f)
		if err != nil {
			return err
		}
		slices.Reverse(records)
		if c.json {
			return c.printJSON(records)
		}
		table := newTable("TIME", "TOOL", "STATUS", "MS", "ARGUMENTS")
		for _, r := range records {
			name := r.ToolID
			if name == "" {
				name = r.ToolName
			}
			table.add(r.Timestamp.Local().Format("2006-01-02 15:04:05"), name, string(r.Status), fmt.Sprintf("%.1f", r.MS),
				oneLine(string(r.Arguments)))
		}
		return table.print(c.terminal, "No tool call is on record.")
	}
	return cmd
}
