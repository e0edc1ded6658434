package terminal

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"conclave/app/chat"

	"github.com/spf13/cobra"
)

func (c activityCommands) logsCommand() *cobra.Command {
	var f chat.CallFilter
	var conversation string
	cmd := c.withStore("logs", "Show the record of tool calls", noArguments,
		func(ctx context.Context, app *App, _ []string) error {
			f.Conversation = chat.ConversationID(conversation)
			records, err := app.Chats.Calls(ctx, f)
			if err != nil {
				return err
			}
			slices.Reverse(records)
			table := newTable("TIME", "TOOL", "STATUS", "MS", "ARGUMENTS")
			for _, r := range records {
				table.add(r.Timestamp.Local().Format("2006-01-02 15:04:05"), cmp.Or(r.ToolID, r.ToolName),
					string(r.Status),
					fmt.Sprintf("%.1f", r.MS), oneLine(string(r.Arguments)))
			}
			return c.printTable(records, table, "No tool calls are recorded.")
		})
	cmd.Flags().IntVarP(&f.Limit, "lines", "n", 0, "only the newest N")
	cmd.Flags().StringVar(&f.Tool, "tool", "", "only calls of this tool")
	cmd.Flags().StringVar(&conversation, "conversation", "", "only calls of this chat")
	cmd.Flags().BoolVar(&f.Errors, "errors", false, "only calls that failed")
	return cmd
}
